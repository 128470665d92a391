"""Signs that a policy learns little, or something else than was meant: faults of the figures of the latest steps.

The limits are those of a report (`plaudit.report.advice.FAULTS`). Three signs are about change: they compare the latest
steps with the first ones. A sign says what the rollouts show, not what will come of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from plaudit.report.advice import ADVICE, FAULTS, remarks
from plaudit.report.coverage import wilson_interval
from plaudit.report.figures import Figures, StepPoint
from plaudit.report.formatting import format_share

__all__ = ["SIGNS", "Sign", "find_signs", "to_metrics"]

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


def find_signs(first: Figures, now: Figures) -> tuple[Sign, ...]:
    """The signs in the latest steps; `first` are the figures of the first steps of the run."""
    return tuple(sign for detect in SIGNS.values() if (sign := detect(first, now)) is not None)


def to_metrics(figures: Figures) -> dict[str, float]:
    """The figures with a limit, as metrics.jsonl and other logs name them."""
    summary = figures.summary
    numbers = {"unscored": 1 - summary.ok / summary.count if summary.count else None}
    numbers |= {name.replace(" ", "_"): fault.measure(figures) for name, fault in FAULTS.items()}
    return {f"watch/{name}": value for name, value in numbers.items() if value is not None}


def _fault(name: str) -> Callable[[Figures, Figures], Sign | None]:
    """The sign that a figure of the latest steps reaches its limit."""
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
    """A phrase that many well-paid responses contain, and that did not pay at first."""
    known = {phrase.text for phrase in first.phrases.paying}
    new = [one for one in now.phrases.paying if one.text not in known and one.high >= PHRASE_SHARE]
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
