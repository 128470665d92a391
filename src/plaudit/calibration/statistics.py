"""Agreement of a judge with people, means corrected for its measured errors, and tests of its biases.

All intervals of agreement are quantiles of draws from the Jeffreys posterior of the four shares (judge yes or no,
people yes or no), which is a Dirichlet distribution; so they neither collapse where all agree nor leave the range of
the quantity.

A share p of good responses is seen by the judge as q = p · sensitivity + (1 - p) · (1 - specificity). Rogan and Gladen
(1978) solve this for p. Where sensitivity + specificity is not shown to exceed 1, the judge's verdicts say nothing
about p, and there is no corrected mean.

Tests are of the hypothesis that a judge treats two versions of a response alike. `flip_test` is exact: if the two
versions of each pair are exchangeable for the judge, each difference is as likely with either sign. `owner_test`
ranks the ratings among responses of equal label, so that a wrong label counts no more than any other response, and
permutes what length and markup leave unexplained of the ranks (Freedman and Lane 1983). Holm's correction keeps the
probability of one or more false alarms among all tests of a calibration below ALPHA.

A test that finds nothing says only that an effect above the smallest detectable one is improbable. That is the effect
which a test finds with probability POWER, even if the correction is the strictest one.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.errors import InvalidSettings

LEAST_LABELS = 20
DRAWS = 20_000
LEVEL = 0.95
CHANCE = 0.01
"""The highest probability of being no better than chance with which a judge still counts as informative."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, draws: Floats) -> "Measure":
        """The estimate and the middle 95 % of the draws; the estimate always lies within."""
        low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        return cls(value, min(low, value), max(high, value))

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a judge and people on one criterion; the first word of a count is the judge's verdict."""

    criterion: str
    yes_yes: int
    yes_no: int
    no_yes: int
    no_no: int
    unanswered: int
    """Labelled samples on which the judge gave no verdict; they are in no figure."""
    kappa: Measure
    """Cohen's κ: agreement beyond that of two independent raters with the same base rates."""
    accuracy: Measure
    sensitivity: Measure
    """Of the responses that people accept, the share that the judge accepts."""
    specificity: Measure
    """Of the responses that people reject, the share that the judge rejects."""
    base_rate: Measure
    """The share that people accept."""
    judge_rate: Measure
    """The share of the same responses that the judge accepts."""
    informedness: Measure
    """Sensitivity + specificity - 1: 0 for a judge whose verdicts do not depend on the response."""
    chance: float
    """The probability that the judge is no better than chance."""

    @property
    def count(self) -> int:
        """The number of responses with a label and a verdict."""
        return self.yes_yes + self.yes_no + self.no_yes + self.no_no

    @property
    def informative(self) -> bool:
        """Whether the judge is shown to be better than chance."""
        return self.chance < CHANCE


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The share of accepted responses as the judge sees it, and corrected for its errors (None: not identifiable)."""

    criterion: str
    judged: int
    unanswered: int
    raw: float
    corrected: Measure | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        corrected = "not identifiable" if self.corrected is None else asdict(self.corrected)
        return {**asdict(self), "corrected": corrected}


def measure_agreement(criterion: str, pairs: Sequence[tuple[bool | None, bool]]) -> Agreement:
    """The agreement of verdicts (None: unanswered) with labels; an error where there is too little to measure it."""
    answered = [pair for pair in pairs if pair[0] is not None]
    labels = [label for _, label in answered]
    if len(labels) < LEAST_LABELS:
        rest = f" ({len(pairs) - len(answered)} more have no verdict)" if len(pairs) > len(answered) else ""
        raise InvalidSettings(
            f"{criterion}: {len(labels)} labels with a verdict{rest}; agreement needs at least {LEAST_LABELS}: "
            "label more responses (--page writes the page for it)"
        )
    if len(set(labels)) == 1:
        raise InvalidSettings(
            f"{criterion}: all {len(labels)} labels say {'yes' if labels[0] else 'no'}; agreement needs responses of "
            "both kinds: label more, or add responses of the other kind to the rollouts"
        )
    cells = [answered.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))]
    draws = _measures(_posterior(cells))
    values = _measures(np.array([cells]) / len(answered))
    kappa, accuracy, sensitivity, specificity, base_rate, judge_rate, informedness = (
        Measure.of(float(value[0]), drawn) for value, drawn in zip(values, draws, strict=True)
    )
    return Agreement(
        criterion, cells[0], cells[1], cells[2], cells[3], len(pairs) - len(answered),
        kappa, accuracy, sensitivity, specificity, base_rate, judge_rate, informedness,
        chance=float((draws[-1] <= 0).mean()),
    )  # fmt: skip


def correct_mean(agreement: Agreement, verdicts: Sequence[bool | None]) -> CorrectedMean:
    """The share of accepted responses among all that were judged, corrected for the judge's measured errors."""
    judged = [verdict for verdict in verdicts if verdict is not None]
    accepted = sum(judged)
    raw = accepted / len(judged) if judged else float("nan")
    unanswered = len(verdicts) - len(judged)
    if not agreement.informative or not judged:
        return CorrectedMean(agreement.criterion, len(judged), unanswered, raw, None)
    cells = [agreement.yes_yes, agreement.yes_no, agreement.no_yes, agreement.no_no]
    _, _, sensitivity, specificity, *_ = _measures(_posterior(cells))
    seen = np.random.default_rng(1).beta(accepted + 0.5, len(judged) - accepted + 0.5, DRAWS)
    known = sensitivity + specificity > 1
    draws = _rogan_gladen(seen[known], sensitivity[known], specificity[known])
    value = _rogan_gladen(
        np.array([raw]), np.array([agreement.sensitivity.value]), np.array([agreement.specificity.value])
    )
    return CorrectedMean(agreement.criterion, len(judged), unanswered, raw, Measure.of(float(value[0]), draws))


def _rogan_gladen(seen: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    return np.clip((seen + specificity - 1) / (sensitivity + specificity - 1), 0.0, 1.0)


def _posterior(cells: Sequence[int]) -> Floats:
    return np.random.default_rng(0).dirichlet(np.array(cells) + 0.5, DRAWS)


def _measures(shares: Floats) -> tuple[Floats, ...]:
    """κ, accuracy, sensitivity, specificity, both base rates and informedness of rows of cell shares."""
    yes_yes, yes_no, no_yes, no_no = shares.T
    accuracy, base, judge = yes_yes + no_no, yes_yes + no_yes, yes_yes + yes_no
    chance = base * judge + (1 - base) * (1 - judge)
    sensitivity, specificity = yes_yes / base, no_no / (1 - base)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = np.where(chance < 1, (accuracy - chance) / (1 - chance), 0.0)
    return kappa, accuracy, sensitivity, specificity, base, judge, sensitivity + specificity - 1


ALPHA = 0.01
"""The probability of one or more false findings in a calibration of a judge without faults."""
LEAST_EFFECT = 0.02
"""Effects below this share of the scale are not reported as findings, however certain they are."""
BINNED = 96
"""From how many responses on the length is also taken in bins: fewer would lose too much certainty by that."""
LEAST_PAIRS = 10
"""With fewer pairs no result could be certain enough after the correction."""
PERMUTATIONS = 10_000
POWER, MOST_TESTS = 0.8, 10
"""How probable it is that a test finds the smallest effect that it can detect, and among how many tests."""
_EXACT = 14
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One test: the mean effect, and how probable an effect as large is without a fault of the judge."""

    kind: str
    pairs: int
    unanswered: int = 0
    effect: Measure | None = None
    """The mean difference as a share of the scale; None if it was not tested."""
    p: float = 1.0
    corrected_p: float = 1.0
    detectable: float | None = None
    """The smallest effect that this test would find with probability POWER, as a share of the scale."""
    note: str = ""
    """The meaning of the effect's sign, or the reason why there was no test."""
    witness: dict[str, Any] | None = None

    @property
    def is_finding(self) -> bool:
        """Whether this is a finding: certain after the correction, and large enough to matter."""
        return self.effect is not None and self.corrected_p < ALPHA and abs(self.effect.value) >= LEAST_EFFECT


def flip_test(differences: Sequence[float], *, one_sided: bool = False) -> tuple[Measure | None, float]:
    """The mean difference with an interval, and the p-value of random signs; None with too few pairs."""
    if len(differences) < LEAST_PAIRS:
        return None, 1.0
    values = np.array(differences)
    generator = np.random.default_rng(0)
    means = generator.choice(values, (2000, len(values))).mean(axis=1)
    effect = Measure.of(float(values.mean()), means)
    moved = values[np.abs(values) > _NOTHING]
    if len(moved) <= _EXACT:
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(moved))))
        return effect, _share_beyond(signs @ moved, moved.sum(), one_sided=one_sided, exact=True)
    signs = generator.choice([-1.0, 1.0], (PERMUTATIONS, len(moved)))
    return effect, _share_beyond(signs @ moved, moved.sum(), one_sided=one_sided, exact=False)


def owner_test(
    values: Sequence[float], owned: Sequence[bool], quality: Sequence[float], features: Sequence[Sequence[float]]
) -> tuple[Measure | None, float]:
    """How much more a judge pays for its owner's responses of equal quality, length and markup; None: not separable."""
    y, authored = np.array(values), np.array(owned, dtype=float)
    known = _design(np.array(quality), np.array(features))
    rows = [np.flatnonzero(np.array(quality) == level) for level in sorted(set(quality))]
    authored_left, y_left, ranks_left = (_residual(known, each) for each in (authored, y, _ranks(y, rows)))
    total, left = float(((authored - authored.mean()) ** 2).sum()), float(authored_left @ authored_left)
    if left < 0.1 * total or min(authored.sum(), len(authored) - authored.sum()) < LEAST_PAIRS / 2:
        return None, 1.0
    coefficient = float(authored_left @ y_left) / left
    spread = float(np.std(y_left - coefficient * authored_left)) / math.sqrt(left)
    effect = Measure(coefficient, coefficient - 1.96 * spread, coefficient + 1.96 * spread)
    ranks_left[np.abs(ranks_left) < _NOTHING] = 0.0
    generator = np.random.default_rng(0)
    sums = np.zeros(PERMUTATIONS)
    for stratum in rows:
        shuffled = generator.permuted(np.tile(ranks_left[stratum], (PERMUTATIONS, 1)), axis=1)
        sums += shuffled @ authored_left[stratum]
    return effect, _share_beyond(sums, float(authored_left @ ranks_left), one_sided=False, exact=False)


def smallest_detectable(effect: Measure, differences: Sequence[float] = ()) -> float:
    """The smallest effect that a test with such an interval finds with probability POWER.

    Where only some of the `differences` of pairs are not 0, so many of them must be that random signs hardly ever agree
    by chance.
    """
    normal = NormalDist()
    beyond = normal.inv_cdf(1 - ALPHA / MOST_TESTS / 2) + normal.inv_cdf(POWER)
    by_spread = beyond * (effect.high - effect.low) / (2 * normal.inv_cdf((1 + LEVEL) / 2))
    moves = [abs(each) for each in differences if abs(each) > _NOTHING]
    move = sum(moves) / len(moves) if moves else 1.0
    by_number = min(1.0, beyond**2 / len(differences)) * move if differences else 0.0
    return max(LEAST_EFFECT, by_spread, by_number)


def binomial_tail(successes: int, trials: int, share: float) -> float:
    """The probability of at least this many successes."""
    terms = (math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(successes, trials + 1))
    return min(1.0, math.fsum(terms))


def correct_for_number(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) corrected p-values, in the same order."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected, highest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def _share_beyond(sums: Floats, observed: float, *, one_sided: bool, exact: bool) -> float:
    reached = sums >= observed - _NOTHING if one_sided else np.abs(sums) >= abs(observed) - _NOTHING
    return float(reached.mean()) if exact else float((1 + reached.sum()) / (1 + len(sums)))


def _ranks(values: Floats, rows: Sequence[npt.NDArray[np.intp]]) -> Floats:
    """The share of each stratum's values that are smaller; half of the equal ones count."""
    ranks = np.zeros(len(values))
    for stratum in rows:
        _, place, counts = np.unique(np.round(values[stratum], 9), return_inverse=True, return_counts=True)
        ranks[stratum] = (np.cumsum(counts) - counts / 2)[place] / len(stratum)
    return ranks


def _design(quality: Floats, features: Floats) -> Floats:
    """The design matrix of the regression: quality, features, bins of the length, and their products with quality."""
    lengths = features[:, 0]
    bins = [lengths > limit for limit in np.quantile(lengths, [0.25, 0.5, 0.75])] if len(quality) >= BINNED else []
    base = np.column_stack([np.ones(len(quality)), *features.T, *bins])
    return np.column_stack([base, base * quality[:, None]])


def _residual(known: Floats, values: Floats) -> Floats:
    solution, *_ = np.linalg.lstsq(known, values, rcond=None)
    left: Floats = values - known @ solution
    return left
