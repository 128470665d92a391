"""How well a reward model orders held-out pairs: accuracy, margins, calibration.

A Bradley–Terry model claims that the first response is better with probability σ(margin), the margin being the
difference of the two rewards. Calibration folds every pair to the response that the model prefers: its claim
σ(|margin|) is compared with how often that response was the chosen one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.report.coverage import wilson_interval
from plaudit.report.distribution import Distribution
from plaudit.training.reward_model.pair import PreferencePair

__all__ = [
    "Calibration", "CalibrationBin", "Estimate", "RatedPair", "accuracy_of", "calibrate", "estimate", "margins_of",
    "sigmoid",
]  # fmt: skip


BINS = 10


@dataclass(frozen=True, slots=True)
class RatedPair:
    """A pair and what a reward model gives both responses."""

    pair: PreferencePair
    chosen_reward: float
    rejected_reward: float

    @property
    def margin(self) -> float:
        """How much more the chosen response gets."""
        return self.chosen_reward - self.rejected_reward

    @property
    def right(self) -> float:
        """1 where the model agrees, 0 where it does not, and a half where both get the same."""
        return 0.5 if self.margin == 0 else float(self.margin > 0)

    @property
    def lengths(self) -> tuple[int, int]:
        """Characters of the chosen and of the rejected response."""
        return len(self.pair.chosen.response), len(self.pair.rejected.response)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of pairs with the bounds that hold the true one in 95 of 100 cases (Wilson's interval)."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Pairs about which the model is about equally sure: what it claims, and what is so."""

    low: float
    high: float
    claimed: float
    observed: Estimate


@dataclass(frozen=True, slots=True)
class Calibration:
    """Claims against observations; `error` is the expected calibration error, the mean distance over all pairs."""

    error: float
    bins: tuple[CalibrationBin, ...]


def accuracy_of(rated: Sequence[RatedPair]) -> Estimate | None:
    """The share of pairs that are ordered right; None if there are none."""
    return estimate(each.right for each in rated)


def estimate(values: Iterable[float]) -> Estimate | None:
    """The mean of values in [0, 1] with its interval; None if there are none."""
    listed = list(values)
    if not listed:
        return None
    mean = math.fsum(listed) / len(listed)
    return Estimate(mean, *wilson_interval(mean, len(listed)), len(listed))


def calibrate(rated: Sequence[RatedPair]) -> Calibration:
    """The calibration of the model's claims, in bins of claims from a half to one."""
    members: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for each in rated:
        claim = sigmoid(abs(each.margin))
        members[min(BINS - 1, int((claim - 0.5) * 2 * BINS))].append((claim, each.right))
    bins = []
    for index, claims in enumerate(members):
        observed = estimate(right for _, right in claims)
        if observed is not None:
            claimed = math.fsum(claim for claim, _ in claims) / len(claims)
            bins.append(CalibrationBin(0.5 + index / (2 * BINS), 0.5 + (index + 1) / (2 * BINS), claimed, observed))
    error = math.fsum(abs(each.claimed - each.observed.value) * each.observed.count for each in bins) / len(rated)
    return Calibration(error, tuple(bins))


def margins_of(rated: Sequence[RatedPair]) -> Distribution:
    """The distribution of the margins."""
    distribution = Distribution.of(each.margin for each in rated)
    assert distribution is not None, "a report is of at least one pair"
    return distribution


def sigmoid(value: float) -> float:
    """σ(value), without overflow."""
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else 1.0 - sigmoid(-value)
