"""Combine rewards by name: products, extremes, ensembles, priorities.

Everything here returns an ordinary reward whose components keep their own values, statuses and reasons.
"""

from collections.abc import Sequence

from plaudit.contract import rules
from plaudit.contract.function import Combination, CompositeReward, NormalizedReward, Rewarding
from plaudit.contract.rules import Weight

__all__ = ["bonus", "cautious", "gdpo", "lexicographic", "maximum", "median", "minimum", "product"]


def product(*rewards: Rewarding) -> Combination:
    """The product of rewards: one zero makes it zero."""
    return Combination(rewards, rules.Product())


def minimum(*rewards: Rewarding) -> Combination:
    """The smallest of the rewards: as good as the worst part."""
    return Combination(rewards, rules.Minimum())


def maximum(*rewards: Rewarding) -> Combination:
    """The largest of the rewards: as good as the best part."""
    return Combination(rewards, rules.Maximum())


def median(*rewards: Rewarding) -> Combination:
    """The middle one of the rewards: one outlier among several judges does not count."""
    return Combination(rewards, rules.Median())


def cautious(*rewards: Rewarding, penalty: float = 1.0) -> Combination:
    """mean − penalty · standard deviation of an ensemble: disagreement costs."""
    return Combination(rewards, rules.Cautious(penalty))


def lexicographic(*rewards: Rewarding, resolution: float = 0.1) -> Combination:
    """Earlier rewards decide, later ones only break ties within `resolution`; all lie in [0, 1]."""
    return Combination(rewards, rules.Lexicographic(resolution))


def bonus(reward: Rewarding, extras: Sequence[tuple[Rewarding, float]]) -> Combination:
    """reward · (1 + Σ weight · extra): style counts only in proportion to being right."""
    weights = tuple(weight for _, weight in extras)
    return Combination([reward, *(extra for extra, _ in extras)], rules.Bonus(weights))


def gdpo(parts: Sequence[tuple[Rewarding, Weight]]) -> NormalizedReward:
    """A weighted sum whose parts are first normalised in their groups, then whitened over the batch (GDPO).

    Normalising each part keeps a reward of small spread from drowning beside one of large spread.
    """
    composite = CompositeReward(parts)
    normalized = [(part.normalized("group"), weight) for part, (_, weight) in zip(composite.parts, parts, strict=True)]
    return CompositeReward(normalized).normalized("zscore")
