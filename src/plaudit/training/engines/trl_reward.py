"""The reward as TRL calls it: one number per response, None for what was not scored.

TRL gives each process its slice of a batch, which may cut a group in two. Here the slices are put together first, so
that a group reward sees whole groups, and every process knows the whole batch.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.training.batches.collecting import Batch
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.engines.trl_arguments import optimizer_steps
from plaudit.training.engines.trl_ranks import Ranks, SharedScorer
from plaudit.training.model.encoding import decode_responses, find_end_ids
from plaudit.training.model.policy import Policy
from plaudit.training.sampling.sampler import Samples
from plaudit.trajectory import Tokens, Trajectory

__all__ = ["TRLReward"]


@dataclass(frozen=True, slots=True)
class _Response:
    """One response as TRL tells of it: which prompt it answers, its tokens, its text."""

    row: int
    ids: list[int]
    text: str
    ended: bool
    rank: int


class TRLReward:
    """A reward function for GRPOTrainer; `batch` is what it scored last."""

    __name__ = "plaudit"

    def __init__(self, config: RunConfig, prompts: Prompts, policy: Policy, scorer: SharedScorer, ranks: Ranks) -> None:
        self.batch: Batch | None = None
        self.began = self.ended = 0.0
        """When the last batch was given here, and when it was scored, on the clock of `time.perf_counter`."""
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
        own = self._responses(row, completion_ids)
        trajectories = self._trajectories(self._ranks.gather(own), step)
        outputs = self._scorer.score(trajectories)
        self._check_token_rewards(outputs)
        self.ended = time.perf_counter()
        self.batch = self._batch(step, trajectories, outputs)
        first = self._ranks.own * len(own)
        return [output.reward for output in outputs[first : first + len(own)]]

    def _responses(self, rows: Sequence[int], completion_ids: Sequence[Any]) -> list[_Response]:
        ids = [[int(token) for token in each] for each in completion_ids]
        texts = decode_responses(self._tokenizer, ids)
        return [
            _Response(int(row), own, text, bool(own) and own[-1] in self._ends, self._ranks.own)
            for row, own, text in zip(rows, ids, texts, strict=True)
        ]

    def _trajectories(self, responses: Sequence[_Response], step: int) -> list[Trajectory]:
        """The whole batch; the samples of a prompt stand side by side, as TRL itself counts on."""
        size = self._config.sampling.samples_per_prompt
        return [
            msgspec.structs.replace(
                self.prompts[each.row],
                response=each.text,
                tokens=Tokens(ids=each.ids, mask=[1] * len(each.ids)),
                group=f"{step}-{place // size}",
                id=None,
                training_step=step,
                metadata=self._metadata(each),
            )
            for place, each in enumerate(responses)
        ]

    def _metadata(self, response: _Response) -> dict[str, Any]:
        metadata = {**self.prompts[response.row].metadata, "finish_reason": "stop" if response.ended else "length"}
        return metadata if self._ranks.count == 1 else {**metadata, "rank": response.rank}

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
