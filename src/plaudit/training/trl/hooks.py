"""What several processes of TRL share: the work of sampling and scoring, and the reward that TRL's trainer calls.

Every process must make every call here, with the same arguments where the docstring requires it; otherwise the others
wait forever.
"""

import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from accelerate import PartialState
from accelerate.utils import gather_object

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.training.collecting import Batch, Scoring
from plaudit.training.config.schema import RunConfig, SamplingSettings
from plaudit.training.config.trl_arguments import optimizer_steps
from plaudit.training.data.prompts import Prompts
from plaudit.training.model.policy import Policy
from plaudit.training.sampling.encoding import decode_responses, find_end_ids
from plaudit.training.sampling.sampler import Response, Sampler, Samples, derive_seed, fill_row
from plaudit.trajectory import Tokens, Trajectory

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ranks:
    """The processes of a run, as one of them sees it."""

    index: int
    count: int

    @classmethod
    def join(cls, *, cpu: bool) -> "Ranks":
        """Join the processes that torchrun or accelerate started; alone, one process."""
        state: Any = PartialState(cpu=cpu)
        return cls(state.process_index, state.num_processes)

    def on_this_machine(self) -> int:
        """The number of processes of the run on this machine."""
        return self.gather([platform.node()]).count(platform.node())

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files."""
        return self.index == 0

    def gather(self, items: Sequence[T]) -> list[T]:
        """The items of all processes, in the order of the processes."""
        return list(gather_object(list(items))) if self.count > 1 else list(items)

    def wait(self) -> None:
        """Wait until every process has come here."""
        PartialState().wait_for_everyone()

    def leave(self) -> None:
        """Close the connection to the other processes."""
        PartialState().destroy_process_group()


@dataclass(frozen=True, slots=True)
class SharedScorer:
    """Scores the same trajectories as a scorer would, each process some whole groups of them."""

    scorer: Scoring
    ranks: Ranks

    def score(self, trajectories: Iterable[Trajectory]) -> list[RewardOutput]:
        """One output per trajectory, in order; every process gives the same trajectories."""
        listed = list(trajectories)
        number = {key: index for index, key in enumerate(dict.fromkeys(each.group_key for each in listed))}
        local_indices = [
            index for index, each in enumerate(listed) if number[each.group_key] % self.ranks.count == self.ranks.index
        ]
        outputs = self.scorer.score([listed[index] for index in local_indices])
        gathered = dict(self.ranks.gather(list(zip(local_indices, outputs, strict=True))))
        return [gathered[index] for index in range(len(listed))]

    def close(self) -> None:
        """End this process's workers."""
        self.scorer.close()


@dataclass(frozen=True, slots=True)
class SharedSampler(Sampler):
    """Samples as a sampler would, each process for some of the prompts."""

    sampler: Sampler
    ranks: Ranks
    settings: SamplingSettings

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """The samples of all processes in the order of the prompts; every process gives the same prompts."""
        indices = list(range(self.ranks.index, len(prompts), self.ranks.count))
        if self.ranks.index and settings.seed is not None:
            settings = msgspec.structs.replace(settings, seed=derive_seed(settings.seed, self.ranks.index))
        # a process without prompts samples too: sharded weights need every process in every pass
        drawn = self.sampler.sample(prompts.pick(indices or [0]), num_samples, settings=settings).trajectories
        groups = [(index, drawn[start : start + num_samples]) for index, start in _starts(indices, num_samples)]
        gathered = dict(self.ranks.gather(groups))
        return Samples([each for index in range(len(prompts)) for each in gathered[index]])


def _starts(indices: Sequence[int], size: int) -> list[tuple[int, int]]:
    return [(index, turn * size) for turn, index in enumerate(indices)]


@dataclass(frozen=True, slots=True)
class _Response:
    """One response of TRL, with the index of its prompt and the process that drew it."""

    row: int
    response: Response
    rank: int


class TRLReward:
    """A reward function for GRPOTrainer; `batch` is what it scored last."""

    __name__ = "plaudit"

    def __init__(self, config: RunConfig, prompts: Prompts, policy: Policy, scorer: SharedScorer, ranks: Ranks) -> None:
        self.batch: Batch | None = None
        self.began = self.ended = 0.0
        """Times of `time.perf_counter` at which scoring of the last batch began and ended."""
        self.prompts = prompts
        self._config, self._scorer, self._ranks = config, scorer, ranks
        self._tokenizer = policy.tokenizer
        self._ends = set(find_end_ids(policy.model, policy.tokenizer))

    def __call__(
        self, *, completion_ids: Sequence[Any], row: Sequence[int], trainer_state: Any, **_: Any
    ) -> list[float | None]:
        """One reward per response of this process."""
        self.began = time.perf_counter()
        step = trainer_state.global_step // optimizer_steps(self._config) + 1
        responses = self._responses(row, completion_ids)
        trajectories = self._trajectories(self._ranks.gather(responses), step)
        outputs = self._scorer.score(trajectories)
        self._check_token_rewards(outputs)
        self.ended = time.perf_counter()
        self.batch = self._batch(step, trajectories, outputs)
        first = self._ranks.index * len(responses)
        return [output.reward for output in outputs[first : first + len(responses)]]

    def _responses(self, rows: Sequence[int], completion_ids: Sequence[Any]) -> list[_Response]:
        ids = [[int(token) for token in each] for each in completion_ids]
        responses = [
            Response(text, Tokens(ids=sampled, mask=[1] * len(sampled)), self._finish_reason(sampled))
            for sampled, text in zip(ids, decode_responses(self._tokenizer, ids), strict=True)
        ]
        return [_Response(int(row), each, self._ranks.index) for row, each in zip(rows, responses, strict=True)]

    def _finish_reason(self, ids: Sequence[int]) -> str:
        return "stop" if ids and ids[-1] in self._ends else "length"

    def _trajectories(self, responses: Sequence[_Response], step: int) -> list[Trajectory]:
        """The whole batch; the samples of a prompt are consecutive, as TRL assumes."""
        size, several = self._config.sampling.samples_per_prompt, self._ranks.count > 1
        trajectories = []
        for index, each in enumerate(responses):
            filled = fill_row(self.prompts[each.row], each.response, index)
            metadata = {**filled.metadata, "rank": each.rank} if several else filled.metadata
            group = f"{step}-{index // size}"
            trajectories.append(msgspec.structs.replace(filled, group=group, training_step=step, metadata=metadata))
        return trajectories

    def _check_token_rewards(self, outputs: Sequence[RewardOutput]) -> None:
        if self._config.training.credit == "tokens" and any(output.token_rewards is not None for output in outputs):
            raise TrainingError(
                "the reward gives rewards per token, and engine=trl trains on one per response; "
                "set training.credit=outcome, or take engine=local"
            )

    def _batch(self, step: int, trajectories: list[Trajectory], outputs: list[RewardOutput]) -> Batch:
        position = step * self._config.sampling.prompts_per_step
        return Batch(
            step=step,
            sampled=Samples(trajectories),
            outputs=outputs,
            left_out=[],
            reasons={},
            position=position,
            epoch=position / len(self.prompts),
            staleness=0,
            sample_s=0.0,
            reward_s=self.ended - self.began,
        )
