"""Numbers that change over training steps, for weights that fade in or out.

A schedule is a plain value: the same step always gives the same number, so scoring stays deterministic.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from plaudit.errors import InvalidSettings

__all__ = ["CosineSchedule", "LinearSchedule", "PiecewiseSchedule", "Schedule"]


class Schedule(ABC):
    """A number for every training step."""

    @abstractmethod
    def at(self, step: int) -> float:
        """The value at a training step, counted from 0."""


@dataclass(frozen=True)
class LinearSchedule(Schedule):
    """From `start` to `end` in a straight line over `steps` steps, then constant.

    >>> LinearSchedule(0.0, 1.0, steps=10).at(5)
    0.5
    """

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _check_steps(self.steps)

    def at(self, step: int) -> float:
        return self.start + (self.end - self.start) * min(1.0, max(0, step) / self.steps)


@dataclass(frozen=True)
class CosineSchedule(Schedule):
    """From `start` to `end` along half a cosine over `steps` steps, then constant."""

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        _check_steps(self.steps)

    def at(self, step: int) -> float:
        done = min(1.0, max(0, step) / self.steps)
        return self.end + (self.start - self.end) * 0.5 * (1.0 + math.cos(math.pi * done))


@dataclass(frozen=True)
class PiecewiseSchedule(Schedule):
    """Constant pieces: `PiecewiseSchedule(((0, 1.0), (100, 0.5)))` is 1.0 until step 99, then 0.5."""

    pieces: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        starts = [start for start, _ in self.pieces]
        if not starts or starts[0] != 0 or starts != sorted(set(starts)):
            raise InvalidSettings(f"pieces must start at step 0 and rise, got starts {starts}")

    def at(self, step: int) -> float:
        return next(value for start, value in reversed(self.pieces) if max(0, step) >= start)


def _check_steps(steps: int) -> None:
    if steps < 1:
        raise InvalidSettings(f"a schedule needs steps >= 1, got {steps}")
