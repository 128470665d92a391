"""What a policy would learn from each of two rewards: the order of the samples in a group, and their advantages.

Advantages are those of GRPO: reward less the mean of its group, over its deviation. A group in which all rewards are
equal is dead: it teaches nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["GroupDifference", "compare_group", "merge_groups"]

DEAD_SPREAD = 1e-9


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Over all groups of two samples or more.

    `order_agreement` is the share of pairs that both rewards order alike, among pairs that at least one of them orders;
    `advantage_cosine` is that of all advantages together. None where neither reward tells any samples apart.
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
    """What one group adds to the figures."""

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
    """How many pairs at least one reward orders, and how many both order alike."""
    ordered = agreed = 0
    for first in range(len(old)):
        for second in range(first + 1, len(old)):
            signs = [_sign(values[first] - values[second]) for values in (old, new)]
            ordered += any(signs)
            agreed += signs[0] == signs[1] != 0
    return ordered, agreed


def _sign(difference: float) -> int:
    return (difference > DEAD_SPREAD) - (difference < -DEAD_SPREAD)


def _advantages(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    if max(values) - min(values) <= DEAD_SPREAD or not deviation:
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in values]
