"""Atomic checkpoints: complete or absent.

A checkpoint is written to a temporary folder, synced to disk and renamed; only then older ones are removed. If the
disk is full, the new checkpoint is lost, never an old one.
"""

import os
import pickle
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from plaudit.errors import TrainingError

__all__ = ["Checkpoint", "Checkpoints"]


_NAME = re.compile(r"step-(\d{6,})")
STATE = "state.pt"
_UNREADABLE = (OSError, RuntimeError, EOFError, ValueError, LookupError, pickle.UnpicklingError)
"""The errors that torch raises for a damaged or incomplete file."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A saved moment of a run."""

    path: Path
    step: int

    def load(self) -> dict[str, Any]:
        """The state that was saved; tensors and plain data only, so reading it runs no code."""
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
            _write(partial / STATE, state)
            shutil.rmtree(target, ignore_errors=True)
            os.replace(partial, target)
            _to_disk(self.folder)
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


def _write(path: Path, state: dict[str, Any]) -> None:
    with open(path, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


def _to_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
