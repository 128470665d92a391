"""`plaudit summary`, and what `score` prints too: a summary, breakdowns by column, agreement with labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from rich.console import RenderableType

from plaudit import report as reports
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.contract.output import RewardOutput
from plaudit.errors import RolloutsError
from plaudit.report.by_column import AgreementBuilder, BreakdownBuilder
from plaudit.report.figures import Summary
from plaudit.report.selection import ABSENT, Condition, Selection, column_of, known_columns, no_such_column
from plaudit.report.terminal.tables import render_agreement, render_breakdown, render_histogram, render_summary
from plaudit.rollouts import Rollout, RolloutsReader, ScoredRollout
from plaudit.trajectory import Trajectory

__all__ = [
    "RunReport",
    "build_report",
    "build_selection",
    "exit_code",
    "has_too_many_unscored",
    "require_scored",
    "summary",
]


def summary(
    scored: options.Scored,
    limit: options.Limit = None,
    where: options.Where = None,
    by: options.By = None,
    against: options.Against = None,
    fail_under: options.FailUnder = None,
    skip_bad: options.SkipBad = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Show the summary of a scored file: rewards, components, failures, groups; nothing is scored again."""
    reader = options.open_rollouts(scored, None, skip_bad=skip_bad)
    report = build_report(by, against)
    for rollout in require_scored(reader, build_selection(where, limit).select(reader)):
        report.add(rollout.trajectory, rollout.output)
    result = report.summary()
    if not quiet:
        options.report_input(reader)
    if json:
        print_json(report.to_dict(result))
    else:
        print_result(*report.render(result))
    return exit_code(result, fail_under)


def require_scored(reader: RolloutsReader, rollouts: Iterable[Rollout]) -> Iterator[ScoredRollout]:
    """The rollouts with their outputs; raises RolloutsError at the first that has none."""
    for rollout in rollouts:
        if rollout.output is None:
            raise RolloutsError(
                f"{reader.name} is not scored: it has samples without reward_output; "
                f"score it first: plaudit score REWARD {reader.name} -o SCORED"
            )
        yield Rollout(rollout.trajectory, rollout.output)


PASSED, FAILED, TOO_MANY_UNSCORED = 0, 1, 3
MAX_UNSCORED = 0.5
MOST_REASONS = 3
PEEK = 1_000
"""How many samples are looked at before scoring: a column that none of them has may come later in a longer file."""


def build_selection(where: Sequence[str] | None, limit: int | None) -> Selection:
    """The samples that the options ask for."""
    return Selection([Condition.parse(text) for text in where or ()], limit)


def build_report(by: Sequence[str] | None, against: str | None) -> "RunReport":
    """An empty report that the options ask for."""
    return RunReport([BreakdownBuilder(column) for column in by or ()], AgreementBuilder(against) if against else None)


@dataclass(slots=True)
class RunReport:
    """Collects scored samples; prints as tables or as JSON."""

    breakdowns: list[BreakdownBuilder]
    labels: AgreementBuilder | None
    table: "reports.SampleTable" = field(default_factory=lambda: reports.SampleTable())

    def check_columns(self, rollouts: Iterable[Rollout]) -> None:
        """Raise RolloutsError where none of a few samples, if there are no more, has a column that is asked for."""
        missing = [one.column for one in self.breakdowns] + ([self.labels.column] if self.labels else [])
        first = [rollout.trajectory for rollout in islice(rollouts, PEEK)]
        missing = [column for column in missing if all(column_of(each, column) is ABSENT for each in first)]
        if missing and len(first) < PEEK:
            known = dict.fromkeys(name for each in first for name in known_columns(each))
            raise no_such_column(missing[0], known)

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        self.table.add(trajectory, output)
        for breakdown in self.breakdowns:
            breakdown.add(trajectory, output)
        if self.labels is not None:
            self.labels.add(trajectory, output)

    def summary(self) -> Summary:
        """The summary of the samples so far."""
        return reports.summary_of(self.table)

    def render(self, summary: Summary) -> list[RenderableType]:
        """The tables for the terminal, without the histogram."""
        tables: list[RenderableType] = [render_summary(summary)]
        for breakdown in self.breakdowns:
            tables += ["", render_breakdown(breakdown.breakdown())]
        if self.labels is not None:
            tables += ["", render_agreement(self.labels.agreement(), self.labels.column)]
        if summary.reward is not None:
            tables += ["", render_histogram(summary.reward.bins, title="reward")]
        return tables

    def to_dict(self, summary: Summary) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = summary.to_dict()
        if self.breakdowns:
            plain["by"] = {one.column: one.breakdown().to_dict() for one in self.breakdowns}
        if self.labels is not None:
            plain["against"] = {"column": self.labels.column, **self.labels.agreement().to_dict()}
        return plain


def has_too_many_unscored(count: int, ok: int, max_unscored: float, reasons: Iterable[str]) -> bool:
    """Whether more than a share of the samples was not scored; prints how many, and the most frequent reasons."""
    unscored = count - ok
    if unscored <= max_unscored * count:
        return False
    print_message(f"{unscored:,} of {count:,} samples were not scored, more than --max-unscored {max_unscored:g}:")
    for reason in islice(reasons, MOST_REASONS):
        print_message(f"  {reason}")
    return True


def exit_code(summary: Summary, fail_under: float | None, max_unscored: float = 1.0) -> int:
    """3 if too many samples were not scored; 1 if none was, or if the mean reward is below what was asked for."""
    reasons = (f"{one.count:,} × {one.status}: {one.reason} (first: {one.example})" for one in summary.failures)
    if has_too_many_unscored(summary.count, summary.ok, max_unscored, reasons):
        return TOO_MANY_UNSCORED
    if summary.reward is None:
        return FAILED
    if fail_under is not None and summary.reward.mean < fail_under:
        print_message(f"the mean reward {summary.reward.mean:.4g} is below --fail-under {fail_under:g}")
        return FAILED
    return PASSED
