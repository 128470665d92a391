"""Guess a whole number; after each guess the environment says whether it is higher or lower."""

import re
from typing import ClassVar

from plaudit.agents.environment import Environment, EpisodeStart, StepResult

__all__ = ["NumberGuessing"]

_NUMBER = re.compile(r"-?\d{1,18}")


class NumberGuessing(Environment):
    """A hit earns 1, less a tenth for every guess before it, at least 0.1; guesses that are none earn nothing.

    The number is the ground truth; where there is none, it follows from the episode's seed and lies from `low` to
    `high`.
    """

    guesses: ClassVar[int] = 7
    low: ClassVar[int] = 1
    high: ClassVar[int] = 100
    in_threads: ClassVar[bool] = True

    async def reset(self, start: EpisodeStart) -> None:
        given = start.ground_truth
        self.wanted = self.low + start.seed % (self.high - self.low + 1) if given is None else int(given)
        self.tries = 0

    async def step(self, action: str) -> StepResult:
        self.tries += 1
        last = self.tries >= self.guesses
        found = _NUMBER.search(action)
        if found is None:
            return self._answer("Say a whole number.", done=last)
        guess = int(found.group())
        if guess == self.wanted:
            reward = max(0.1, 1.1 - self.tries / 10)
            return StepResult("", True, reward, score=1.0, logs={"tries": self.tries})
        return self._answer("higher" if guess < self.wanted else "lower", done=last)

    def _answer(self, words: str, *, done: bool) -> StepResult:
        return StepResult(f"\n{words}\n", done, 0.0, score=0.0, logs={"tries": self.tries})
