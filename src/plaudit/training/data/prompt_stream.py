"""Prompts without end: every epoch in an order that follows from the seed and the epoch's number alone.

How many prompts were taken is therefore all there is to remember when a run is resumed.
"""

import random

from plaudit.errors import DataError
from plaudit.training.data.prompts import Prompts

__all__ = ["PromptStream"]


class PromptStream:
    """Takes prompts epoch after epoch; `position` may be set to go on somewhere."""

    def __init__(self, prompts: Prompts, *, seed: int, shuffle: bool = True) -> None:
        if not prompts:
            raise DataError("there are no prompts to train on")
        self.prompts = prompts
        self.position = 0
        self._seed, self._shuffle = seed, shuffle
        self._order: tuple[int, list[int]] = (-1, [])

    @property
    def epoch(self) -> float:
        """How often all prompts were taken."""
        return self.position / len(self.prompts)

    def take(self, count: int) -> Prompts:
        """The next `count` prompts."""
        return self.prompts.pick(self.places(count))

    def places(self, count: int) -> list[int]:
        """Where the next `count` prompts stand among all."""
        places = [self._place(position) for position in range(self.position, self.position + count)]
        self.position += count
        return places

    def _place(self, position: int) -> int:
        epoch, within = divmod(position, len(self.prompts))
        if self._order[0] != epoch:
            order = list(range(len(self.prompts)))
            if self._shuffle:
                random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._order = (epoch, order)
        return self._order[1][within]
