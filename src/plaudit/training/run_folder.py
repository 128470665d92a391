"""The folder of a run: its files, its checkpoints, and how a new, a resumed and an old run are distinguished.

A resumed run cuts metrics.jsonl and rollouts.jsonl back to what they were at its checkpoint, so that every step stands
in them once. A checkpoint is complete or absent: it is written to a temporary folder, synced to disk and renamed; only
then older ones are removed. If the disk is full, the new checkpoint is lost, never an old one.
"""

import os
import pickle
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaudit import jsonline
from plaudit.errors import TrainingError, require
from plaudit.remote.tokens import hide_tokens
from plaudit.report.run_files import METRICS, ROLLOUTS
from plaudit.rollouts.writing import write_atomically
from plaudit.training.config.keys import flatten
from plaudit.training.config.reading import document_config, load_config
from plaudit.training.config.schema import RunConfig

MAY_CHANGE_ON_RESUME = (
    "output_dir",
    "steps",
    "checkpoint.",
    "logging.",
    "training.log_rewards",
    "training.save_reward_analysis",
)
"""The keys that may differ between a run and its continuation: none of them changes what was learned so far."""


class RunFolder:
    """Where a run leaves its config, metrics, rollouts, checkpoints and samples."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config, self.metrics, self.rollouts = path / "config.yaml", path / METRICS, path / ROLLOUTS
        self.checkpoints, self.model, self.samples = path / "checkpoints", path / "model", path / "samples.md"
        self.report, self.analysis = path / "report.html", path / "reward_analysis.json"

    @property
    def holds_run(self) -> bool:
        """True when a run was begun here."""
        return self.config.is_file()

    def open(self, config: RunConfig, *, resume: bool) -> None:
        """Save the config here: of the run that is in the folder if `resume` is set, else of a new one; see `check`."""
        if not resume and self.holds_run:
            self._remove_run()
        self.path.mkdir(parents=True, exist_ok=True)
        self.save_config(config)

    def check(self, config: RunConfig, *, resume: bool, overwrite: bool) -> None:
        """Raise TrainingError where the config cannot be opened here; `overwrite` allows to replace a run."""
        if resume:
            self.check_continues(config)
        elif self.holds_run and not overwrite:
            raise TrainingError(
                f"{self.path} holds a run already; --resume continues it, --overwrite replaces it, "
                "output_dir=FOLDER takes another folder"
            )
        elif self.path.exists() and not self.path.is_dir():
            raise TrainingError(f"output_dir={self.path} is a file; name a folder")

    def forget_failed_start(self) -> None:
        """Remove what a run left that ended before it had recorded anything, so that it blocks no other."""
        if self.metrics.exists() and self.metrics.stat().st_size:
            return
        self._remove_run()
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def check_continues(self, config: RunConfig) -> None:
        """Raise TrainingError unless the config continues the run in this folder; it may have more steps."""
        if not self.holds_run:
            raise TrainingError(f"there is no run in {self.path} to resume; begin one without --resume")
        before = flatten(load_config(self.config).to_dict())
        now = flatten(hide_tokens(config.to_dict()))
        changed = [
            f"{name}: {before.get(name)!r} → {value!r}"
            for name, value in now.items()
            if before.get(name) != value and not name.startswith(MAY_CHANGE_ON_RESUME)
        ]
        if changed:
            raise TrainingError(
                f"this is not the config that {self.path} was begun with ({'; '.join(changed)}): "
                "resume with the same one, or begin another run with output_dir=FOLDER"
            )
        if config.steps < int(str(before["steps"])):
            raise TrainingError(
                f"steps={config.steps} is less than the {before['steps']} that {self.path} was begun with; "
                "a run can be made longer, not shorter"
            )

    def save_config(self, config: RunConfig) -> None:
        """Write config.yaml, every key with its meaning but no token, whole or not at all."""
        write_atomically(self.config, hide_tokens(document_config(config)).encode())

    def unscored_share(self) -> float:
        """The share of the samples of all steps that were not scored."""
        rows = (
            [jsonline.decode(line) for line in self.metrics.read_bytes().splitlines()] if self.metrics.exists() else []
        )
        scored = [row["status/ok"] for row in rows if "status/ok" in row]
        return 1.0 - sum(scored) / len(scored) if scored else 0.0

    def _remove_run(self) -> None:
        files = (self.config, self.metrics, self.rollouts, self.samples, self.report, self.analysis)
        folders = (self.checkpoints, self.model, self.path / "tensorboard", self.path / "wandb")
        for old in (*files, self.analysis.with_suffix(".txt"), *folders):
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)

    def sizes(self) -> dict[str, int]:
        """The current sizes of the files that grow, for a checkpoint."""
        return {path.name: path.stat().st_size if path.exists() else 0 for path in (self.metrics, self.rollouts)}

    def cut_back(self, sizes: dict[str, int]) -> None:
        """Make the files that grow as long as they were at a checkpoint."""
        for path in (self.metrics, self.rollouts):
            if path.exists():
                os.truncate(path, min(sizes.get(path.name, 0), path.stat().st_size))


@dataclass(slots=True)
class RunState:
    """The progress of a run, as a checkpoint keeps it: the last step, the evaluations, the samples before training, and
    the sizes of the files that grow.
    """

    step: int = 0
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)
    samples_before: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)


_NAME = re.compile(r"step-(\d{6,})")
STATE = "state.pt"
CHECKPOINTS = "reading and writing checkpoints"
_UNREADABLE = (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError)
"""The errors that torch raises for a damaged or incomplete file."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved moment of a run."""

    path: Path
    step: int

    def load(self) -> dict[str, Any]:
        """The state that was saved; tensors and plain data only, so reading it runs no code."""
        torch: Any = require("torch", extra="train", purpose=CHECKPOINTS)
        try:
            state: dict[str, Any] = torch.load(self.path / STATE, map_location="cpu", weights_only=True)
        except _UNREADABLE as error:
            raise TrainingError(
                f"the checkpoint {self.path} cannot be read ({error}); remove that folder to resume from the one before"
            ) from error
        return state


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of a run, of which the newest `keep` stay."""

    folder: Path
    keep: int = 2

    def save(self, step: int, state: dict[str, Any]) -> Checkpoint:
        """Write a checkpoint, then remove old ones; TrainingError when it could not be written."""
        target = self.folder / f"step-{step:06d}"
        partial = self.folder / f"{target.name}.partial"
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            _write_synced(partial / STATE, state)
            shutil.rmtree(target, ignore_errors=True)
            os.replace(partial, target)
            _sync_folder(self.folder)
        except (OSError, RuntimeError) as error:  # torch raises either for a full disk
            shutil.rmtree(partial, ignore_errors=True)
            left = self.newest()
            kept = f"the one of step {left.step} is intact" if left else "there is none before it"
            cause = error.__context__ if isinstance(error.__context__, OSError) else error
            raise TrainingError(f"the checkpoint of step {step} could not be written ({cause}); {kept}") from error
        self._prune()
        return Checkpoint(target, step)

    def newest(self) -> Checkpoint | None:
        """The checkpoint to resume from; None when there is none."""
        return max(self.all(), key=lambda checkpoint: checkpoint.step, default=None)

    def all(self) -> list[Checkpoint]:
        """Every complete checkpoint."""
        matches = ((path, _NAME.fullmatch(path.name)) for path in self.folder.glob("step-*"))
        return [Checkpoint(path, int(match[1])) for path, match in matches if match is not None]

    def _prune(self) -> None:
        for old in sorted(self.all(), key=lambda checkpoint: checkpoint.step)[: -self.keep]:
            shutil.rmtree(old.path, ignore_errors=True)


def _write_synced(path: Path, state: dict[str, Any]) -> None:
    torch: Any = require("torch", extra="train", purpose=CHECKPOINTS)
    with open(path, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
