"""Compare the learning signal of two rewards: the order of the samples in a group, and their advantages.

Advantages are those of GRPO: reward less the mean of its group, over its deviation. A group in which all rewards are
equal is dead: it gives no gradient.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

__all__ = ["DEAD_SPREAD", "GroupDifference", "compare_group", "merge_groups"]

DEAD_SPREAD = 1e-9
"""Rewards of a group that differ by no more than this teach nothing."""


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Over all groups of two samples or more.

    `order_agreement` is the share of pairs that both rewards order alike, among pairs that at least one of them orders;
    `advantage_cosine` is that of all advantages together. None if neither reward tells any samples apart.
    """

    compared: int
    dead_old: int
    dead_new: int
    dead_gained: int
    dead_lost: int
    order_agreement: float | None
    advantage_cosine: float | None


@dataclass(frozen=True, slots=True)
class GroupSums:
    """The contribution of one group to the figures."""

    dead_old: bool
    dead_new: bool
    ordered: int
    agreed: int
    product: float
    squares_old: float
    squares_new: float


def compare_group(old: Sequence[float], new: Sequence[float]) -> GroupSums | None:
    """The sums of one group; None for a group of one."""
    if len(old) < 2:
        return None
    ordered, agreed = _compare_pairs(old, new)
    left, right = _advantages(old), _advantages(new)
    return GroupSums(
        dead_old=not any(left),
        dead_new=not any(right),
        ordered=ordered,
        agreed=agreed,
        product=math.fsum(a * b for a, b in zip(left, right, strict=True)),
        squares_old=math.fsum(a * a for a in left),
        squares_new=math.fsum(b * b for b in right),
    )


def merge_groups(groups: Sequence[GroupSums | None]) -> GroupDifference:
    """The figures of all groups together."""
    known = [group for group in groups if group is not None]
    ordered, agreed = sum(group.ordered for group in known), sum(group.agreed for group in known)
    lengths = [math.sqrt(math.fsum(getattr(group, name) for group in known)) for name in ("squares_old", "squares_new")]
    product = math.fsum(group.product for group in known)
    return GroupDifference(
        compared=len(known),
        dead_old=sum(group.dead_old for group in known),
        dead_new=sum(group.dead_new for group in known),
        dead_gained=sum(group.dead_new and not group.dead_old for group in known),
        dead_lost=sum(group.dead_old and not group.dead_new for group in known),
        order_agreement=agreed / ordered if ordered else None,
        advantage_cosine=max(-1.0, min(1.0, product / (lengths[0] * lengths[1]))) if all(lengths) else None,
    )


def _compare_pairs(old: Sequence[float], new: Sequence[float]) -> tuple[int, int]:
    """How many pairs at least one reward orders, and how many both order alike.

    Samples are taken from the lowest old rank on, and each counts those below it by the new rank among the ones taken:
    a tree of sums (Fenwick 1994), so that a group may have any size.
    """
    ranks = sorted(zip(_ranks(old), _ranks(new), strict=True))
    equal = sum(count * (count - 1) // 2 for count in Counter(ranks).values())
    sums = [0] * (len(ranks) + 1)
    agreed = 0
    for _, listed in groupby(ranks, key=lambda pair: pair[0]):
        tied = [rank for _, rank in listed]
        agreed += sum(_sum_below(sums, rank) for rank in tied)
        for rank in tied:
            _add_one(sums, rank)
    return len(ranks) * (len(ranks) - 1) // 2 - equal, agreed


def _ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value, from 0; those that hardly differ from the next lower one share it."""
    ranks, rank, before = [0] * len(values), 0, -math.inf
    for index in sorted(range(len(values)), key=values.__getitem__):
        rank += before > -math.inf and values[index] - before > DEAD_SPREAD
        ranks[index], before = rank, values[index]
    return ranks


def _sum_below(sums: Sequence[int], rank: int) -> int:
    total = 0
    while rank > 0:
        total += sums[rank]
        rank -= rank & -rank
    return total


def _add_one(sums: list[int], rank: int) -> None:
    rank += 1
    while rank < len(sums):
        sums[rank] += 1
        rank += rank & -rank


def _advantages(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    if max(values) - min(values) <= DEAD_SPREAD or not deviation:
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in values]
