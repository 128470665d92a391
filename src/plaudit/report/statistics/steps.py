"""How a run changes over its training steps: curves, and how far the last quarter differs from the first.

The Kolmogorov–Smirnov distance is max |F − G| of the two cumulative distributions. It stays the same when values are
shifted and scaled, so rewards, lengths and components can be compared with each other. `shift` is the difference of the
means in standard deviations of the whole.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from plaudit.report.coverage import CoveredMean
from plaudit.report.figures import Drift, StepPoint
from plaudit.report.statistics.groups import PHANTOM, group_kinds
from plaudit.report.table import NO_STEP, Floats, Integers, Samples, ratio, without_nan

MAX_POINTS = 200
_LEAST = 20  # the least number of values on either side


def step_curve(samples: Samples) -> tuple[StepPoint, ...]:
    """The means of each training step; empty if samples have none."""
    rows = np.flatnonzero(samples.steps != NO_STEP)
    steps, step_index = np.unique(samples.steps[rows], return_inverse=True)
    if not len(steps):
        return ()
    size = math.ceil(len(steps) / MAX_POINTS)
    point = np.full(len(samples.steps), -1)
    point[rows] = step_index // size
    groups = samples.compared_groups
    kinds, group_point = group_kinds(samples, groups), point[groups.rows[groups.starts]]
    return tuple(
        _point(samples, np.flatnonzero(point == index), kinds[group_point == index], part[0], part[-1])
        for index, part in enumerate(np.split(steps, range(size, len(steps), size)))
    )


def _point(samples: Samples, rows: Integers, kinds: Integers, first: np.int64, last: np.int64) -> StepPoint:
    rewards, scores = (without_nan(column[rows]) for column in (samples.rewards, samples.scores))
    unscored = len(rows) - len(rewards)
    reward, score = _mean(rewards), _mean(scores)
    with np.errstate(over="ignore"):
        variance = None if reward is None else ratio(((rewards - reward) ** 2).sum(), len(rewards))
    return StepPoint(
        first=int(first),
        last=int(last),
        count=len(rows),
        scored=len(rewards) / len(rows),
        reward=reward,
        reward_all=None if reward is None else CoveredMean.of_scored(reward, len(rewards), unscored).overall,
        reward_std=None if variance is None else math.sqrt(variance),
        score=score,
        score_all=None if score is None else CoveredMean.of_scored(score, len(scores), unscored).overall,
        length=float(samples.lengths[rows].mean()),
        dead=ratio((kinds > PHANTOM).sum(), len(kinds)),
        phantom=ratio((kinds == PHANTOM).sum(), len(kinds)),
        components={name: _mean(without_nan(samples.components[name][rows])) for name in samples.top_level},
    )


def quarters(steps: Integers) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which rows are of the first and of the last quarter of the training steps; none if there are fewer than four."""
    known = np.unique(steps[steps != NO_STEP])
    if len(known) < 4:
        return np.zeros(len(steps), dtype=bool), np.zeros(len(steps), dtype=bool)
    quarter = len(known) // 4
    return (steps != NO_STEP) & (steps <= known[quarter - 1]), steps >= known[-quarter]


def measure_drift(samples: Samples) -> tuple[Drift, ...]:
    """How far the last quarter of the training steps differs from the first, the largest distance first.

    Empty if there are fewer than four steps; a column with few values on either side is left out.
    """
    in_early, in_late = quarters(samples.steps)
    columns = [("reward", False, samples.rewards), ("score", False, samples.scores), ("length", False, samples.lengths)]
    columns += [(name, True, samples.components[name]) for name in samples.top_level]
    drifts = []
    for name, component, column in columns:
        early, late = np.sort(without_nan(column[in_early])), np.sort(without_nan(column[in_late]))
        if min(len(early), len(late)) >= _LEAST:
            drifts.append(_drift(name, component, early, late))
    return tuple(sorted(drifts, key=lambda one: one.ks, reverse=True))


def _drift(name: str, component: bool, early: Floats, late: Floats) -> Drift:
    with np.errstate(over="ignore", invalid="ignore"):
        before, after, std = early.mean(), late.mean(), float(np.concatenate([early, late]).std())
        shift = ratio(after - before, std)
    return Drift(name, component, float(before), float(after), shift, ks_distance(early, late))


def ks_distance(one: Sequence[float] | Floats, other: Sequence[float] | Floats) -> float:
    """The largest difference of the cumulative distributions of two ordered lists.

    >>> ks_distance([1.0, 2.0], [3.0, 4.0])
    1.0
    """
    values = np.concatenate([one, other])
    shares = (np.searchsorted(each, values, "right") / len(each) for each in (one, other))
    return float(np.abs(np.subtract(*shares)).max())


def _mean(values: Floats) -> float | None:
    with np.errstate(over="ignore"):
        return ratio(values.sum(), len(values))
