"""What TRL's trainer calls: a reward that several processes share, and the callback that keeps the run folder.

Every process must make every call here, with the same arguments where the docstring says so; else the others wait
forever. TRL counts optimizer steps; a step of ours is a batch, which may be several of them. Only the first process
writes files.
"""

import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from accelerate import PartialState
from accelerate.utils import gather_object
from transformers import TrainerCallback

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.training.collecting import Batch, Scoring
from plaudit.training.config.schema import RunConfig, SamplingSettings
from plaudit.training.data.curriculum import Levels
from plaudit.training.data.prompts import Prompts
from plaudit.training.engine import StopSignals
from plaudit.training.metrics import batch_metrics, split_metrics, time_metrics
from plaudit.training.model.policy import Policy
from plaudit.training.recorder import Recorder, UnscoredBatches
from plaudit.training.run_folder import RunFolder
from plaudit.training.sampling.encoding import decode_responses, find_end_ids
from plaudit.training.sampling.sampler import Sampler, Samples, derive_seed
from plaudit.training.trl.arguments import optimizer_steps
from plaudit.trajectory import Tokens, Trajectory

__all__ = [
    "Ranks", "RunCallback", "RunContext", "RunState", "SharedSampler", "SharedScorer", "TRLReward",
    "newest_checkpoint",
]  # fmt: skip


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
        mine = [
            index for index, each in enumerate(listed) if number[each.group_key] % self.ranks.count == self.ranks.index
        ]
        outputs = self.scorer.score([listed[index] for index in mine])
        gathered = dict(self.ranks.gather(list(zip(mine, outputs, strict=True))))
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
    """One response of TRL: the index of its prompt, its tokens, its text."""

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
        texts = decode_responses(self._tokenizer, ids)
        return [
            _Response(int(row), sampled, text, bool(sampled) and sampled[-1] in self._ends, self._ranks.index)
            for row, sampled, text in zip(rows, ids, texts, strict=True)
        ]

    def _trajectories(self, responses: Sequence[_Response], step: int) -> list[Trajectory]:
        """The whole batch; the samples of a prompt are consecutive, as TRL assumes."""
        size = self._config.sampling.samples_per_prompt
        return [
            msgspec.structs.replace(
                self.prompts[each.row],
                response=each.text,
                tokens=Tokens(ids=each.ids, mask=[1] * len(each.ids)),
                group=f"{step}-{index // size}",
                id=None,
                training_step=step,
                metadata=self._metadata(each),
            )
            for index, each in enumerate(responses)
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


STATE = "plaudit.json"
TRL_METRICS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "lr",
    "kl": "kl",
    "entropy": "entropy",
    "clip_ratio/low_mean": "clip/low",
    "clip_ratio/high_mean": "clip/high",
}
"""Numbers of TRL that metrics.jsonl has too, under its own names."""


@dataclass(slots=True)
class RunState:
    """The progress of a run, as a checkpoint keeps it."""

    step: int = 0
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    samples_before: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)


def newest_checkpoint(folder: RunFolder) -> tuple[Path, RunState] | None:
    """The newest complete checkpoint."""
    states = sorted(folder.checkpoints.glob(f"checkpoint-*/{STATE}"), key=lambda path: int(path.parent.name[11:]))
    if not states:
        return None
    return states[-1].parent, RunState(**json.loads(states[-1].read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class RunContext:
    """The state of the run that the callback uses."""

    config: RunConfig
    folder: RunFolder
    ranks: Ranks
    reward: TRLReward
    stop: StopSignals
    evaluate: Callable[[int], dict[str, float]]
    sample_responses: Callable[[], list[str]]
    levels: Levels
    unscored: UnscoredBatches
    recorder: Recorder | None
    """Writes the run's files, in the first process."""


class RunCallback(TrainerCallback):  # type: ignore[misc]  # transformers is not read by the type checker
    """Keeps the run folder as plaudit's own loop would."""

    def __init__(self, context: RunContext, state: RunState) -> None:
        self.context, self.run_state = context, state
        self.stopped_by: str | None = None
        self.problem: str | None = None
        """The reason why the run cannot continue."""
        self._began = 0.0
        self._logs: list[Mapping[str, Any]] = []
        self._per_batch = optimizer_steps(context.config)

    def on_train_begin(self, args: Any, state: Any, control: Any, **components: Any) -> None:
        _set_learning_rate(components.get("optimizer"), components.get("lr_scheduler"))
        if self.run_state.before or self.run_state.step:
            return
        self.run_state.before = self.run_state.after = self.context.evaluate(0)
        self.run_state.samples_before = self.context.sample_responses()
        if self.context.recorder is not None:
            self.context.recorder.step({"step": 0, **self.run_state.before})

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch == 0:
            self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch:
            return
        signals = [
            signal for signal in self.context.ranks.gather([self.context.stop.requested_by]) if signal is not None
        ]
        self.run_state.step = state.global_step // self._per_batch
        if signals and self.run_state.step < self.context.config.steps:
            self.stopped_by = signals[0]
            control.should_training_stop = True
        if signals or self.run_state.step == self.context.config.steps:
            control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is None or "loss" not in logs:  # the summary at the end
            return
        self._logs.append(logs)
        if state.global_step % self._per_batch == 0:
            self._record(time.perf_counter())
            self._logs.clear()
            batch = self.context.reward.batch
            self.problem = None if batch is None else self.context.unscored.check(batch)
            if self.context.recorder is not None:
                self.problem = self.problem or self.context.recorder.problem
            if self.problem is not None:
                control.should_training_stop = control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark the checkpoint as whole, with what TRL does not keep."""
        if self.context.recorder is None:
            return
        self.context.recorder.flush()
        self.run_state.sizes = self.context.folder.sizes()
        mark = Path(args.output_dir) / f"checkpoint-{state.global_step}" / STATE
        mark.write_text(json.dumps(asdict(self.run_state)), encoding="utf-8")

    def _record(self, ended: float) -> None:
        step, config, reward = self.run_state.step, self.context.config, self.context.reward
        batch = reward.batch
        if batch is None:
            return
        epoch = batch.position / len(reward.prompts)
        metrics: dict[str, Any] = {"step": step, "epoch": epoch, **batch_metrics(batch), **self._means()}
        metrics |= split_metrics(batch, self.context.levels)
        times = time_metrics(batch, update_s=ended - reward.ended, step_s=ended - self._began)
        metrics |= {**times, "time/sample": reward.began - self._began}
        if step == config.steps or (config.eval.every and step % config.eval.every == 0):
            self.run_state.after = self.context.evaluate(step)
            metrics |= self.run_state.after
        if self.context.recorder is not None:
            self.context.recorder.step(metrics, batch)

    def _means(self) -> dict[str, float]:
        means = {}
        for theirs, ours in TRL_METRICS.items():
            values = [float(logs[theirs]) for logs in self._logs if logs.get(theirs) is not None]
            if values:
                means[ours] = sum(values) / len(values)
        return means


def _set_learning_rate(optimizer: Any, scheduler: Any) -> None:
    """Where a run was made longer, its checkpoint has the rate that was next in the shorter one, which is often 0."""
    scheduler = getattr(scheduler, "scheduler", scheduler)  # accelerate wraps it
    rules = getattr(scheduler, "lr_lambdas", None)
    if optimizer is None or rules is None:
        return
    for group, base, rule in zip(optimizer.param_groups, scheduler.base_lrs, rules, strict=True):
        group["lr"] = base * rule(scheduler.last_epoch)
    scheduler._last_lr = [group["lr"] for group in optimizer.param_groups]  # which is what is logged
