"""The callback of TRL's trainer: evaluate, write the run's files, and stop on signals.

TRL counts optimizer steps; a step of ours is a batch, which may be several of them. Every process runs this, since
evaluation is shared; only the first one writes.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from plaudit.training.config.schema import RunConfig
from plaudit.training.data.curriculum import Levels
from plaudit.training.reporting.metrics import batch_metrics, split_metrics, time_metrics
from plaudit.training.reporting.progress import StopSignals
from plaudit.training.reporting.recorder import Recorder, UnscoredBatches
from plaudit.training.reporting.run_folder import RunFolder
from plaudit.training.trl.arguments import optimizer_steps
from plaudit.training.trl.reward import Ranks, TRLReward

__all__ = ["RunCallback", "RunContext", "RunState", "newest_checkpoint"]


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
    """How far a run has come, as a checkpoint keeps it."""

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
    """What the callback works with."""

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
        """Why the run cannot go on."""
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
