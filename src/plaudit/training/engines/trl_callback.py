"""What plaudit does while TRL trains: evaluate, write the run's files, and stop when asked.

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
from plaudit.training.engines.trl_arguments import optimizer_steps
from plaudit.training.engines.trl_ranks import Ranks
from plaudit.training.engines.trl_reward import TRLReward
from plaudit.training.reporting.metrics import batch_metrics, time_metrics
from plaudit.training.reporting.recorder import Recorder
from plaudit.training.run_folder import RunFolder
from plaudit.training.stopping import Stop

__all__ = ["Progress", "RunCallback", "newest_checkpoint"]

PROGRESS = "plaudit.json"
LEARNT = {
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
class Progress:
    """How far a run has come, as a checkpoint keeps it."""

    step: int = 0
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    shown_before: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)


def newest_checkpoint(folder: RunFolder) -> tuple[Path, Progress] | None:
    """The last checkpoint that was written to its end."""
    found = sorted(folder.checkpoints.glob(f"checkpoint-*/{PROGRESS}"), key=lambda path: int(path.parent.name[11:]))
    if not found:
        return None
    return found[-1].parent, Progress(**json.loads(found[-1].read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the callback works with."""

    config: RunConfig
    folder: RunFolder
    ranks: Ranks
    reward: TRLReward
    stop: Stop
    evaluate: Callable[[int], dict[str, float]]
    shown: Callable[[], list[str]]
    record: Recorder | None
    """Writes the run's files, in the first process."""


class RunCallback(TrainerCallback):
    """Keeps the run folder as plaudit's own loop would."""

    def __init__(self, around: Surroundings, progress: Progress) -> None:
        self.around, self.progress = around, progress
        self.stopped_by: str | None = None
        self._began = 0.0
        self._learnt: list[Mapping[str, Any]] = []
        self._per_batch = optimizer_steps(around.config)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.progress.before or self.progress.step:
            return
        self.progress.before = self.progress.after = self.around.evaluate(0)
        self.progress.shown_before = self.around.shown()
        if self.around.record is not None:
            self.around.record.step({"step": 0, **self.progress.before})

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch == 0:
            self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % self._per_batch:
            return
        asked = [signal for signal in self.around.ranks.together([self.around.stop.asked]) if signal is not None]
        self.progress.step = state.global_step // self._per_batch
        if asked and self.progress.step < self.around.config.steps:
            self.stopped_by = asked[0]
            control.should_training_stop = True
        if asked or self.progress.step == self.around.config.steps:
            control.should_save = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs is None or "loss" not in logs:  # the summary at the end
            return
        self._learnt.append(logs)
        if state.global_step % self._per_batch == 0:
            self._record(time.perf_counter())
            self._learnt.clear()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Mark the checkpoint as whole, with what TRL does not keep."""
        if self.around.record is None:
            return
        self.around.record.flush()
        self.progress.sizes = self.around.folder.sizes()
        mark = Path(args.output_dir) / f"checkpoint-{state.global_step}" / PROGRESS
        mark.write_text(json.dumps(asdict(self.progress)), encoding="utf-8")

    def _record(self, ended: float) -> None:
        step, config, reward = self.progress.step, self.around.config, self.around.reward
        batch = reward.batch
        if batch is None:
            return
        epoch = batch.position / len(reward.prompts)
        metrics: dict[str, Any] = {"step": step, "epoch": epoch, **batch_metrics(batch), **self._means()}
        times = time_metrics(batch, update_s=ended - reward.ended, step_s=ended - self._began)
        metrics |= {**times, "time/sample": reward.began - self._began}
        if step == config.steps or (config.eval.every and step % config.eval.every == 0):
            self.progress.after = self.around.evaluate(step)
            metrics |= self.progress.after
        if self.around.record is not None:
            self.around.record.step(metrics, batch)

    def _means(self) -> dict[str, float]:
        means = {}
        for theirs, ours in LEARNT.items():
            values = [float(logs[theirs]) for logs in self._learnt if logs.get(theirs) is not None]
            if values:
                means[ours] = sum(values) / len(values)
        return means
