"""Agreement of a judge with people, and means corrected for the judge's measured errors.

All intervals are quantiles of draws from the Jeffreys posterior of the four shares (judge yes or no, people yes or no),
which is a Dirichlet distribution; so they neither collapse where all agree nor leave the range of the quantity.

A share p of good responses is seen by the judge as q = p · sensitivity + (1 - p) · (1 - specificity). Rogan and Gladen
(1978) solve this for p. Where sensitivity + specificity is not shown to exceed 1, the judge's verdicts say nothing
about p, and there is no corrected mean.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.errors import InvalidSettings

__all__ = ["Agreement", "CorrectedMean", "Measure", "correct_mean", "measure_agreement"]

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
    """How a judge and people agree on one criterion; the first word of a count is the judge's verdict."""

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
        """How many responses have a label and a verdict."""
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
