"""Compute the figures of a run: rollouts → `SampleTable` → statistics → `Summary` and `Figures`.

Numbers are kept of all samples; what reads responses (phrases, patterns, near-duplicates) reads those of some groups.
Distributions work up to the largest floats: numbers are scaled by a power of two before they are summed, which is
exact.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from plaudit.contract.output import RewardOutput, Status
from plaudit.report.figures import Bin, Distribution, Figures, Latency, Summary
from plaudit.report.statistics.duplicates import near_duplicates
from plaudit.report.statistics.groups import component_shares, length_bias, pass_rates, summarize_groups
from plaudit.report.statistics.patterns import ResponseKinds, find_patterns
from plaudit.report.statistics.phrases import paying_phrases
from plaudit.report.statistics.steps import measure_drift, step_curve
from plaudit.report.table import Floats, KeptTexts, SampleTable, without_nan
from plaudit.trajectory import Trajectory


def summarize(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> Summary:
    """The summary of trajectories with their outputs, numbered from 0."""
    table = SampleTable()
    for trajectory, output in scored:
        table.add(trajectory, output)
    return summary_of(table)


def collect_figures(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> Figures:
    """The figures of trajectories with their outputs, such as the rollouts of a run."""
    table = SampleTable(keep_texts=True)
    for trajectory, output in scored:
        table.add(trajectory, output)
    return figures_of(table)


def summary_of(table: SampleTable) -> Summary:
    """The summary of the samples that the table has so far."""
    samples = table.samples()
    unscored = len(table) - table.statuses[Status.OK.value]
    components = {
        name: distribution_of(without_nan(column), _unscored(column, samples.scored) + table.without_number[name])
        for name, column in samples.components.items()
    }
    latencies = {name: _latency(column) for name, column in samples.component_seconds.items()}
    return Summary(
        count=len(table),
        statuses={status.value: table.statuses[status.value] for status in Status if table.statuses[status.value]},
        reward=distribution_of(without_nan(samples.rewards), unscored),
        score=distribution_of(without_nan(samples.scores), unscored),
        components={name: distribution for name, distribution in components.items() if distribution is not None},
        latency=_latency(samples.seconds),
        component_latency={name: latency for name, latency in latencies.items() if latency is not None},
        slowest=table.slowest,
        failures=table.failures.failures(),
        groups=summarize_groups(samples),
    )


def figures_of(table: SampleTable) -> Figures:
    """The figures of the samples that the table has so far."""
    samples, texts = table.samples(), table.texts or KeptTexts()
    kinds = ResponseKinds()
    for row, rollout in texts:
        kinds.add(row, rollout)
    return Figures(
        summary=summary_of(table),
        components=component_shares(samples),
        pass_rates=pass_rates(samples),
        length_bias=length_bias(samples),
        curve=step_curve(samples),
        drift=measure_drift(samples),
        phrases=paying_phrases(samples, texts),
        patterns=find_patterns(samples, kinds),
        duplicates=near_duplicates(samples, texts),
    )


def _unscored(column: Floats, scored: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> int:
    """Unscored samples in which a component has no number; an unscored sample may not even list its components."""
    return int(np.isnan(column[~scored]).sum())


def _latency(seconds: Floats) -> Latency | None:
    known = without_nan(seconds)
    return Latency(*np.quantile(known, (0.5, 0.95, 0.99)).tolist()) if len(known) else None


MAX_BINS = 10


def distribution_of(values: Iterable[float], unscored: int = 0) -> Distribution | None:
    """The distribution of `values`, with `unscored` samples that have none; None if there are no values."""
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
