"""Look at the latest steps of a run every few steps, and report what is new.

The same rollouts give the same looks, whether they come from training or from a file, in one go or after a resume.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.report.collecting import collect_figures
from plaudit.report.figures import Figures
from plaudit.report.run_files import GrowingRollouts, run_files
from plaudit.rollouts import ScoredRollout
from plaudit.watch.signs import SIGNS, Sign, find_signs, to_metrics

__all__ = ["Look", "RewardWatch", "watch_run"]

PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look shows: the figures, all signs, the signs that the look before did not have, and why to stop."""

    step: int
    figures: Figures
    signs: tuple[Sign, ...]
    new: tuple[Sign, ...]
    stop: Sign | None = None

    def to_metrics(self) -> dict[str, float]:
        """The figures by the names that metrics.jsonl and other logs give them."""
        return to_metrics(self.figures)


class RewardWatch:
    """Takes the rollouts of every step; looks at the last `window` steps every `every` steps.

    A sign of `stop_on` that `patience` looks in a row have is a reason to stop.
    """

    def __init__(self, *, every: int = 10, window: int = 20, stop_on: Iterable[str] = (), patience: int = 3) -> None:
        if every < 1 or window < 1 or patience < 1:
            raise InvalidSettings(f"every, window and patience are 1 or more, got {every}, {window}, {patience}")
        self.stop_on = tuple(stop_on)
        for name in self.stop_on:
            if name not in SIGNS:
                raise InvalidSettings(f"no sign {name!r}{did_you_mean(name, SIGNS)} (there are {', '.join(SIGNS)})")
        self._every, self._patience = every, patience
        self._steps: deque[Sequence[ScoredRollout]] = deque(maxlen=window)
        self.restart()

    def restart(self) -> None:
        """Forget all rollouts: the run is read from its beginning again."""
        self._steps.clear()
        self._first: Figures | None = None
        self._looks_with: dict[str, int] = {}

    def observe(self, step: int, rollouts: Sequence[ScoredRollout]) -> Look | None:
        """Take the rollouts of a step; returns a look if one is due."""
        if rollouts:
            self._steps.append(rollouts)
        if step % self._every or not self._steps:
            return None
        now = collect_figures(rollout for listed in self._steps for rollout in listed)
        self._first = self._first or now
        signs = find_signs(self._first, now)
        new = tuple(sign for sign in signs if sign.name not in self._looks_with)
        self._looks_with = {sign.name: self._looks_with.get(sign.name, 0) + 1 for sign in signs}
        lasting = (s for s in signs if s.name in self.stop_on and self._looks_with[s.name] >= self._patience)
        return Look(step, now, signs, new, next(lasting, None))


def watch_run(
    path: Path, watch: RewardWatch, *, follow: bool = False, is_over: Callable[[], bool] = lambda: False
) -> Iterator[Look]:
    """The looks at a run folder or rollouts file; with `follow`, also at what is appended, until `is_over`.

    A file that was cut back or replaced is read from its start.
    """
    step: list[ScoredRollout] = []  # the rollouts of the step that is being read

    def restart() -> None:
        step.clear()
        watch.restart()

    for rollout in _read(GrowingRollouts(run_files(path).rollouts, restart), follow, is_over):
        if step and _step_of(rollout) != _step_of(step[0]):
            yield from _observe(watch, step)
            step.clear()
        step.append(rollout)
    yield from _observe(watch, step)


def _observe(watch: RewardWatch, step: list[ScoredRollout]) -> Iterator[Look]:
    look = watch.observe(_step_of(step[0]), list(step)) if step else None
    if look is not None:
        yield look


def _step_of(rollout: ScoredRollout) -> int:
    return rollout.trajectory.training_step or 0


def _read(rollouts: GrowingRollouts, follow: bool, is_over: Callable[[], bool]) -> Iterator[ScoredRollout]:
    """Scored rollouts; a line that is not finished waits for its end."""
    while follow and not is_over():
        yield from rollouts.read()
        time.sleep(PAUSE_S)
    yield from rollouts.read(complete=True)
