"""Stages of a curriculum: harder levels are opened one by one, and closed again where they were too much.

The bound to go on is above the one to go back, and after either a number of fresh samples must be seen: so a success
rate that wavers around one bound does not open and close a level at every step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.training.config.task_keys import CurriculumConfig

__all__ = ["Stages"]


@dataclass
class Stages:
    """`stage` is the index of the hardest level that is open; a level is judged by the samples of its own stage."""

    count: int
    settings: CurriculumConfig
    stage: int = 0
    right: float = 0.0
    seen: int = 0

    def observe(self, level: int, scores: Sequence[float]) -> None:
        """Take the scores of samples of a level; only the hardest open one decides."""
        if level != self.stage:
            return
        self.right += sum(scores)
        self.seen += len(scores)
        if self.seen < self.settings.stage_samples:
            return
        rate = self.right / self.seen
        if rate >= self.settings.stage_up and self.stage + 1 < self.count:
            self._enter(self.stage + 1)
        elif rate < self.settings.stage_down and self.stage:
            self._enter(self.stage - 1)
        else:  # the newest samples decide, not those of long ago
            self.seen //= 2
            self.right = rate * self.seen

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"stage": self.stage, "right": self.right, "seen": self.seen}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.stage, self.right, self.seen = state["stage"], state["right"], state["seen"]

    def _enter(self, stage: int) -> None:
        self.stage, self.right, self.seen = stage, 0.0, 0
