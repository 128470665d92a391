"""Compute how a set of numbers is spread: moments, quantiles, ends, histogram.

Works up to the largest floats: numbers are scaled by a power of two before they are summed, which is exact.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.report.figures import Bin, Distribution

__all__ = ["MAX_BINS", "distribution_of", "make_bins"]

MAX_BINS = 10


def distribution_of(values: Iterable[float], unscored: int = 0) -> Distribution | None:
    """The distribution of `values`, beside `unscored` samples without one; None when there are no values."""
    ordered = np.sort(np.fromiter(values, np.float64))
    if not len(ordered):
        return None
    largest = float(np.abs(ordered[[0, -1]]).max())
    scale = 2.0 ** max(-1000, math.frexp(largest)[1] - 1)
    scaled = ordered / scale
    low, high = float(ordered[0]), float(ordered[-1])
    quartiles = np.clip(np.quantile(scaled, (0.25, 0.5, 0.75)) * scale, low, high)
    mean, std, skewness = (low, 0.0, None) if low == high else _moments(scaled, scale)
    return Distribution(
        count=len(ordered),
        unscored=unscored,
        mean=mean,
        mean_all=mean * (len(ordered) / (len(ordered) + unscored)),
        std=std,
        min=low,
        p25=float(quartiles[0]),
        p50=float(quartiles[1]),
        p75=float(quartiles[2]),
        max=high,
        at_min=float((ordered == low).mean()),
        at_max=float((ordered == high).mean()),
        skewness=skewness,
        bins=make_bins(ordered),
    )


def make_bins(values: Iterable[float]) -> tuple[Bin, ...]:
    """One bin per value where there are few values, else bins of equal width."""
    ordered: npt.NDArray[Any] = np.sort(np.fromiter(values, np.float64))
    different, counts = np.unique(ordered, return_counts=True)
    if len(different) <= MAX_BINS:
        return tuple(Bin(float(each), float(each), int(count)) for each, count in zip(different, counts, strict=True))
    shares = np.arange(MAX_BINS) / MAX_BINS
    edges = np.append(ordered[0] * (1 - shares) + ordered[-1] * shares, ordered[-1])
    starts = np.append(np.searchsorted(ordered, edges[:-1]), len(ordered))
    return tuple(
        Bin(float(edges[index]), float(edges[index + 1]), int(starts[index + 1] - starts[index]))
        for index in range(MAX_BINS)
    )


def _moments(scaled: npt.NDArray[np.float64], scale: float) -> tuple[float, float, float | None]:
    """Mean, standard deviation and skewness of values that were divided by `scale`."""
    mean, deviations = scaled.mean(), scaled - scaled.mean()
    variance = float((deviations**2).mean())
    if not variance:  # so close together that their squares vanish
        return float(mean * scale), 0.0, None
    return float(mean * scale), math.sqrt(variance) * scale, float((deviations**3).mean() / variance**1.5)
