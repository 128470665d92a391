"""Start a training run with the engine that its config names.

An engine is a module with a function `train(config, options)`. It is imported when it is used, since each engine needs
other packages.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plaudit.contract.function import RewardLike
from plaudit.errors import require
from plaudit.models.cpu_precision import limit_instructions
from plaudit.training.config.schema import RunConfig
from plaudit.training.reporting.progress import NoProgress, Progress
from plaudit.training.reporting.run_folder import RunFolder

__all__ = ["ENGINES", "Outcome", "RunOptions", "train"]


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
    """Train a policy as the config says, with the engine it names; everything about the run is in `config.output_dir`.

    `reward` replaces the config's reward. `resume` continues from the newest checkpoint, or begins where there
    is none; `overwrite` replaces a run that is in the folder.
    """
    engine = ENGINES[config.engine]
    limit_instructions()
    for package in engine.packages:
        require(package, extra=engine.extra, purpose=f"training (engine: {config.engine})")
    begin: Callable[[RunConfig, RunOptions], Outcome] = importlib.import_module(engine.module).train
    return begin(config, RunOptions(reward, resume, overwrite, progress or NoProgress()))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run beside its config: a reward in place of the config's, whether to resume or to replace a run in
    the folder, and the receiver of progress events."""

    reward: RewardLike | None = None
    resume: bool = False
    overwrite: bool = False
    progress: Progress = field(default_factory=NoProgress)


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
