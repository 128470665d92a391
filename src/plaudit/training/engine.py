"""Start a training run with the engine that its config names; its options, progress, stop signals and outcome.

An engine is a module with a function `train(config, options)`. It needs torch and other packages, so it is
imported after the inputs of the run are read and checked.
"""

import importlib
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from plaudit.contract.function import RewardLike
from plaudit.errors import require
from plaudit.models.cpu_precision import limit_instructions
from plaudit.training.config.schema import RunConfig
from plaudit.training.inputs import Inputs, check_engine, read_inputs
from plaudit.training.run_folder import RunFolder


class Progress:
    """Receives the events of a run and ignores them; a subclass may draw or plot them. It changes nothing."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken; step 0 is the evaluation before the first."""

    def note(self, text: str) -> None:
        """Print a note for the user."""


class StopSignals:
    """SIGTERM and Ctrl-C end a run after the step it is at, with a checkpoint; a second Ctrl-C ends it immediately.

    While entered in the main thread, the signals only set `requested_by`.
    """

    def __init__(self) -> None:
        self.requested_by: str | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested_by is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested_by = signal.Signals(number).name


class _Engine(NamedTuple):
    module: str
    packages: tuple[str, ...]
    extra: str


ENGINES: dict[str, _Engine] = {
    "local": _Engine("plaudit.training.loop", ("torch", "transformers"), "train"),
    "trl": _Engine("plaudit.training.trl.trainer", ("torch", "transformers", "trl"), "trl"),
}


def train(
    config: RunConfig,
    *,
    reward: RewardLike | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: "Progress | None" = None,
) -> "Outcome":
    """Train a policy with the config and its engine; everything about the run is in `config.output_dir`.

    `reward` replaces the config's reward. `resume` continues from the newest checkpoint, or begins where there is none;
    `overwrite` replaces a run that is in the folder.
    """
    engine = ENGINES[config.engine]
    check_engine(config)
    RunFolder(Path(config.output_dir)).check(config, resume=resume, overwrite=overwrite)
    inputs = read_inputs(config, reward)
    limit_instructions()
    for package in engine.packages:
        require(package, extra=engine.extra, purpose=f"training (engine: {config.engine})")
    begin: Callable[[RunConfig, RunOptions], Outcome] = importlib.import_module(engine.module).train
    return begin(config, RunOptions(inputs, resume, progress or Progress()))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What an engine gets beside the config: the inputs that it names, whether to resume the run in the folder, and the
    receiver of progress events."""

    inputs: Inputs
    resume: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last step of a run, and the evaluations before the first and after the last one."""

    folder: RunFolder
    step: int
    before: dict[str, float]
    after: dict[str, float]
    stopped_by: str | None = None
    """The signal that ended it early; it can be resumed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {
            "output_dir": str(self.folder.path),
            "step": self.step,
            "before": self.before,
            "after": self.after,
            "unscored": self.folder.unscored_share(),
        }
        return plain if self.stopped_by is None else {**plain, "stopped_by": self.stopped_by}
