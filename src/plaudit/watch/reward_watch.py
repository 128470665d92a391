"""Looks at the latest steps of a run every few steps, and says what is new.

The same rollouts give the same looks, whether they come from training or from a file, in one go or after a resume.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.rollouts import ScoredRollout
from plaudit.watch.measures import Measures, measure
from plaudit.watch.signs import SIGNS, Sign, find_signs

__all__ = ["Look", "RewardWatch"]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found: its figures, all signs, those that were not there at the look before, and why to stop."""

    step: int
    measures: Measures
    signs: tuple[Sign, ...]
    new: tuple[Sign, ...]
    stop: Sign | None = None


class RewardWatch:
    """Takes the rollouts of every step; looks at the last `window` steps every `every` steps.

    A sign of `stop_on` that is there at `patience` looks in a row is a reason to stop.
    """

    def __init__(self, *, every: int = 10, window: int = 20, stop_on: Iterable[str] = (), patience: int = 3) -> None:
        if every < 1 or window < 1 or patience < 1:
            raise InvalidSettings(f"every, window and patience are 1 or more, got {every}, {window}, {patience}")
        self.stop_on = tuple(stop_on)
        for name in self.stop_on:
            if name not in SIGNS:
                raise InvalidSettings(f"no sign {name!r}{did_you_mean(name, SIGNS)} (there are {', '.join(SIGNS)})")
        self._every, self._patience = every, patience
        self._steps: deque[tuple[int, Sequence[ScoredRollout]]] = deque(maxlen=window)
        self._first: Measures | None = None
        self._runs: dict[str, int] = {}

    def observe(self, step: int, rollouts: Sequence[ScoredRollout]) -> Look | None:
        """Take the rollouts of a step; a look where one is due."""
        if rollouts:
            self._steps.append((step, rollouts))
        if step % self._every or not self._steps:
            return None
        now = measure(rollout for _, listed in self._steps for rollout in listed)
        if self._first is None:
            self._first = now
        signs = find_signs(self._first, now)
        new = tuple(sign for sign in signs if sign.name not in self._runs)
        self._runs = {sign.name: self._runs.get(sign.name, 0) + 1 for sign in signs}
        lasting = (sign for sign in signs if sign.name in self.stop_on and self._runs[sign.name] >= self._patience)
        return Look(step, now, signs, new, next(lasting, None))
