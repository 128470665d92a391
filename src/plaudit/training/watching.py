"""Who hears of a run while it goes on: the command line draws it, a notebook may plot it, a test may count.

A watch is told plain numbers and changes nothing.
"""

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Silence", "Watch"]


class Watch(Protocol):
    """Called as a run goes on."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        """A supervised step was taken."""

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        """A training step was taken; step 0 is the evaluation before the first."""

    def note(self, text: str) -> None:
        """Something else that the user should know."""


class Silence:
    """Nobody watches."""

    def warm_start(self, step: int, steps: int, loss: float) -> None:
        pass

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        pass

    def note(self, text: str) -> None:
        pass
