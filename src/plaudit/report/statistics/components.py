"""How much of what a policy learns from comes from each component of a reward.

Within groups, since only differences between responses to one prompt become advantages. The total R is taken as a sum
of weighted components r_k; the weights w_k are found by least squares on the deviations from the group's means, so a
scored file is enough. The share of a component is Cov(w_k r_k, R) / Var(R). The shares add up to the part of the
variance that a weighted sum explains: 1 for a weighted sum, less for gates, products and weights that change.
"""

import math

import numpy as np

from plaudit.report.figures import ComponentShare, ComponentShares
from plaudit.report.table import Floats, Samples, ratio

__all__ = ["component_shares"]

_TINY = 1e-9  # of a column's own spread: below it, the column is a combination of others, or constant


def component_shares(samples: Samples) -> ComponentShares:
    """The share of each component directly below the total, over the samples that have all of them."""
    names = samples.top_level
    complete = samples.scored.copy()
    for name in names:
        complete &= ~np.isnan(samples.components[name])
    groups = samples.comparable_among(complete)
    rewards = groups.deviations(samples.rewards)
    columns = np.stack([groups.deviations(samples.components[name]) for name in names] or [rewards[:0]], axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(rewards @ rewards)
        weights = _least_squares(columns, rewards) if names else {}
        shares = [
            ComponentShare(
                name,
                name in samples.judging,
                weights.get(index),
                None if index not in weights else ratio(weights[index] * float(columns[:, index] @ rewards), total),
            )
            for index, name in enumerate(names)
        ]
    known = [one.share for one in shares if one.share is not None]
    shares.sort(key=lambda one: -math.inf if one.share is None else one.share, reverse=True)
    return ComponentShares(tuple(shares), math.fsum(known) if known else None, len(groups.rows))


def _least_squares(columns: Floats, rewards: Floats) -> dict[int, float]:
    """The weight of each column, without columns that are constant or a combination of others."""
    sizes, rest = (columns**2).sum(axis=0), columns.copy()
    chosen: list[int] = []
    while len(chosen) < columns.shape[1]:
        left = np.nan_to_num((rest**2).sum(axis=0) / np.where(sizes > 0, sizes, np.nan), nan=0.0, posinf=0.0)
        left[chosen] = 0.0
        best = int(left.argmax())
        if left[best] <= _TINY:
            break
        chosen.append(best)
        direction = rest[:, best] / np.sqrt(rest[:, best] @ rest[:, best])
        rest = rest - np.outer(direction, direction @ rest)
    if not chosen:
        return {}
    weights = np.linalg.lstsq(columns[:, chosen], rewards, rcond=None)[0]
    return dict(zip(chosen, map(float, weights), strict=True))
