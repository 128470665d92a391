"""Pieces of work, what comes of them, and the limits they are done under."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

__all__ = ["Done", "Limits", "Unit"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Samples that travel together, with their places in the run; a group is `whole` and is never cut."""

    places: Sequence[int]
    trajectories: list[Trajectory]
    whole: bool = False
    tries: int = 0
    cut_at: float = field(default_factory=time.monotonic)

    def __len__(self) -> int:
        return len(self.trajectories)

    def rest(self, done: int) -> "Unit":
        """What is left after the first `done` samples."""
        return Unit(self.places[done:], self.trajectories[done:])

    def singly(self) -> list["Unit"]:
        """Each sample as a unit of its own."""
        return [Unit([place], [sample]) for place, sample in zip(self.places, self.trajectories, strict=True)]

    def tried_again(self) -> "Unit":
        return replace(self, tries=self.tries + 1)

    def done(self, outputs: list[RewardOutput], queued_s: float = 0.0) -> "Done":
        """The outputs of the first samples of this unit, which waited so long before they were begun."""
        return Done(self.places[: len(outputs)], outputs, queued_s)


@dataclass(frozen=True, slots=True)
class Done:
    """Outputs with the places of their samples."""

    places: Sequence[int]
    outputs: list[RewardOutput]
    queued_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sample may cost."""

    deadline_s: float | None = None
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        if self.deadline_s is not None and self.deadline_s <= 0:
            raise InvalidSettings(f"deadline_s must be positive, got {self.deadline_s}")
        if self.memory_mb is not None and self.memory_mb < 1:
            raise InvalidSettings(f"memory_mb must be positive, got {self.memory_mb}")
