"""How probable it is that a label is wrong, from the answers of a group alone.

The model has two kinds of prompts. Where the label is right, each response gives it with the pass rate of the prompt.
Where it is wrong, each response gives the true answer with that rate, and the label equals no response or is one of the
wrong answers of the group; these two kinds of wrong labels have a share each. Of the wrong answers to a prompt, a share
is its popular mistake, and the others repeat each other as in a Chinese restaurant process. Pass rates, kinds of
mistakes (that share and the concentration of the process) and the shares of wrong labels are estimated from all groups
by expectation maximisation. Mistakes do not depend on the pass rate: a popular mistake on prompts that nobody solves is
as frequent as on prompts that some solve, and what exceeds that is explained by wrong labels.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
PASS_RATES: Floats = np.array([0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99])
POPULAR: Floats = np.repeat([0.0, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95], 4)
CONCENTRATIONS: Floats = np.tile([0.3, 2.0, 10.0, 50.0], 8)
"""The kinds of mistakes: the share of the popular one, and the concentration of the others."""
PRIOR_WRONG, PRIOR_RIGHT = 0.5, 20.0
"""Pseudo-counts of wrong labels of each kind and of right ones: few groups do not show an error rate of a half."""
PRIOR_GROUPS = 4.0
"""Pseudo-counts that are spread equally over the pass rates, and over the kinds of mistakes."""
ITERATIONS = 200
STARTS = (0.04, 0.4)
"""The shares of wrong labels from which the estimation starts; the more plausible result counts."""
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
    """Of one kind of votes, by pass rate and kind of mistakes: for a right label and each possible true answer."""

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
        cells = len(PASS_RATES) * len(POPULAR)
        right = np.array([each.right for each in likelihoods]).reshape(len(counts), cells)
        wrong = np.array([each.wrong for each in likelihoods]).reshape(len(counts), cells)
        scale = np.maximum(right.max(1), wrong.max(1))[:, None]
        self._right, self._wrong = np.exp(right - scale), np.exp(wrong - scale)
        self._shares = max((self._estimate(wrong) for wrong in STARTS), key=self._plausibility)
        self.error_rate = float(self._shares.wrong.sum())
        self.interval = self._likelihood_interval() if len(counts) else (0.0, 1.0)

    def suspect(self, votes: Votes) -> Suspicion:
        """Compute the probability that the label of a group is wrong."""
        likelihoods = _likelihoods(votes)
        log_cells = np.log(self._shares.cells).reshape(len(PASS_RATES), len(POPULAR))
        right = math.log1p(-self.error_rate) + np.logaddexp.reduce((likelihoods.right + log_cells).ravel())
        wrong_share = math.log(self._shares.wrong[int(votes.agree > 0)])
        by_truth = [wrong_share + np.logaddexp.reduce((each + log_cells).ravel()) for each in likelihoods.truths]
        total = np.logaddexp.reduce([right, *by_truth])
        shares = [float(np.exp(each - total)) for each in by_truth]
        return Suspicion(min(1.0, sum(shares)), tuple(shares[1:]))

    def _estimate(self, wrong: float) -> "_Shares":
        """The shares that expectation maximisation finds from this share of wrong labels."""
        rates, mistakes = (np.full(len(each), 1 / len(each)) for each in (PASS_RATES, POPULAR))
        shares = _Shares(rates, mistakes, np.array([wrong / 2, wrong / 2]))
        for _ in range(ITERATIONS if len(self._count) else 0):
            shares = self._step(shares)
        return shares

    def _plausibility(self, shares: "_Shares") -> float:
        """How well the shares explain the answers, with the pseudo-counts."""
        right, wrong = self._joint(shares)
        prior = sum(PRIOR_GROUPS * float(np.log(each).mean()) for each in (shares.rates, shares.mistakes))
        prior += PRIOR_WRONG * float(np.log(shares.wrong).sum()) + PRIOR_RIGHT * math.log1p(-shares.wrong.sum())
        return prior + float(self._count @ np.log((right + wrong).sum(1)))

    def _step(self, shares: "_Shares") -> "_Shares":
        """One step of expectation maximisation."""
        right, wrong = self._joint(shares)
        total = (right + wrong).sum(1)
        by_cell = ((self._count / total) @ (right + wrong)).reshape(len(PASS_RATES), len(POPULAR))
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
    """The shares of pass rates, of kinds of mistakes, and of wrong labels that no response gives and that some give."""

    rates: Floats
    mistakes: Floats
    wrong: Floats

    @property
    def cells(self) -> Floats:
        return np.outer(self.rates, self.mistakes).ravel()


def _normalised(weights: Floats) -> Floats:
    smoothed = weights + PRIOR_GROUPS / len(weights)
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
    """The log-probability that wrong answers repeat each other like this, by kind of mistakes."""
    total = sum(sizes)
    ways = [total * np.log1p(-POPULAR) + _restaurant(sizes)]  # nobody makes the popular mistake, or one cluster is it
    for size, times in Counter(sizes).items():
        rest = list(sizes)
        rest.remove(size)
        with np.errstate(divide="ignore"):
            chosen = size * np.log(POPULAR) + (total - size) * np.log1p(-POPULAR)
        ways.append(math.log(times) + chosen + _restaurant(rest))
    return np.asarray(np.logaddexp.reduce(ways))


def _restaurant(sizes: Sequence[int]) -> Floats:
    """The log-probability of these clusters in a Chinese restaurant process, by kind of mistakes."""
    within = sum(math.lgamma(size) for size in sizes)
    normaliser = np.array([math.lgamma(each) - math.lgamma(each + sum(sizes)) for each in CONCENTRATIONS])
    return np.asarray(within + len(sizes) * np.log(CONCENTRATIONS) + normaliser)
