"""The learning signal of the groups of a run, and whether longer responses earn more in them.

The correlation of length and reward is Σ xy / √(Σ x² Σ y²) with x and y the deviations of length and reward from the
mean of their group, so that the difficulty of prompts does not confound it; among right (or wrong) responses, from the
mean of the right (wrong) ones of the group. Its interval leaves out one group at a time (the jackknife), so that
responses to one prompt do not count as independent.
"""

import numpy as np
import numpy.typing as npt

from plaudit.diff.group_order import DEAD_SPREAD
from plaudit.report.figures import Correlation, GroupSummary, LengthBias, LengthBin
from plaudit.report.table import RIGHT, Floats, Groups, Samples, ratio

__all__ = ["group_kinds", "length_bias", "summarize_groups"]

LIVE, PHANTOM, DEAD_RIGHT, DEAD_WRONG, DEAD_OTHER = range(5)
BINS = 8
_Z = 1.96


def group_kinds(samples: Samples, groups: Groups) -> npt.NDArray[np.int64]:
    """The kind of each group: LIVE, PHANTOM, DEAD_RIGHT, DEAD_WRONG or DEAD_OTHER."""
    low, high = groups.ends(samples.rewards)
    low_score, high_score = groups.ends(samples.scores)  # NaN if a sample has no score: every comparison is false
    with np.errstate(over="ignore"):
        alive = high - low > DEAD_SPREAD
    conditions = [
        alive & (high_score - low_score <= DEAD_SPREAD),
        alive,
        low_score >= 1.0 - DEAD_SPREAD,
        high_score <= DEAD_SPREAD,
    ]
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
    """How reward and length go together within the groups of a run."""
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
