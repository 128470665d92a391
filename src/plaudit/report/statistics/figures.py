"""Every figure of a report, collected while rollouts stream by.

Numbers are kept of all samples; what reads responses (phrases, patterns, near-duplicates) reads those that were kept.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.report.analysis import FailurePattern, Kind, RewardAnalyzer
from plaudit.report.statistics.components import ComponentShares, component_shares
from plaudit.report.statistics.drift import Drift, StepPoint, measure_drift, step_curve
from plaudit.report.statistics.duplicates import Duplicates, near_duplicates
from plaudit.report.statistics.kept_texts import KeptTexts
from plaudit.report.statistics.length_bias import LengthBias, length_bias
from plaudit.report.statistics.pass_rates import PassRates, pass_rates
from plaudit.report.statistics.phrases import Phrases, paying_phrases
from plaudit.report.statistics.saturation import Saturation, measure_saturation
from plaudit.report.statistics.signal import GroupSignal, group_signal
from plaudit.report.statistics.table import SampleTable
from plaudit.report.summary import Summary, SummaryBuilder
from plaudit.rollouts import ScoredRollout

__all__ = ["Figures", "FiguresBuilder", "Patterns", "collect_figures"]


@dataclass(frozen=True, slots=True)
class Patterns:
    """How responses fail, and which kinds of response earn more or less than others."""

    responses: int
    failing: int
    failures: tuple[FailurePattern, ...]
    high: tuple[Kind, ...]
    low: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run; those that do not apply are None or empty."""

    summary: Summary
    components: ComponentShares
    groups: GroupSignal
    pass_rates: PassRates | None
    length_bias: LengthBias
    saturation: tuple[Saturation, ...]
    curve: tuple[StepPoint, ...]
    drift: tuple[Drift, ...]
    phrases: Phrases
    patterns: Patterns
    duplicates: Duplicates | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = asdict(self)
        plain["summary"] = self.summary.to_dict()
        plain["groups"] |= {"dead": self.groups.dead, "compared": self.groups.compared}
        return plain


def collect_figures(rollouts: Iterable[ScoredRollout]) -> Figures:
    """The figures of scored rollouts."""
    builder = FiguresBuilder()
    for rollout in rollouts:
        builder.add(rollout)
    return builder.figures()


class FiguresBuilder:
    """Takes rollouts one by one; `figures()` may be asked for at any time."""

    def __init__(self) -> None:
        self.table = SampleTable()
        self._summary = SummaryBuilder(self.table.numbers)
        self._texts = KeptTexts()

    def add(self, rollout: ScoredRollout) -> int:
        """Take one rollout; gives the number of its row."""
        row = self.table.add(rollout.trajectory, rollout.output)
        self._summary.add(rollout.trajectory, rollout.output, row)
        self._texts.add(row, rollout)
        return row

    def figures(self) -> Figures:
        """What the rollouts so far say."""
        table, texts = self.table, self._texts
        return Figures(
            summary=self._summary.summary(),
            components=component_shares(table),
            groups=group_signal(table),
            pass_rates=pass_rates(table),
            length_bias=length_bias(table),
            saturation=measure_saturation(table),
            curve=step_curve(table),
            drift=measure_drift(table),
            phrases=paying_phrases(table, texts),
            patterns=_patterns(texts),
            duplicates=near_duplicates(table, texts),
        )


def _patterns(texts: KeptTexts) -> Patterns:
    analyzer = RewardAnalyzer()
    for _, rollout in texts:
        analyzer.add(rollout.trajectory, rollout.output)
    found = analyzer.analysis()
    return Patterns(found.summary.ok, found.failing, found.failures, found.high, found.low)
