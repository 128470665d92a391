"""How a run changes over its training steps: curves, and how far the last quarter differs from the first.

The population stability index is Σ (q − p) ln(q / p) over about ten bins between the tenths of the early values; the
Kolmogorov–Smirnov distance is max |F − G| of the two cumulative distributions. Both stay the same when values are
shifted and scaled, so rewards, lengths and components can be compared with each other. `shift` is the difference of the
means in standard deviations of the whole.
"""

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from plaudit.report.coverage import CoveredMean
from plaudit.report.distribution import quantile
from plaudit.report.statistics.signal import group_kind
from plaudit.report.statistics.table import NO_STEP, SampleTable, ratio, total

__all__ = ["Drift", "StepPoint", "ks_distance", "measure_drift", "stability_index", "step_curve"]

MAX_POINTS = 200
BINS = 10
_COMMON = 0.05
_LEAST = 20  # values on either side: with fewer, a drift says nothing


@dataclass(frozen=True, slots=True)
class StepPoint:
    """The samples of one training step, or of some in a row where there are many; means are None where none is known.

    `reward_all` and `score_all` are means over all samples, unscored ones as 0; `scored` is the share of the others.
    `dead` and `phantom` are shares of the groups with two scored samples or more.
    """

    first: int
    last: int
    count: int
    scored: float
    reward: float | None
    reward_all: float | None
    reward_std: float | None
    score: float | None
    score_all: float | None
    length: float
    dead: float | None
    phantom: float | None
    components: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Drift:
    """How far late values of one kind differ from early ones: the reward, the score, the length, or a component."""

    name: str
    component: bool
    early: float
    late: float
    shift: float | None
    psi: float
    ks: float


def step_curve(table: SampleTable) -> tuple[StepPoint, ...]:
    """The means of each training step; empty where samples have none."""
    steps = sorted(set(table.steps) - {NO_STEP})
    if not steps:
        return ()
    size = math.ceil(len(steps) / MAX_POINTS)
    place = {step: index // size for index, step in enumerate(steps)}
    parts: list[array[int]] = [array("q") for _ in range(math.ceil(len(steps) / size))]
    for row, step in enumerate(table.steps):
        if step != NO_STEP:
            parts[place[step]].append(row)
    kinds: list[list[str]] = [[] for _ in parts]
    for rows in table.by_group():
        if len(rows) > 1 and table.steps[rows[0]] != NO_STEP:
            kinds[place[table.steps[rows[0]]]].append(group_kind(table, rows))
    return tuple(
        _point(table, rows, kind, steps[index * size], steps[min((index + 1) * size, len(steps)) - 1])
        for index, (rows, kind) in enumerate(zip(parts, kinds, strict=True))
    )


def _point(table: SampleTable, rows: Sequence[int], kinds: Sequence[str], first: int, last: int) -> StepPoint:
    rewards = [table.rewards[row] for row in rows if table.is_scored(row)]
    mean = _mean(rewards)
    unscored = len(rows) - len(rewards)
    scores = [table.scores[row] for row in rows if not math.isnan(table.scores[row])]
    score = _mean(scores)
    spread = None if mean is None else ratio(total((each - mean) ** 2 for each in rewards), len(rewards))
    return StepPoint(
        first=first,
        last=last,
        count=len(rows),
        scored=len(rewards) / len(rows),
        reward=mean,
        reward_all=None if mean is None else CoveredMean.of_scored(mean, len(rewards), unscored).overall,
        reward_std=None if spread is None else math.sqrt(spread),
        score=score,
        score_all=None if score is None else CoveredMean.of_scored(score, len(scores), unscored).overall,
        length=total(table.lengths[row] for row in rows) / len(rows),
        dead=ratio(sum(kind.startswith("dead") for kind in kinds), len(kinds)),
        phantom=ratio(kinds.count("phantom"), len(kinds)),
        components={name: _mean([column[row] for row in rows]) for name, column in table.components.items()},
    )


def measure_drift(table: SampleTable) -> tuple[Drift, ...]:
    """How far the last quarter of the training steps differs from the first, the largest distance first.

    Empty where there are fewer than four steps; a column with few values on either side is left out.
    """
    steps = sorted(set(table.steps) - {NO_STEP})
    if len(steps) < 4:
        return ()
    quarter = len(steps) // 4
    first, last = steps[quarter - 1], steps[-quarter]
    own: list[tuple[str, Sequence[float]]] = [
        ("reward", table.rewards), ("score", table.scores), ("length", table.lengths),
    ]  # fmt: skip
    found = []
    for place, (name, column) in enumerate([*own, *table.components.items()]):
        early = [value for step, value in zip(table.steps, column, strict=True) if NO_STEP < step <= first]
        late = [value for step, value in zip(table.steps, column, strict=True) if step >= last]
        early, late = ([value for value in part if not math.isnan(value)] for part in (early, late))
        if min(len(early), len(late)) >= _LEAST:
            found.append(_drift(name, place >= len(own), sorted(early), sorted(late)))
    return tuple(sorted(found, key=lambda one: one.ks, reverse=True))


def _drift(name: str, component: bool, early: Sequence[float], late: Sequence[float]) -> Drift:
    before, after = total(early) / len(early), total(late) / len(late)
    mean = total(chain(early, late)) / (len(early) + len(late))
    spread = ratio(total((value - mean) ** 2 for value in chain(early, late)), len(early) + len(late))
    shift = ratio(after - before, math.sqrt(spread)) if spread else None
    return Drift(name, component, before, after, shift, stability_index(early, late), ks_distance(early, late))


def stability_index(early: Sequence[float], late: Sequence[float]) -> float:
    """The population stability index of two ordered lists; every bin gets half a value, so that none is empty.

    A value that a twentieth of the early ones share has a bin of its own: rewards are often just 0 or 1.
    """
    cuts: list[tuple[float, bool]] = []  # an edge, and whether the bin before it ends below or at it
    for edge in sorted({quantile(early, place / BINS) for place in range(1, BINS)}):
        common = bisect_right(early, edge) - bisect_left(early, edge) >= _COMMON * len(early)
        cuts += [(edge, False), (edge, True)] if common else [(edge, True)]
    shares = []
    for values in (early, late):
        places = [bisect_right(values, edge) if upper else bisect_left(values, edge) for edge, upper in cuts]
        counts = [end - start + 0.5 for start, end in pairwise([0, *places, len(values)])]
        shares.append([count / sum(counts) for count in counts])
    return math.fsum((q - p) * math.log(q / p) for p, q in zip(*shares, strict=True))


def ks_distance(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest difference of the cumulative distributions of two ordered lists.

    >>> ks_distance([1.0, 2.0], [3.0, 4.0])
    1.0
    """
    largest, i, j = 0.0, 0, 0
    while i < len(one) and j < len(other):
        place = min(one[i], other[j])
        while i < len(one) and one[i] <= place:
            i += 1
        while j < len(other) and other[j] <= place:
            j += 1
        largest = max(largest, abs(i / len(one) - j / len(other)))
    return largest


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not math.isnan(value)]
    return ratio(total(known), len(known))
