"""How a set of numbers is spread: moments, quantiles, ends, histogram.

Works up to the largest floats: numbers are scaled by a power of two before they are summed, which is exact.
"""

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from plaudit.report.coverage import CoveredMean

__all__ = ["MAX_BINS", "Bin", "Distribution", "make_bins", "quantile"]

MAX_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie in [low, high); the last bin includes its end, and a bin of one value has low == high."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """Statistics of the values of one column; `std` is that of the population, not of a sample.

    `at_min` and `at_max` are the shares of values at the two ends, `distinct` the number of different values. The
    bimodality coefficient is (skewness² + 1) / kurtosis with the population's moments (Sarle): 5/9 for an even spread,
    1 for two values; well above 5/9 suggests two humps. The three are None if all values are equal. `unscored` samples
    have no value: they count in `mean_all` alone, as 0.
    """

    count: int
    unscored: int
    mean: float
    mean_all: float
    std: float
    min: float
    p25: float
    p50: float
    p75: float
    max: float
    at_min: float
    at_max: float
    distinct: int
    skewness: float | None
    kurtosis: float | None
    bimodality: float | None
    bins: tuple[Bin, ...]

    @classmethod
    def of(cls, values: Iterable[float], unscored: int = 0) -> "Distribution | None":
        """The distribution of `values`, beside `unscored` samples without one; None when there are no values."""
        ordered = array("d", sorted(values))
        if not ordered:
            return None
        low, high, count = ordered[0], ordered[-1], len(ordered)
        mean, std, skewness, kurtosis = _moments(ordered)
        return cls(
            count=count,
            unscored=unscored,
            mean=mean,
            mean_all=mean * (count / (count + unscored)),
            std=std,
            min=low,
            p25=quantile(ordered, 0.25),
            p50=quantile(ordered, 0.5),
            p75=quantile(ordered, 0.75),
            max=high,
            at_min=bisect_right(ordered, low) / count,
            at_max=(count - bisect_left(ordered, high)) / count,
            distinct=1 + sum(one != other for one, other in pairwise(ordered)),
            skewness=skewness,
            kurtosis=kurtosis,
            bimodality=(skewness**2 + 1) / kurtosis if kurtosis and skewness is not None else None,
            bins=make_bins(ordered),
        )

    @property
    def covered_mean(self) -> CoveredMean:
        """The mean with its coverage."""
        return CoveredMean.of_scored(self.mean, self.count, self.unscored)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of the ordered values lie, linear between neighbours.

    >>> quantile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.5
    """
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = position - below
    return min(high, max(low, low * (1 - part) + high * part))  # rounding must not lead outside


def make_bins(ordered: Sequence[float]) -> tuple[Bin, ...]:
    """One bin per value where there are few values, else bins of equal width."""
    few = _few_values(ordered)
    if few is not None:
        return tuple(Bin(value, value, bisect_right(ordered, value) - bisect_left(ordered, value)) for value in few)
    low, high = ordered[0], ordered[-1]
    edges = [low * (1 - step / MAX_BINS) + high * (step / MAX_BINS) for step in range(MAX_BINS)] + [high]
    starts = [bisect_left(ordered, edge) for edge in edges[:-1]] + [len(ordered)]
    return tuple(Bin(edges[i], edges[i + 1], starts[i + 1] - starts[i]) for i in range(MAX_BINS))


def _few_values(ordered: Sequence[float]) -> list[float] | None:
    """The different values; None if there are more than bins."""
    values: list[float] = []
    start = 0
    while start < len(ordered):
        if len(values) == MAX_BINS:
            return None
        values.append(ordered[start])
        start = bisect_right(ordered, ordered[start], start)
    return values


def _moments(ordered: Sequence[float]) -> tuple[float, float, float | None, float | None]:
    """Mean, standard deviation, skewness and kurtosis."""
    low, high, count = ordered[0], ordered[-1], len(ordered)
    if low == high:
        return low, 0.0, None, None
    exponent = math.frexp(max(abs(low), abs(high)))[1]
    mean = math.fsum(math.ldexp(value, -exponent) for value in ordered) / count
    deviations = array("d", (math.ldexp(value, -exponent) - mean for value in ordered))
    variance = math.fsum(deviation * deviation for deviation in deviations) / count
    if not variance:  # so close together that their squares vanish
        return math.ldexp(mean, exponent), 0.0, None, None
    third, fourth = (math.fsum(deviation**power for deviation in deviations) / count for power in (3, 4))
    std = math.ldexp(math.sqrt(variance), exponent)
    return math.ldexp(mean, exponent), std, third / variance**1.5, fourth / variance**2 if variance**2 else None
