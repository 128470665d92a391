"""Means with their coverage. The rule: no mean is shown without the share of samples that it leaves out.

A mean over scored samples alone rises when failing samples become unscored. `overall` does not: there, and only there,
an unscored sample counts as 0. It is a display figure; nothing trains on it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput

__all__ = ["CoveredMean", "format_mean", "mean_reward", "mean_score"]


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
        """The mean of `values`, in which None stands for an unscored sample.

        >>> CoveredMean.of([1.0, 0.0, None, None])
        CoveredMean(scored=0.5, overall=0.25, unscored=0.5)
        """
        listed = list(values)
        known = [value for value in listed if value is not None]
        return cls.of_scored(math.fsum(known) / len(known) if known else None, len(known), len(listed) - len(known))

    @classmethod
    def of_scored(cls, mean: float | None, scored: int, unscored: int) -> "CoveredMean":
        """The mean of `scored` samples beside `unscored` further ones."""
        count = scored + unscored
        if not count:
            return cls(None, None)
        return cls(mean, (mean or 0.0) * (scored / count), unscored / count)

    @classmethod
    def from_metrics(cls, metrics: Mapping[str, float], name: str) -> "CoveredMean | None":
        """What `to_metrics` wrote; None where there is no such metric."""
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
