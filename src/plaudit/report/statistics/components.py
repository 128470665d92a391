"""How much of what a policy learns from comes from each component of a reward.

Within groups, since only differences between responses to one prompt become advantages. The total R is taken as a sum
of weighted components r_k; the weights w_k are found by least squares on the deviations from the group's means, so a
scored file is enough. The share of a component is Cov(w_k r_k, R) / Var(R). The shares add up to the part of the
variance that a weighted sum explains: 1 for a weighted sum, less for gates, products and weights that change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.report.statistics.table import SampleTable, deviations, ratio

__all__ = ["ComponentShare", "ComponentShares", "component_shares"]

_TINY = 1e-9  # of a column's own spread: below it, the column is a combination of others, or constant


@dataclass(frozen=True, slots=True)
class ComponentShare:
    """One component: its weight and its share of the variance of the reward within groups; None where unknown.

    It `judges` when it gives scores.
    """

    name: str
    judges: bool
    weight: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class ComponentShares:
    """The components, largest share first; `explained` is the sum of the shares, `samples` those with every component.

    `explained` is None where rewards do not vary within groups.
    """

    components: tuple[ComponentShare, ...]
    explained: float | None
    samples: int


def component_shares(table: SampleTable) -> ComponentShares:
    """The share of each component directly below the total."""
    names = list(table.components)
    columns = [table.components[name] for name in names]
    products = _Products(len(names))
    for group in table.comparable():
        rows = [row for row in group if not any(math.isnan(column[row]) for column in columns)]
        if len(rows) > 1:
            products.add([deviations(column, rows) for column in columns], deviations(table.rewards, rows))
    weights = _least_squares(products.inner, products.with_total)
    shares = [
        ComponentShare(
            name, name in table.judging, weight, None if weight is None else ratio(weight * covariance, products.total)
        )
        for name, weight, covariance in zip(names, weights, products.with_total, strict=True)
    ]
    known = [one.share for one in shares if one.share is not None]
    shares.sort(key=lambda one: -math.inf if one.share is None else one.share, reverse=True)
    return ComponentShares(tuple(shares), math.fsum(known) if known else None, products.samples)


class _Products:
    """Sums of products of the columns with each other and with the total."""

    def __init__(self, size: int) -> None:
        self.inner = [[0.0] * size for _ in range(size)]
        self.with_total = [0.0] * size
        self.total = 0.0
        self.samples = 0

    def add(self, columns: Sequence[Sequence[float]], total: Sequence[float]) -> None:
        self.samples += len(total)
        self.total += _dot(total, total)
        for i, column in enumerate(columns):
            self.with_total[i] += _dot(column, total)
            for j in range(i + 1):
                self.inner[i][j] += _dot(column, columns[j])
                self.inner[j][i] = self.inner[i][j]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _least_squares(inner: Sequence[Sequence[float]], right: Sequence[float]) -> list[float | None]:
    """The weights that solve the normal equations; None for columns that tell nothing which others do not."""
    size = len(right)
    rows = [[*inner[i], right[i]] for i in range(size)]
    free = set(range(size))
    pivots: list[int] = []
    while free:
        pivot = max(free, key=lambda i: rows[i][i] / inner[i][i] if inner[i][i] > 0 else 0.0)
        if not inner[pivot][pivot] > 0 or rows[pivot][pivot] <= _TINY * inner[pivot][pivot]:
            break
        free.discard(pivot)
        pivots.append(pivot)
        for i in range(size):
            if i != pivot:
                factor = rows[i][pivot] / rows[pivot][pivot]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[pivot], strict=True)]
    return [rows[i][size] / rows[i][i] if i in pivots else None for i in range(size)]
