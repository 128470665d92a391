"""Tests of the hypothesis that a judge treats two versions of a response alike, and their joint correction.

`flip_test` is exact: if the two versions of each pair are exchangeable for the judge, each difference is as likely with
either sign. `owner_test` permutes what quality, length and markup leave unexplained (Freedman and Lane 1983). Holm's
correction keeps the probability of one or more false alarms among all tests of a calibration below ALPHA.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.calibration.agreement import Measure

__all__ = ["ALPHA", "PairedTest", "binomial_tail", "correct_for_number", "flip_test", "owner_test"]

ALPHA = 0.01
"""The probability of one or more false findings in a calibration of a judge without faults."""
LEAST_EFFECT = 0.02
"""Effects below this share of the scale are not reported as findings, however certain they are."""
BINNED = 96
"""From how many responses on the length is also taken in bins: fewer would lose too much certainty by that."""
LEAST_PAIRS = 10
"""With fewer pairs no result could be certain enough after the correction."""
DRAWS = 10_000
_EXACT = 14
_NOTHING = 1e-9
Floats = npt.NDArray[np.float64]


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
    note: str = ""
    """What the sign of the effect means, or why there was no test."""
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
    signs = generator.choice([-1.0, 1.0], (DRAWS, len(moved)))
    return effect, _share_beyond(signs @ moved, moved.sum(), one_sided=one_sided, exact=False)


def owner_test(
    values: Sequence[float], owned: Sequence[bool], quality: Sequence[float], features: Sequence[Sequence[float]]
) -> tuple[Measure | None, float]:
    """How much more a judge pays for its owner's responses of equal quality, length and markup; None: not separable."""
    y, authored = np.array(values), np.array(owned, dtype=float)
    known = _design(np.array(quality), np.array(features))
    authored_left, y_left = _residual(known, authored), _residual(known, y)
    total, left = float(((authored - authored.mean()) ** 2).sum()), float(authored_left @ authored_left)
    if left < 0.1 * total or min(authored.sum(), len(authored) - authored.sum()) < LEAST_PAIRS / 2:
        return None, 1.0
    coefficient = float(authored_left @ y_left) / left
    spread = float(np.std(y_left - coefficient * authored_left)) / math.sqrt(left)
    effect = Measure(coefficient, coefficient - 1.96 * spread, coefficient + 1.96 * spread)
    y_left[np.abs(y_left) < _NOTHING] = 0.0
    generator = np.random.default_rng(0)
    rows = [np.flatnonzero(np.array(quality) == level) for level in sorted(set(quality))]
    sums = np.zeros(DRAWS)
    for stratum in rows:
        shuffled = generator.permuted(np.tile(y_left[stratum], (DRAWS, 1)), axis=1)
        sums += shuffled @ authored_left[stratum]
    return effect, _share_beyond(sums, float(authored_left @ y_left), one_sided=False, exact=False)


def binomial_tail(successes: int, trials: int, share: float) -> float:
    """The probability of at least so many successes."""
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


def _design(quality: Floats, features: Floats) -> Floats:
    """What may explain a rating: quality, the features, bins of the length, and their products with quality."""
    lengths = features[:, 0]
    bins = [lengths > limit for limit in np.quantile(lengths, [0.25, 0.5, 0.75])] if len(quality) >= BINNED else []
    base = np.column_stack([np.ones(len(quality)), *features.T, *bins])
    return np.column_stack([base, base * quality[:, None]])


def _residual(known: Floats, values: Floats) -> Floats:
    solution, *_ = np.linalg.lstsq(known, values, rcond=None)
    left: Floats = values - known @ solution
    return left
