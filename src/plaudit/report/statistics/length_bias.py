"""Whether longer responses earn more, within groups, so that hard prompts with long answers do not feign it.

The correlation is Σ xy / √(Σ x² Σ y²) with x and y the deviations of length and reward from the mean of their group;
among right (or wrong) responses, from the mean of the right (wrong) ones of the group. Intervals leave out one group at
a time (the jackknife), so that responses to one prompt do not count as independent.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from plaudit.report.statistics.table import SampleTable, deviations, total

__all__ = ["Correlation", "LengthBias", "LengthBin", "length_bias"]

BINS = 8
MOST_POINTS = 200_000
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation with bounds that hold the true one 95 times of 100, from `groups` groups of `samples` samples."""

    value: float
    low: float
    high: float
    samples: int
    groups: int


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Responses of about one length relative to the mean of their group (0.1: a tenth longer), and what they earn:
    the mean deviation from the group's reward, in standard deviations within groups."""

    low: float
    high: float
    reward: float
    count: int


@dataclass(frozen=True, slots=True)
class LengthBias:
    """Correlation of length (in characters) and reward; None where one of them does not vary."""

    overall: Correlation | None
    right: Correlation | None
    wrong: Correlation | None
    bins: tuple[LengthBin, ...]


def length_bias(table: SampleTable) -> LengthBias:
    """How reward goes with length within the groups of a run."""
    return LengthBias(
        overall=_correlation(table, table.comparable()),
        right=_correlation(table, _split(table, right=True)),
        wrong=_correlation(table, _split(table, right=False)),
        bins=_bins(table),
    )


def _split(table: SampleTable, *, right: bool) -> Iterator[list[int]]:
    parts = ([row for row in rows if table.is_right(row) is right] for rows in table.comparable())
    return (rows for rows in parts if len(rows) > 1)


def _correlation(table: SampleTable, groups: Iterable[Sequence[int]]) -> Correlation | None:
    xx, yy, xy = array("d"), array("d"), array("d")
    samples = 0
    for rows in groups:
        lengths, rewards = deviations(table.lengths, rows), deviations(table.rewards, rows)
        samples += len(rows)
        xx.append(sum(x * x for x in lengths))
        yy.append(sum(y * y for y in rewards))
        xy.append(sum(x * y for x, y in zip(lengths, rewards, strict=True)))
    sums = total(xx), total(yy), total(xy)
    value = _coefficient(*sums)
    if value is None:
        return None
    without = (_coefficient(sums[0] - x, sums[1] - y, sums[2] - both) for x, y, both in zip(xx, yy, xy, strict=True))
    known = array("d", (each for each in without if each is not None))
    reach = 1.0
    if len(known) > 1:
        mean = total(known) / len(known)
        reach = _Z * math.sqrt((len(known) - 1) / len(known) * total((each - mean) ** 2 for each in known))
    return Correlation(value, max(-1.0, value - reach), min(1.0, value + reach), samples, len(xx))


def _coefficient(xx: float, yy: float, xy: float) -> float | None:
    scale = math.sqrt(max(xx, 0.0)) * math.sqrt(max(yy, 0.0))
    if not 0.0 < scale < math.inf:
        return None  # constant, or beyond what floats can square
    return max(-1.0, min(1.0, xy / scale))


def _bins(table: SampleTable) -> tuple[LengthBin, ...]:
    points: list[tuple[float, float]] = []
    for rows in islice(table.comparable(), 0, None, 1 + len(table) // MOST_POINTS):
        mean = total(table.lengths[row] for row in rows) / len(rows)
        if mean:
            rewards = deviations(table.rewards, rows)
            points += [(table.lengths[row] / mean - 1.0, each) for row, each in zip(rows, rewards, strict=True)]
    spread = math.sqrt(total(each * each for _, each in points) / len(points)) if points else 0.0
    if not 0.0 < spread < math.inf:
        return ()
    points.sort()
    lengths = [length for length, _ in points]  # equal ones go into one bin, whatever they earn
    edges = sorted({bisect_left(lengths, lengths[len(points) * place // BINS]) for place in range(BINS)})
    parts = [points[start:end] for start, end in pairwise([*edges, len(points)])]
    return tuple(
        LengthBin(part[0][0], part[-1][0], total(each for _, each in part) / len(part) / spread, len(part))
        for part in parts
    )
