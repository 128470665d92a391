"""How probable it is that a label is wrong, from the answers of a group alone.

The model has two kinds of prompts. Where the label is right, each response gives it with the pass rate of the prompt.
Where it is wrong, each response gives the true answer with that rate, and the label equals no response or is one of the
wrong answers of the group; these two kinds of wrong labels have a share each. Wrong answers to one prompt repeat each
other as in a Chinese restaurant process: a small concentration means that the prompt has a popular mistake. Pass rates,
concentrations and the shares of wrong labels are estimated from all groups by expectation maximisation. The
concentration does not depend on the pass rate: a popular mistake on prompts that nobody solves is as frequent as on
prompts that some solve, and what exceeds that is explained by wrong labels.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["LabelModel", "Suspicion", "Votes"]

Floats = npt.NDArray[np.float64]
PASS_RATES: Floats = np.array([0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99])
CONCENTRATIONS: Floats = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
PRIOR_WRONG, PRIOR_RIGHT = 0.5, 20.0
"""Pseudo-counts of wrong labels of each kind and of right ones: few groups do not show an error rate of a half."""
PRIOR_CELL = 0.5
ITERATIONS = 200
CHI_SQUARE_95 = 3.841


class Votes(NamedTuple):
    """The counts of the answers of a group: how many equal the label, and the sizes of the other clusters."""

    agree: int
    others: tuple[int, ...]


class Suspicion(NamedTuple):
    """The probability that the label is wrong, and for each other cluster that it is the true answer."""

    wrong: float
    truths: tuple[float, ...]


class _Likelihoods(NamedTuple):
    """Of one kind of votes, by pass rate and concentration: with a right label, and for each possible true answer."""

    right: Floats
    truths: Floats

    @property
    def wrong(self) -> Floats:
        return np.asarray(np.logaddexp.reduce(self.truths, axis=0))


class LabelModel:
    """The estimated shares. `error_rate` is the share of wrong labels, `interval` its 95 % likelihood interval."""

    def __init__(self, votes: Sequence[Votes]) -> None:
        counts = Counter(votes)
        self._count: Floats = np.array(list(counts.values()), dtype=float)
        self._is_given = np.array([each.agree > 0 for each in counts], dtype=int)  # whether a response gives the label
        likelihoods = [_likelihoods(each) for each in counts]
        cells = len(PASS_RATES) * len(CONCENTRATIONS)
        right = np.array([each.right for each in likelihoods]).reshape(len(counts), cells)
        wrong = np.array([each.wrong for each in likelihoods]).reshape(len(counts), cells)
        scale = np.maximum(right.max(1), wrong.max(1))[:, None]
        self._right, self._wrong = np.exp(right - scale), np.exp(wrong - scale)
        self._shares = _Shares(
            np.full(len(PASS_RATES), 1 / len(PASS_RATES)),
            np.full(len(CONCENTRATIONS), 1 / len(CONCENTRATIONS)),
            np.array([0.02, 0.02]),
        )
        for _ in range(ITERATIONS if len(counts) else 0):
            self._shares = self._step(self._shares)
        self.error_rate = float(self._shares.wrong.sum())
        self.interval = self._likelihood_interval() if len(counts) else (0.0, 1.0)

    def suspect(self, votes: Votes) -> Suspicion:
        """Compute the probability that the label of a group is wrong."""
        likelihoods = _likelihoods(votes)
        log_cells = np.log(self._shares.cells).reshape(len(PASS_RATES), len(CONCENTRATIONS))
        right = math.log1p(-self.error_rate) + np.logaddexp.reduce((likelihoods.right + log_cells).ravel())
        wrong_share = math.log(self._shares.wrong[int(votes.agree > 0)])
        by_truth = [wrong_share + np.logaddexp.reduce((each + log_cells).ravel()) for each in likelihoods.truths]
        total = np.logaddexp.reduce([right, *by_truth])
        shares = [float(np.exp(each - total)) for each in by_truth]
        return Suspicion(min(1.0, sum(shares)), tuple(shares[1:]))

    def _step(self, shares: "_Shares") -> "_Shares":
        """One step of expectation maximisation."""
        right, wrong = self._joint(shares)
        total = (right + wrong).sum(1)
        by_cell = ((self._count / total) @ (right + wrong)).reshape(len(PASS_RATES), len(CONCENTRATIONS))
        expected = np.bincount(self._is_given, self._count / total * wrong.sum(1), minlength=2)
        everything = self._count.sum() + 2 * PRIOR_WRONG + PRIOR_RIGHT
        return _Shares(_normalised(by_cell.sum(1)), _normalised(by_cell.sum(0)), (expected + PRIOR_WRONG) / everything)

    def _joint(self, shares: "_Shares") -> tuple[Floats, Floats]:
        """The probability of each kind of votes with a right and with a wrong label, by cell."""
        right = (1 - shares.wrong.sum()) * self._right * shares.cells
        return right, shares.wrong[self._is_given][:, None] * self._wrong * shares.cells

    def _likelihood_interval(self) -> tuple[float, float]:
        """The error rates that explain the answers almost as well as the best one."""
        rates, values = np.geomspace(1e-4, 0.6, 80), []
        kinds = self._shares.wrong / self.error_rate
        for rate in rates:
            shares = self._shares._replace(wrong=rate * kinds)
            for _ in range(10):
                shares = self._step(shares)
                shares = shares._replace(wrong=rate * shares.wrong / shares.wrong.sum())
            right, wrong = self._joint(shares)
            values.append(float(self._count @ np.log((right + wrong).sum(1))))
        close = rates[np.array(values) >= max(values) - CHI_SQUARE_95 / 2]
        low = 0.0 if close.min() <= rates[0] else float(close.min())
        return min(low, self.error_rate), max(float(close.max()), self.error_rate)


class _Shares(NamedTuple):
    """The shares of pass rates, of concentrations, and of wrong labels that no response gives and that some give."""

    rates: Floats
    concentrations: Floats
    wrong: Floats

    @property
    def cells(self) -> Floats:
        return np.outer(self.rates, self.concentrations).ravel()


def _normalised(weights: Floats) -> Floats:
    smoothed = weights + PRIOR_CELL
    return np.asarray(smoothed / smoothed.sum())


def _likelihoods(votes: Votes) -> _Likelihoods:
    """Log-likelihoods of votes; the first possible truth of a wrong label is an answer that nobody gave."""
    agree, others = votes
    count = agree + sum(others)
    right = _answers(agree, count)[:, None] + _partition(others)[None, :]
    truths = []
    for truth in (None, *range(len(others))):
        right_count = 0 if truth is None else others[truth]
        mistakes = tuple(size for index, size in enumerate(others) if index != truth)
        if agree:  # the label is one of the mistakes of the group
            label, mistakes = math.log(agree / (count - right_count)), (*mistakes, agree)
        else:
            label = 0.0
        truths.append(_answers(right_count, count)[:, None] + (_partition(mistakes) + label)[None, :])
    return _Likelihoods(np.asarray(right), np.array(truths))


def _answers(right: int, count: int) -> Floats:
    """The log-probability that these responses are right and the others are not, by pass rate."""
    return np.asarray(right * np.log(PASS_RATES) + (count - right) * np.log1p(-PASS_RATES))


def _partition(sizes: tuple[int, ...]) -> Floats:
    """The log-probability that wrong answers repeat each other like this, by concentration."""
    total = sum(sizes)
    within = sum(math.lgamma(size) for size in sizes)
    normaliser = np.array([math.lgamma(each) - math.lgamma(each + total) for each in CONCENTRATIONS])
    return np.asarray(within + len(sizes) * np.log(CONCENTRATIONS) + normaliser)
