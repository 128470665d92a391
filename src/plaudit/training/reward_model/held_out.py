"""How well a reward model orders held-out pairs: accuracy, margins, calibration, and whether it depends on length only.

A Bradley–Terry model claims that the first response is better with probability σ(margin), the margin being the
difference of the two rewards. Calibration compares its claim σ(|margin|) for the response that it prefers with how
often that response was the chosen one.

A model that only knows length is right on every pair whose chosen response is on the usual side (longer, say) and wrong
on every pair whose chosen one is on the other. So the accuracy is computed again with both sides counting the same:
that *controlled accuracy* is one half for such a model. Where nearly all pairs are on one side, the model scores edited
pairs: the longer response cut to the length of the shorter, and the shorter repeated to the length of the longer.
"""

import enum
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from plaudit.report.coverage import wilson_interval
from plaudit.training.reward_model.pair import PreferencePair
from plaudit.trajectory import Trajectory

BINS = 10


@dataclass(frozen=True, slots=True)
class RatedPair:
    """A pair with the rewards of both responses."""

    pair: PreferencePair
    chosen_reward: float
    rejected_reward: float

    @property
    def margin(self) -> float:
        """The rating of the chosen response minus that of the rejected one."""
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
    """Pairs with similar claimed probability: the mean claim and the observed accuracy."""

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


def sigmoid(value: float) -> float:
    """σ(value), without overflow."""
    return 1.0 / (1.0 + math.exp(-value)) if value >= 0 else 1.0 - sigmoid(-value)


MATCHED_WITHIN = 0.1
"""Responses are length-matched when they differ by at most this share of the longer one."""
MIN_PAIRS = 10
"""The least number of pairs against the usual direction of length that a judgement needs."""
BIASED_BELOW, LEANS_BELOW = 0.5, 0.8
"""Shares of the accuracy above chance that must remain once length is controlled: below the first a model is biased,
below the second it leans."""
Z = 1.96

Rate: TypeAlias = Callable[[Sequence[PreferencePair]], list[RatedPair]]
"""Asks the model about pairs."""


class LengthVerdict(enum.StrEnum):
    """Whether the accuracy of a model comes from length."""

    CLEAR = "not length-biased"
    LEANING = "leans on length"
    BIASED = "length-biased"
    CHANCE = "no better than chance"


@dataclass(frozen=True, slots=True)
class LengthReport:
    """How much of the accuracy is length. Lengths are characters of the responses."""

    verdict: LengthVerdict
    reason: str
    longer_share: float
    """The share of pairs whose chosen response is the longer one; pairs of one length count half. This is also the
    accuracy of the rule "longer wins"."""
    matched: Estimate | None
    """Accuracy on pairs whose lengths differ by at most a tenth."""
    chosen_longer: Estimate | None
    chosen_shorter: Estimate | None
    same_length: Estimate | None
    controlled: Estimate | None
    """Accuracy with both sides counting the same, or on edited pairs."""
    controlled_by: str
    """"pairs" or "edited pairs"."""
    cut: Estimate | None
    """Accuracy with the longer response cut to the length of the shorter; None if the pairs themselves determine it."""
    repeated: Estimate | None
    """Accuracy with the shorter response repeated to the length of the longer."""
    correlation: float | None
    """Of reward and length over all responses (Pearson); None if one of them does not vary."""
    difference_correlation: float | None
    """Of the margin and the difference of the lengths."""


def measure_length_bias(rated: Sequence[RatedPair], rate: Rate) -> LengthReport:
    """The relation of length and a model's accuracy on held-out pairs; `rate` scores edited pairs."""
    longer = [each for each in rated if each.lengths[0] > each.lengths[1]]
    shorter = [each for each in rated if each.lengths[0] < each.lengths[1]]
    same = [each for each in rated if each.lengths[0] == each.lengths[1]]
    sides = [accuracy_of(part) for part in (longer, shorter, same)]
    cut = repeated = None
    if len(same) + min(len(longer), len(shorter)) >= MIN_PAIRS:
        controlled, controlled_by = _balance(*sides), "pairs"
    else:
        cut = accuracy_of(rate([_resize(each.pair, min) for each in rated]))
        repeated = accuracy_of(rate([_resize(each.pair, max) for each in rated]))
        controlled, controlled_by = (
            min(filter(None, (cut, repeated)), key=lambda e: e.low, default=None),
            "edited pairs",
        )
    longer_share = (len(longer) + len(same) / 2) / len(rated)
    verdict, reason = _decide(accuracy_of(rated), controlled, controlled_by, longer_share)
    return LengthReport(
        verdict=verdict,
        reason=reason,
        longer_share=longer_share,
        matched=accuracy_of([each for each in rated if _is_matched(*each.lengths)]),
        chosen_longer=sides[0],
        chosen_shorter=sides[1],
        same_length=sides[2],
        controlled=controlled,
        controlled_by=controlled_by,
        cut=cut,
        repeated=repeated,
        correlation=_pearson(
            [length for each in rated for length in each.lengths],
            [reward for each in rated for reward in (each.chosen_reward, each.rejected_reward)],
        ),
        difference_correlation=_pearson(
            [each.lengths[0] - each.lengths[1] for each in rated], [each.margin for each in rated]
        ),
    )


def _balance(longer: Estimate | None, shorter: Estimate | None, same: Estimate | None) -> Estimate | None:
    """Accuracy with equal weight for longer and shorter chosen responses; pairs of equal length are not reweighted."""
    if longer is None or shorter is None:
        return same
    count = longer.count + shorter.count + (0 if same is None else same.count)
    weights = [
        (longer, (longer.count + shorter.count) / count / 2),
        (shorter, (longer.count + shorter.count) / count / 2),
    ]
    weights += [] if same is None else [(same, same.count / count)]
    value = math.fsum(part.value * weight for part, weight in weights)
    std_error = math.sqrt(math.fsum(weight * weight * _variance(part) for part, weight in weights))
    return Estimate(value, max(0.0, value - Z * std_error), min(1.0, value + Z * std_error), count)


def _variance(part: Estimate) -> float:
    """Of a share, estimated with two pairs of either kind added (Agresti and Coull 1998): not 0 where all are right."""
    centre = (part.value * part.count + 2) / (part.count + 4)
    return centre * (1 - centre) / (part.count + 4)


def _decide(
    accuracy: Estimate | None, controlled: Estimate | None, by: str, longer_share: float
) -> tuple[LengthVerdict, str]:
    if accuracy is None or accuracy.low <= 0.5:
        return (
            LengthVerdict.CHANCE,
            "the held-out accuracy is no better than guessing; train on more pairs, or longer",
        )
    side = "longer" if longer_share >= 0.5 else "shorter"
    rule = f'the rule "{side} wins" is right on {max(longer_share, 1 - longer_share):.0%} of the pairs'
    where = "once longer and shorter chosen responses count the same" if by == "pairs" else (
        "on pairs edited to one length, as nearly every chosen response is the " + side + " one"
    )  # fmt: skip
    if controlled is None:
        return LengthVerdict.BIASED, f"{rule}, and no pair separates preference from length"
    kept = (controlled.value - 0.5) / (accuracy.value - 0.5)
    summary = (
        f"accuracy {accuracy.value:.2f} is {controlled.value:.2f} [{controlled.low:.2f}, {controlled.high:.2f}] {where}"
    )
    if controlled.low <= 0.5 or kept < BIASED_BELOW:
        return LengthVerdict.BIASED, f"{summary}; {rule}"
    if kept < LEANS_BELOW:
        return LengthVerdict.LEANING, f"{summary}; {rule}"
    return LengthVerdict.CLEAR, summary


def _is_matched(first: int, second: int) -> bool:
    return abs(first - second) <= MATCHED_WITHIN * max(first, second)


def _resize(pair: PreferencePair, choose: Callable[[int, int], int]) -> PreferencePair:
    """Both responses cut or repeated to one of their lengths."""
    length = choose(len(pair.chosen.response), len(pair.rejected.response))
    return replace(pair, chosen=_set_length(pair.chosen, length), rejected=_set_length(pair.rejected, length))


def _set_length(trajectory: Trajectory, length: int) -> Trajectory:
    """The response cut or repeated to a length."""
    text = trajectory.response
    if len(text) < length:
        text = " ".join([text] * (length // (len(text) + 1) + 1))
    return msgspec.structs.replace(trajectory, response=text[:length])


def _pearson(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    try:
        return statistics.correlation(xs, ys)
    except statistics.StatisticsError:  # fewer than two values, or one side does not vary
        return None
