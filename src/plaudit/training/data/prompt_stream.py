"""Prompts without end: what a stream is, and the plain one, in which every epoch has an order of its own.

That order follows from the seed and the epoch's number alone, so how many prompts were taken is all there is to
remember when a run is resumed.
"""

import random
from collections.abc import Sequence
from typing import Any, Protocol

from plaudit.errors import DataError
from plaudit.training.data.prompts import Prompts

__all__ = ["PromptStream", "Stream"]


class Stream(Protocol):
    """What a training loop takes its prompts from."""

    prompts: Prompts

    @property
    def position(self) -> int:
        """How many prompts were taken."""
        ...

    def places(self, count: int) -> list[int]:
        """Where the next `count` prompts stand among all."""
        ...

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Take the scores of the samples of each prompt that was taken last."""
        ...

    def metrics(self) -> dict[str, float]:
        """What is worth logging of it."""
        ...

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps, as plain data."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        ...


class PromptStream:
    """Takes prompts epoch after epoch; `position` may be set to go on somewhere."""

    def __init__(self, prompts: Prompts, *, seed: int | str, shuffle: bool = True) -> None:
        if not prompts:
            raise DataError("there are no prompts to train on")
        self.prompts = prompts
        self.position = 0
        self._seed, self._shuffle = seed, shuffle
        self._order: tuple[int, list[int]] = (-1, [])

    def places(self, count: int) -> list[int]:
        """Where the next `count` prompts stand among all."""
        places = [self._place(position) for position in range(self.position, self.position + count)]
        self.position += count
        return places

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Every prompt comes as often as any other, whatever it scores."""

    def metrics(self) -> dict[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"position": self.position}

    def restore(self, state: dict[str, Any]) -> None:
        self.position = state["position"]

    def _place(self, position: int) -> int:
        epoch, within = divmod(position, len(self.prompts))
        if self._order[0] != epoch:
            order = list(range(len(self.prompts)))
            if self._shuffle:
                random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._order = (epoch, order)
        return self._order[1][within]
