"""Whether a reward still tells responses apart: values at its ends, distinct values, one hump or two.

The bimodality coefficient is (skewness² + 1) / kurtosis with the population's moments (Sarle): 5/9 for an even spread,
1 for two values; well above 5/9 suggests two humps.
"""

import math
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise

from plaudit.report.statistics.table import SampleTable, ratio, total

__all__ = ["Saturation", "measure_saturation"]


@dataclass(frozen=True, slots=True)
class Saturation:
    """The values of the reward or of a component: the shares at the lowest and the highest one, and their shape."""

    name: str
    component: bool
    count: int
    low: float
    high: float
    at_low: float
    at_high: float
    distinct: int
    kurtosis: float | None
    bimodality: float | None


def measure_saturation(table: SampleTable) -> tuple[Saturation, ...]:
    """Saturation of the reward, then of each component; those without any value are left out."""
    columns = [("reward", False, table.rewards), *((name, True, column) for name, column in table.components.items())]
    return tuple(
        _saturation(name, component, ordered)
        for name, component, column in columns
        if (ordered := array("d", sorted(value for value in column if not math.isnan(value))))
    )


def _saturation(name: str, component: bool, ordered: "array[float]") -> Saturation:
    low, high, count = ordered[0], ordered[-1], len(ordered)
    kurtosis, bimodality = _shape(ordered) if low < high else (None, None)
    return Saturation(
        name=name,
        component=component,
        count=count,
        low=low,
        high=high,
        at_low=bisect_right(ordered, low) / count,
        at_high=(count - bisect_left(ordered, high)) / count,
        distinct=1 + sum(one != other for one, other in pairwise(ordered)),
        kurtosis=kurtosis,
        bimodality=bimodality,
    )


def _shape(ordered: "array[float]") -> tuple[float | None, float | None]:
    """Kurtosis and bimodality, of values scaled to at most 1, so that their fourth powers are numbers too."""
    scale, count = max(abs(ordered[0]), abs(ordered[-1])), len(ordered)
    mean = total(value / scale for value in ordered) / count
    second, third, fourth = (total((value / scale - mean) ** power for value in ordered) / count for power in (2, 3, 4))
    kurtosis, skewness = ratio(fourth, second * second), ratio(third, second**1.5)
    if not kurtosis or skewness is None:
        return None, None
    return kurtosis, (skewness * skewness + 1) / kurtosis
