"""What a policy can learn from the groups of a run: signal, length bias, pass rates, shares of components.

The correlation of length and reward is Σ xy / √(Σ x² Σ y²) with x and y the deviations of length and reward from the
mean of their group, so that the difficulty of prompts does not confound it; among right (or wrong) responses, from the
mean of the right (wrong) ones of the group. Its interval leaves out one group at a time (the jackknife), so that
responses to one prompt do not count as independent.

For the shares of components, the total R is taken as a sum of weighted components r_k; the weights w_k are found by
least squares on the deviations from the group's means, so a scored file is enough. The share of a component is
Cov(w_k r_k, R) / Var(R). The shares add up to the part of the variance that a weighted sum explains: 1 for a weighted
sum, less for gates, products and weights that change.
"""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from plaudit.diff.difference import DEAD_SPREAD, RIGHT
from plaudit.errors import InvalidSettings
from plaudit.report.figures import (
    Bin,
    ComponentShare,
    ComponentShares,
    Correlation,
    GroupSummary,
    LengthBias,
    LengthBin,
    PassAtK,
    PassRates,
)
from plaudit.report.table import Floats, Groups, Samples, ratio

LIVE, PHANTOM, DEAD_RIGHT, DEAD_WRONG, DEAD_OTHER = range(5)
BINS = 8
_Z = 1.96


def group_kinds(samples: Samples, groups: Groups) -> npt.NDArray[np.int64]:
    """The kind of each group: LIVE, PHANTOM, DEAD_RIGHT, DEAD_WRONG or DEAD_OTHER.

    In a run without scores, the highest reward of the run counts as right and the lowest as wrong.
    """
    low, high = groups.ends(samples.rewards)
    low_score, high_score = groups.ends(samples.scores)  # NaN if a sample has no score: every comparison is false
    with np.errstate(over="ignore"):
        alive = high - low > DEAD_SPREAD
    is_phantom = alive & (high_score - low_score <= DEAD_SPREAD)
    is_right, is_wrong = low_score >= 1.0 - DEAD_SPREAD, high_score <= DEAD_SPREAD
    if len(low) and np.isnan(samples.scores).all():
        lowest, highest = np.nanmin(samples.rewards), np.nanmax(samples.rewards)
        differ = highest > lowest + DEAD_SPREAD
        is_right, is_wrong = differ & (low >= highest - DEAD_SPREAD), differ & (high <= lowest + DEAD_SPREAD)
    conditions = [is_phantom, alive, is_right, is_wrong]
    return np.select(conditions, [PHANTOM, LIVE, DEAD_RIGHT, DEAD_WRONG], DEAD_OTHER)


def summarize_groups(samples: Samples) -> GroupSummary:
    """Which groups of a run can be learned from."""
    groups = samples.compared_groups
    kinds = group_kinds(samples, groups)
    alive, phantom = kinds <= PHANTOM, kinds == PHANTOM
    counts = np.bincount(kinds, minlength=5).tolist()
    with np.errstate(over="ignore", invalid="ignore"):
        squares = groups.sums(groups.deviations(samples.rewards) ** 2)
    shares = groups.sums((samples.scores[groups.rows] >= RIGHT).astype(float)) / groups.sizes
    judged = shares[~np.isnan(groups.ends(samples.scores)[0])]
    length = _correlation(samples, groups)
    return GroupSummary(
        live=counts[LIVE],
        phantom=counts[PHANTOM],
        dead_right=counts[DEAD_RIGHT],
        dead_wrong=counts[DEAD_WRONG],
        dead_other=counts[DEAD_OTHER],
        single=samples.group_count - len(kinds),
        phantom_share=ratio(squares[phantom].sum(), squares[alive].sum()),
        phantom_share_normalized=ratio(groups.sizes[phantom].sum(), groups.sizes[alive].sum()),
        effective_signal=float((judged * (1 - judged)).mean()) if len(judged) else None,
        length_correlation=None if length is None else length.value,
    )


def length_bias(samples: Samples) -> LengthBias:
    """The correlation of reward and length within the groups of a run."""
    scored = samples.scored
    return LengthBias(
        overall=_correlation(samples, samples.comparable),
        right=_correlation(samples, samples.comparable_among(scored & (samples.scores >= RIGHT))),
        wrong=_correlation(samples, samples.comparable_among(scored & (samples.scores < RIGHT))),
        bins=_bins(samples),
    )


def _correlation(samples: Samples, groups: Groups) -> Correlation | None:
    x, y = groups.deviations(samples.lengths), groups.deviations(samples.rewards)
    with np.errstate(over="ignore", invalid="ignore"):
        xx, yy, xy = groups.sums(x * x), groups.sums(y * y), groups.sums(x * y)
        [value] = _coefficients(xx.sum(keepdims=True), yy.sum(keepdims=True), xy.sum(keepdims=True))
        without = _coefficients(xx.sum() - xx, yy.sum() - yy, xy.sum() - xy)
    if np.isnan(value):
        return None
    known = without[~np.isnan(without)]
    reach = _Z * np.sqrt((len(known) - 1) * known.var()) if len(known) > 1 else 1.0
    low, high = np.clip([value - reach, value + reach], -1.0, 1.0).tolist()
    return Correlation(float(value), low, high, len(groups.rows), len(groups.starts))


def _coefficients(xx: Floats, yy: Floats, xy: Floats) -> Floats:
    """NaN where one of the two is constant, or beyond what floats can square."""
    scale = np.sqrt(np.maximum(xx, 0.0)) * np.sqrt(np.maximum(yy, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((scale > 0) & np.isfinite(scale), np.clip(xy / scale, -1.0, 1.0), np.nan)


def _bins(samples: Samples) -> tuple[LengthBin, ...]:
    groups = samples.comparable
    lengths, rewards = samples.lengths[groups.rows], groups.deviations(samples.rewards)
    means = np.repeat(groups.sums(lengths) / groups.sizes, groups.sizes)
    lengths, rewards = lengths[means > 0] / means[means > 0] - 1.0, rewards[means > 0]
    with np.errstate(over="ignore", invalid="ignore"):
        std = float(np.sqrt((rewards**2).mean())) if len(rewards) else 0.0
    if not 0.0 < std < np.inf:
        return ()
    order = np.argsort(lengths, kind="stable")
    lengths, rewards = lengths[order], rewards[order]
    starts = np.unique(np.searchsorted(lengths, lengths[len(lengths) * np.arange(BINS) // BINS]))  # equal ones together
    return tuple(
        LengthBin(float(lengths[part[0]]), float(lengths[part[-1]]), float(rewards[part].mean() / std), len(part))
        for part in np.split(np.arange(len(lengths)), starts[1:])
    )


PASS_BINS = 10


def pass_rates(samples: Samples) -> PassRates | None:
    """The pass rates of a run; None if no sample has a score."""
    groups = Groups.of(samples, samples.scored & ~np.isnan(samples.scores), least=1)
    right = groups.sums((samples.scores[groups.rows] >= RIGHT).astype(float)).astype(int)
    solved = Counter(zip(groups.sizes.tolist(), right.tolist(), strict=True))
    if not solved:
        return None
    return PassRates(
        groups=solved.total(),
        never=sum(groups for (_, right), groups in solved.items() if right == 0),
        always=sum(groups for (size, right), groups in solved.items() if right == size),
        bins=_pass_bins(solved),
        pass_at=_pass_at(solved),
    )


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of `k` of the samples is right, unbiased: 1 − C(n−c, k) / C(n, k)
    (arXiv:2107.03374).

    >>> pass_at_k(4, 1, 2)
    0.5
    """
    if not 0 <= right <= samples:
        raise InvalidSettings(f"{right} of {samples} samples cannot be right")
    if not 1 <= k <= samples:
        raise InvalidSettings(f"pass@{k} needs at least {max(k, 1)} samples per prompt, got {samples}")
    if k > samples - right:
        return 1.0
    fewer, more = sorted((k, right))  # C(n−c, k) / C(n, k) = Π (n−more−i) / (n−i) over i < fewer
    return 1.0 - math.prod((samples - more - index) / (samples - index) for index in range(fewer))


def _pass_at(solved: Mapping[tuple[int, int], int]) -> tuple[PassAtK, ...]:
    """From how many groups there are by size and right samples."""
    largest = max(size for size, _ in solved)
    figures = []
    for k in sorted({1 << power for power in range(largest.bit_length())} | {largest}):
        large = {(size, right): groups for (size, right), groups in solved.items() if size >= k}
        passed = math.fsum(groups * pass_at_k(size, right, k) for (size, right), groups in large.items())
        figures.append(PassAtK(k, passed / sum(large.values()), sum(large.values())))
    return tuple(figures)


def _pass_bins(solved: Mapping[tuple[int, int], int]) -> tuple[Bin, ...]:
    counts = [0] * PASS_BINS
    for (size, right), groups in solved.items():
        if 0 < right < size:
            counts[right * PASS_BINS // size] += groups
    return tuple(Bin(index / PASS_BINS, (index + 1) / PASS_BINS, count) for index, count in enumerate(counts))


_TINY = 1e-9  # of a column's own spread: below it, the column is a combination of others, or constant


def component_shares(samples: Samples) -> ComponentShares:
    """The share of each component directly below the total, over the samples that have all of them."""
    names = samples.top_level
    complete = samples.scored.copy()
    for name in names:
        complete &= ~np.isnan(samples.components[name])
    groups = samples.comparable_among(complete)
    rewards = groups.deviations(samples.rewards)
    columns = np.stack([groups.deviations(samples.components[name]) for name in names] or [rewards[:0]], axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(rewards @ rewards)
        weights = _least_squares(columns, rewards) if names else {}
        shares = [
            ComponentShare(
                name,
                name in samples.judging,
                weights.get(index),
                None if index not in weights else ratio(weights[index] * float(columns[:, index] @ rewards), total),
            )
            for index, name in enumerate(names)
        ]
    known = [one.share for one in shares if one.share is not None]
    shares.sort(key=lambda one: -math.inf if one.share is None else one.share, reverse=True)
    return ComponentShares(tuple(shares), math.fsum(known) if known else None, len(groups.rows))


def _least_squares(columns: Floats, rewards: Floats) -> dict[int, float]:
    """The weight of each column, without columns that are constant or a combination of others."""
    sizes, rest = (columns**2).sum(axis=0), columns.copy()
    chosen: list[int] = []
    while len(chosen) < columns.shape[1]:
        left = np.nan_to_num((rest**2).sum(axis=0) / np.where(sizes > 0, sizes, np.nan), nan=0.0, posinf=0.0)
        left[chosen] = 0.0
        best = int(left.argmax())
        if left[best] <= _TINY:
            break
        chosen.append(best)
        direction = rest[:, best] / np.sqrt(rest[:, best] @ rest[:, best])
        rest = rest - np.outer(direction, direction @ rest)
    if not chosen:
        return {}
    weights = np.linalg.lstsq(columns[:, chosen], rewards, rcond=None)[0]
    return dict(zip(chosen, map(float, weights), strict=True))
