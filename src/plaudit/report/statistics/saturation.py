"""Whether a reward still tells responses apart: values at its ends, distinct values, one hump or two.

The bimodality coefficient is (skewness² + 1) / kurtosis with the population's moments (Sarle): 5/9 for an even spread,
1 for two values; well above 5/9 suggests two humps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.report.statistics.table import SampleTable, ratio, total

__all__ = ["Saturation", "measure_saturation"]


@dataclass(frozen=True, slots=True)
class Saturation:
    """The values of the reward or of a component: the shares at the lowest and the highest one, and their shape."""

    name: str
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
    columns = {"reward": table.rewards, **table.components}
    known = ((name, [value for value in column if not math.isnan(value)]) for name, column in columns.items())
    return tuple(_saturation(name, values) for name, values in known if values)


def _saturation(name: str, values: Sequence[float]) -> Saturation:
    low, high, count = min(values), max(values), len(values)
    kurtosis, bimodality = _shape(values) if low < high else (None, None)
    return Saturation(
        name=name,
        count=count,
        low=low,
        high=high,
        at_low=values.count(low) / count,
        at_high=values.count(high) / count,
        distinct=len(set(values)),
        kurtosis=kurtosis,
        bimodality=bimodality,
    )


def _shape(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Kurtosis and bimodality, of values scaled to at most 1, so that their fourth powers are numbers too."""
    scale = max(abs(min(values)), abs(max(values)))
    scaled = [value / scale for value in values]
    mean = total(scaled) / len(scaled)
    second, third, fourth = (total((value - mean) ** power for value in scaled) / len(scaled) for power in (2, 3, 4))
    kurtosis, skewness = ratio(fourth, second * second), ratio(third, second**1.5)
    if not kurtosis or skewness is None:
        return None, None
    return kurtosis, (skewness * skewness + 1) / kurtosis
