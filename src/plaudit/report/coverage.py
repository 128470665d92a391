"""Coverage of scoring: means with the share of scored samples, and the reasons of failures by kind.

The rule: no mean is shown without the share of samples that it leaves out.

A mean over scored samples alone rises when failing samples become unscored. `overall` does not: there, and only there,
an unscored sample counts as 0. It is a display figure; nothing trains on it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput

MAX_KINDS = 10_000
FURTHER = "(further reasons)"


@dataclass(frozen=True, slots=True)
class CoveredMean:
    """A mean over the scored samples, the same over all samples (unscored ones count as 0), and the unscored share.

    `scored` is None if no sample was scored, and `overall` if there are no samples.
    """

    scored: float | None
    overall: float | None
    unscored: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "CoveredMean":
        """The mean of `values`, in which None marks an unscored sample.

        >>> CoveredMean.of([1.0, 0.0, None, None])
        CoveredMean(scored=0.5, overall=0.25, unscored=0.5)
        """
        listed = list(values)
        known = [value for value in listed if value is not None]
        return cls.of_scored(math.fsum(known) / len(known) if known else None, len(known), len(listed) - len(known))

    @classmethod
    def of_scored(cls, mean: float | None, scored: int, unscored: int) -> "CoveredMean":
        """The mean of `scored` samples, with `unscored` further ones."""
        count = scored + unscored
        if not count:
            return cls(None, None)
        return cls(mean, (mean or 0.0) * (scored / count), unscored / count)

    @classmethod
    def from_metrics(cls, metrics: Mapping[str, float], name: str) -> "CoveredMean | None":
        """The value that `to_metrics` wrote; None if there is no such metric."""
        overall = metrics.get(f"{name}_all", metrics.get(name))
        return None if overall is None else cls(metrics.get(name), overall, metrics.get(f"{name}_unscored", 0.0))

    def to_metrics(self, name: str) -> dict[str, float]:
        """`<name>`, `<name>_all` and `<name>_unscored`, as metrics.jsonl has them; nothing if no sample was scored."""
        if self.scored is None or self.overall is None:
            return {}
        return {name: self.scored, f"{name}_all": self.overall, f"{name}_unscored": self.unscored}


def format_mean(mean: CoveredMean, number: Callable[[float], str] = "{:.3f}".format) -> str:
    """The mean; if it leaves out samples, also the mean over all samples and the unscored share.

    >>> format_mean(CoveredMean.of([1.0, 0.0, None, None]))
    '0.500 (0.250 over all, 50% unscored)'
    >>> format_mean(CoveredMean.of([1.0, 0.0]))
    '0.500'
    """
    if mean.scored is None or mean.overall is None:
        return "-"
    if not mean.unscored:
        return number(mean.scored)
    share = f"{mean.unscored:.0%}" if mean.unscored >= 0.01 else f"{mean.unscored:.1%}"
    return f"{number(mean.scored)} ({number(mean.overall)} over all, {share} unscored)"


def mean_reward(outputs: Iterable[RewardOutput]) -> CoveredMean:
    """The mean reward of some outputs."""
    return CoveredMean.of(output.reward for output in outputs)


def mean_score(outputs: Iterable[RewardOutput]) -> CoveredMean:
    """The mean score of some outputs; samples whose reward gives no score are not part of it."""
    return CoveredMean.of(output.score for output in outputs if output.score is not None or not output.ok)


def wilson_interval(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """Bounds of a share that was found among `count` (Wilson 1927); with the default `z`, 95 of 100 hold the true one.

    For means of values in [0, 1] that are not all 0 or 1 the bounds are wider than they need be, never narrower.

    >>> [round(bound, 3) for bound in wilson_interval(1.0, 10)]
    [0.722, 1.0]
    """
    if count < 1:
        return 0.0, 1.0
    scale = 1.0 + z * z / count
    centre = (share + z * z / (2 * count)) / scale
    reach = z / scale * math.sqrt(share * (1.0 - share) / count + z * z / (4 * count * count))
    return max(0.0, centre - reach), min(1.0, centre + reach)


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure: its first reason, how often it happened, and the sample it happened to first."""

    status: str
    reason: str
    count: int
    example: str


class FailureCounts:
    """Counts failures by status and kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], tuple[str, str]] = {}  # reason and sample

    def add(self, output: RewardOutput, sample: str) -> None:
        """Take the output of a sample that was not scored."""
        key = (output.status.value, failure_kind(output.reason))
        reason = output.reason
        if key not in self._counts and len(self._counts) >= MAX_KINDS:
            key, reason = (output.status.value, FURTHER), FURTHER
        self._counts[key] += 1
        self._first.setdefault(key, (reason, sample))

    def failures(self) -> tuple[Failure, ...]:
        """All kinds, most frequent first."""
        return tuple(
            Failure(key[0], self._first[key][0], count, self._first[key][1])
            for key, count in self._counts.most_common()
        )


def failure_kind(reason: str) -> str:
    """A key for failures of one cause: the exception and its location, else the reason without its data.

    >>> failure_kind("quality raised ValueError: could not read 'x' (at my.py:7)")
    'ValueError (at my.py:7)'
    >>> failure_kind("no number in 'a b' after 12 words")
    'no number in … after … words'
    """
    raised = re.search(r"raised (\w+)", reason)
    location = re.search(r"\(at [^()]+:\d+\)$", reason)
    if raised and location:
        return f"{raised[1]} {location[0]}"
    return re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d[\d.,]*", "…", reason)
