"""Compute the figures of a run: rollouts → `SampleTable` → statistics → `Summary` and `Figures`.

Numbers are kept of all samples; what reads responses (phrases, patterns, near-duplicates) reads those of some groups.
"""

from collections.abc import Iterable

import numpy as np

from plaudit.contract.output import RewardOutput, Status
from plaudit.report.distribution import distribution_of
from plaudit.report.figures import Figures, Latency, Summary
from plaudit.report.statistics.duplicates import near_duplicates
from plaudit.report.statistics.groups import component_shares, length_bias, pass_rates, summarize_groups
from plaudit.report.statistics.patterns import ResponseKinds, find_patterns
from plaudit.report.statistics.phrases import paying_phrases
from plaudit.report.statistics.steps import measure_drift, step_curve
from plaudit.report.table import Floats, KeptTexts, SampleTable
from plaudit.trajectory import Trajectory

__all__ = ["collect_figures", "figures_of", "summarize", "summary_of"]


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
        name: distribution_of(_known(column), _unscored(column, samples.scored) + table.without_number[name])
        for name, column in samples.components.items()
    }
    latencies = {name: _latency(column) for name, column in samples.component_seconds.items()}
    return Summary(
        count=len(table),
        statuses={status.value: table.statuses[status.value] for status in Status if table.statuses[status.value]},
        reward=distribution_of(_known(samples.rewards), unscored),
        score=distribution_of(_known(samples.scores), unscored),
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


def _known(column: Floats) -> Floats:
    return column[~np.isnan(column)]


def _unscored(column: Floats, scored: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> int:
    """Unscored samples in which a component has no number; an unscored sample may not even list its components."""
    return int(np.isnan(column[~scored]).sum())


def _latency(seconds: Floats) -> Latency | None:
    known = _known(seconds)
    return Latency(*np.quantile(known, (0.5, 0.95, 0.99)).tolist()) if len(known) else None
