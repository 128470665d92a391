"""Look at the latest steps of a run every few steps, and report what is new.

The same rollouts give the same looks, whether they come from training or from a file, in one go or after a resume.

A sign is a fault of the figures of the latest steps, with the limits of a report (`plaudit.report.advice.FAULTS`).
Three signs are about change: they compare the latest steps with the first ones.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import InvalidSettings
from plaudit.report.advice import ADVICE, FAULTS, remarks
from plaudit.report.collecting import collect_figures
from plaudit.report.coverage import wilson_interval
from plaudit.report.figures import Figures, StepPoint
from plaudit.report.formatting import format_share
from plaudit.report.run_files import GrowingRollouts, run_files
from plaudit.rollouts import ScoredRollout
from plaudit.settings import check_choice

PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """The result of one look: the figures, all signs, the signs that are new since the look before, and the reason to
    stop.
    """

    step: int
    figures: Figures
    signs: "tuple[Sign, ...]"
    new: "tuple[Sign, ...]"
    stop: "Sign | None" = None

    def to_metrics(self) -> dict[str, float]:
        """The figures with a limit, by the names that metrics.jsonl and other logs give them."""
        summary = self.figures.summary
        numbers = {"unscored": 1 - summary.ok / summary.count if summary.count else None}
        numbers |= {name.replace(" ", "_"): fault.measure(self.figures) for name, fault in FAULTS.items()}
        return {f"watch/{name}": value for name, value in numbers.items() if value is not None}


class RewardWatch:
    """Takes the rollouts of every step; looks at the last `window` steps every `every` steps.

    A sign of `stop_on` that `patience` looks in a row have is a reason to stop.
    """

    def __init__(self, *, every: int = 10, window: int = 20, stop_on: Iterable[str] = (), patience: int = 3) -> None:
        if every < 1 or window < 1 or patience < 1:
            raise InvalidSettings(f"every, window and patience are 1 or more, got {every}, {window}, {patience}")
        self.stop_on = tuple(stop_on)
        for name in self.stop_on:
            check_choice("sign", name, SIGNS)
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
        first = self._first = self._first or now
        signs = tuple(sign for detect in SIGNS.values() if (sign := detect(first, now)) is not None)
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


UNSCORED_RISE, LONGER, PHRASE_SHARE = 0.1, 1.5, 0.3


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that the rollouts show, and what to do about it."""

    name: str
    value: float
    limit: float
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}. {self.remedy}"


def _fault(name: str) -> Callable[[Figures, Figures], Sign | None]:
    """A function that returns a sign if a figure of the latest steps reaches its limit."""
    fault = FAULTS[name]

    def detect(first: Figures, now: Figures) -> Sign | None:
        value = fault.measure(now)
        if value is None or value < fault.limit:
            return None
        message = next((remark.text.removesuffix(".") for remark in remarks(now) if remark.topic == fault.topic), name)
        return Sign(name, value, fault.limit, message, fault.advice)

    return detect


def _unscored(first: Figures, now: Figures) -> Sign | None:
    """The unscored share has risen since the first steps of the run, by more than chance explains."""
    quarter = max(1, len(first.curve) // 4), max(1, len(now.curve) // 4)
    early, late = _unscored_share(first.curve[: quarter[0]]), _unscored_share(now.curve[-quarter[1] :])
    if wilson_interval(*late)[0] <= wilson_interval(*early)[1] or late[0] < early[0] + UNSCORED_RISE:
        return None
    failure = now.summary.failures[0]
    message = (
        f"the policy moves to where it cannot be scored: {late[0]:.0%} of the latest samples are unscored, "
        f"{early[0]:.0%} of the first (most often {failure.status}: {failure.reason})"
    )
    return Sign("unscored", late[0], early[0] + UNSCORED_RISE, message, ADVICE["statuses.rising"])


def _unscored_share(points: tuple[StepPoint, ...]) -> tuple[float, int]:
    """The share of unscored samples of some steps, and how many samples they have."""
    count = sum(point.count for point in points)
    return (1 - sum(point.scored * point.count for point in points) / count if count else 0.0), count


def _length(first: Figures, now: Figures) -> Sign | None:
    """Longer responses earn more within groups, and responses have become longer."""
    before, after = _mean_length(first), _mean_length(now)
    sign = _fault("length")(first, now)
    if sign is None or not before or after < LONGER * before:
        return None
    message = f"{sign.message}, and responses are {after / before:.1f} times as long as at first"
    return Sign(sign.name, sign.value, sign.limit, message, sign.remedy)


def _mean_length(figures: Figures) -> float:
    count = sum(point.count for point in figures.curve)
    return sum(point.length * point.count for point in figures.curve) / count if count else 0.0


def _phrases(first: Figures, now: Figures) -> Sign | None:
    """A phrase that many well-paid responses contain, that did not pay at first, and that responses have more often."""
    known = {phrase.text for phrase in first.phrases.paying}
    candidates = [one for one in now.phrases.paying if one.text not in known and one.high >= PHRASE_SHARE]
    new = [one for one in candidates if (one.late or 0.0) >= LONGER * (one.early or 0.0)]
    if not new:
        return None
    share = format_share(new[0].high)
    message = (
        f"“{new[0].text}” is in {share} of the responses that earn more than their group, and did not pay at first"
    )
    return Sign("phrases", new[0].high, PHRASE_SHARE, message, ADVICE["phrases.some"])


SIGNS: dict[str, Callable[[Figures, Figures], Sign | None]] = {
    "unscored": _unscored,
    "dead groups": _fault("dead groups"),
    "phantom groups": _fault("phantom groups"),
    "saturation": _fault("saturation"),
    "length": _length,
    "dominance": _fault("dominance"),
    "copies": _fault("copies"),
    "phrases": _phrases,
}
"""Every sign by its name, as `logging.stop_on` takes them."""
