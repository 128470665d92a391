"""How a set of numbers is spread: moments, quantiles, ends, histogram.

Works up to the largest floats: numbers are scaled by a power of two before they are summed, which is exact.
"""

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.report.coverage import CoveredMean

__all__ = ["MAX_BINS", "Bin", "Distribution", "make_bins", "quantile", "wilson_interval"]

MAX_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie in [low, high); the last bin includes its end, and a bin of one value has low == high."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """What is worth knowing about the values of one column; `std` is that of the whole, not of a sample of it.

    `at_min` and `at_max` are the shares of values at the two ends. `skewness` is None where all values are equal.
    `unscored` samples have no value: they count in `mean_all` alone, as 0.
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
    skewness: float | None
    bins: tuple[Bin, ...]

    @classmethod
    def of(cls, values: Iterable[float], unscored: int = 0) -> "Distribution | None":
        """The distribution of `values`, beside `unscored` samples without one; None when there are no values."""
        ordered = array("d", sorted(values))
        if not ordered:
            return None
        low, high, count = ordered[0], ordered[-1], len(ordered)
        mean, std, skewness = _moments(ordered)
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
            skewness=skewness,
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
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = place - below
    return min(high, max(low, low * (1 - part) + high * part))  # rounding must not lead outside


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
    found: list[float] = []
    place = 0
    while place < len(ordered):
        if len(found) == MAX_BINS:
            return None
        found.append(ordered[place])
        place = bisect_right(ordered, ordered[place], place)
    return found


def _moments(ordered: Sequence[float]) -> tuple[float, float, float | None]:
    """Mean, standard deviation and skewness."""
    low, high, count = ordered[0], ordered[-1], len(ordered)
    if low == high:
        return low, 0.0, None
    exponent = math.frexp(max(abs(low), abs(high)))[1]
    mean = math.fsum(math.ldexp(value, -exponent) for value in ordered) / count
    deviations = array("d", (math.ldexp(value, -exponent) - mean for value in ordered))
    variance = math.fsum(deviation * deviation for deviation in deviations) / count
    if not variance:  # so close together that their squares vanish
        return math.ldexp(mean, exponent), 0.0, None
    cubes = math.fsum(deviation**3 for deviation in deviations) / count
    return math.ldexp(mean, exponent), math.ldexp(math.sqrt(variance), exponent), cubes / variance**1.5
