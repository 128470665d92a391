"""Who hears of the training of a reward model while it goes on; it changes nothing."""

from collections.abc import Mapping
from typing import Protocol

__all__ = ["FitProgress", "KeptNotes", "NoFitProgress"]


class FitProgress(Protocol):
    """Hears of every step, and of what the user should know."""

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """An optimizer step was taken; `metrics` are the newest there are."""

    def note(self, text: str) -> None:
        """Something else that the user should know."""


class NoFitProgress:
    """Reports nothing."""

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class KeptNotes:
    """Passes everything on, and keeps the notes."""

    def __init__(self, progress: FitProgress) -> None:
        self.notes: list[str] = []
        self._progress = progress

    def step(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        self._progress.step(step, steps, metrics)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._progress.note(text)
