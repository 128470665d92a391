"""Tables of a run for the terminal: summary, histogram, the headline of a report, rewards by a column, agreement.

If the terminal is too narrow, whole columns are left out, the least informative first: a figure is never cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from plaudit.contract.output import Status
from plaudit.engine import ScorerStats
from plaudit.report.advice import Level, Remark, headline
from plaudit.report.by_column import Agreement, Breakdown
from plaudit.report.coverage import format_mean
from plaudit.report.figures import Bin, Distribution, Figures, Latency, Summary
from plaudit.report.formatting import (
    bare_table,
    count_noun,
    escape_controls,
    facts_table,
    format_duration,
    format_number,
    format_share,
    shorten,
    to_text,
)

MAX_FAILURES, MAX_SLICES, MAX_VALUE = 8, 20, 40
MAX_WIDTH = 90  # of a histogram
_LEVEL_STYLES = {Level.WARNING: "red", Level.NOTE: "yellow"}
_STYLES = {Status.OK: "green", Status.ERROR: "red", Status.TIMEOUT: "red"}


def render_summary(summary: Summary) -> RenderableType:
    """The whole summary: spread of every value, statuses, groups, latency, failures, slowest samples."""
    return _SummaryView(summary)


def render_engine_stats(stats: ScorerStats) -> RenderableType:
    """A table of the engine's figures: workers and their use, waiting, losses, cache hits."""
    facts = [f"{stats.workers} workers" if stats.workers > 1 else "1 worker"]
    if stats.utilisation is not None:
        facts.append(f"{stats.utilisation:.0%} busy")
    plain = stats.to_dict()
    if plain["queued_s"]:
        facts.append(f"queued p95 {format_duration(plain['queued_s']['p95'])}")
    if stats.cached or stats.duplicates:
        facts.append(f"{stats.cached:,} from the cache, {stats.duplicates:,} duplicates")
    facts += [f"{count:,} workers lost ({how})" for how, count in stats.workers_lost.items()]
    unused = f"\ncache    not used: {stats.uncached}" if stats.uncached else ""
    return Text(f"engine   {', '.join(facts)}{unused}")


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    distribution: Distribution
    latency: Latency | None


_PARTIAL = ("over all", "unscored")
"""Columns that are shown where the mean leaves samples out."""
# In the order of display, with the turn in which a column is left out when the terminal is narrow; 0 is never.
_COLUMNS: tuple[tuple[str, int, Callable[[_Row], str]], ...] = (
    ("n", 6, lambda row: f"{row.distribution.count:,}"),
    ("mean", 0, lambda row: format_number(row.distribution.mean)),
    ("over all", 0, lambda row: format_number(row.distribution.mean_all)),
    ("unscored", 6, lambda row: f"{row.distribution.covered_mean.unscored:.1%}"),
    ("std", 7, lambda row: format_number(row.distribution.std)),
    ("min", 8, lambda row: format_number(row.distribution.min)),
    ("p25", 5, lambda row: format_number(row.distribution.p25)),
    ("p50", 9, lambda row: format_number(row.distribution.p50)),
    ("p75", 5, lambda row: format_number(row.distribution.p75)),
    ("max", 8, lambda row: format_number(row.distribution.max)),
    ("at min", 3, lambda row: f"{row.distribution.at_min:.0%}"),
    ("at max", 3, lambda row: f"{row.distribution.at_max:.0%}"),
    ("skew", 2, lambda row: "-" if row.distribution.skewness is None else f"{row.distribution.skewness:.2f}"),
    ("p95 time", 1, lambda row: "-" if row.latency is None else format_duration(row.latency.p95)),
)


@dataclass(frozen=True, slots=True)
class _SummaryView:
    summary: Summary

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _facts(self.summary, options.ascii_only)
        if rows := _rows(self.summary):
            yield ""
            yield _fit(rows, console, options)
        if self.summary.failures:
            yield ""
            yield _failures(self.summary, options.ascii_only)


def _rows(summary: Summary) -> list[_Row]:
    rows = [_Row("reward", summary.reward, summary.latency)] if summary.reward else []
    if summary.score:
        rows.append(_Row("score", summary.score, None))
    for name, distribution in summary.components.items():
        rows.append(_Row(f"  {name}", distribution, summary.component_latency.get(name)))
    return rows


def _fit(rows: list[_Row], console: Console, options: ConsoleOptions) -> Table:
    """The table with as many columns as the width allows."""
    boundless = options.update(max_width=10_000)  # rich measures no wider than it may draw
    for dropped in range(max(turn for _, turn, _ in _COLUMNS) + 1):
        table = _spread_table(rows, dropped, options)
        if Measurement.get(console, boundless, table).maximum <= options.max_width:
            break
    return table


def _spread_table(rows: list[_Row], dropped: int, options: ConsoleOptions) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold", max_width=max(10, options.max_width // 3))
    hidden = () if any(row.distribution.unscored for row in rows) else _PARTIAL
    kept = [(title, cell) for title, turn, cell in _COLUMNS if title not in hidden and (turn == 0 or turn > dropped)]
    for title, _ in kept:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(to_text(row.name, options.ascii_only), *(cell(row) for _, cell in kept))
    return table


def _facts(summary: Summary, ascii_only: bool) -> Table:
    """One line per fact, each under its name."""
    groups, latency = summary.groups, summary.latency
    shares = {"p50": latency.p50, "p95": latency.p95, "p99": latency.p99} if latency else {}
    slow = (
        f"{sample.index if sample.id is None else sample.id} ({format_duration(sample.seconds)})"
        for sample in summary.slowest
    )
    correlation = groups.length_correlation
    return facts_table(
        {
            "samples": _statuses(summary),
            "groups": _groups(summary) if groups.compared else "",
            "length": "" if correlation is None else f"{correlation:+.2f} correlation with reward, within groups",
            "latency": ", ".join(f"{name} {format_duration(value)}" for name, value in shares.items()),
            "slowest": to_text(", ".join(slow), ascii_only),
        }
    )


def _statuses(summary: Summary) -> Text:
    line = Text(f"{summary.count:,}")
    for index, (status, count) in enumerate(summary.statuses.items()):
        line.append(": " if index == 0 else ", ")
        line.append(f"{count:,} {status}", style=_STYLES.get(Status(status), "yellow"))
    return line


def _groups(summary: Summary) -> str:
    groups = summary.groups
    line = f"{groups.count:,}, {groups.dead:,} dead"
    if groups.dead:
        kinds = {"all right": groups.dead_right, "all wrong": groups.dead_wrong, "other": groups.dead_other}
        line += f" ({', '.join(f'{count:,} {kind}' for kind, count in kinds.items() if count)})"
    alone = groups.count - groups.compared
    return f"{line}, {alone:,} with fewer than two scored samples" if alone else line


def _failures(summary: Summary, ascii_only: bool) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("why not scored", overflow="fold")
    table.add_column("first", overflow="fold")
    for failure in summary.failures[:MAX_FAILURES]:
        status = Text(failure.status, style=_STYLES.get(Status(failure.status), "yellow"))
        reason, first = to_text(failure.reason, ascii_only), to_text(failure.example, ascii_only)
        table.add_row(f"{failure.count:,}", status, reason, first)
    rest = summary.failures[MAX_FAILURES:]
    if not rest:
        return table
    kinds = "1 further kind" if len(rest) == 1 else f"{len(rest):,} further kinds"
    return Group(table, f"{kinds} of failure, {sum(one.count for one in rest):,} samples, not shown")


def render_headline(name: str, figures: Figures, remarks: Sequence[Remark]) -> RenderableType:
    """The figures of a run in a line, then every remark to act on with its advice."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in headline(remarks):
        table.add_row(Text(one.level.value, style=_LEVEL_STYLES[one.level]), Text(escape_controls(one.text)))
        if one.advice:
            table.add_row("", Text(one.advice, style="dim"))
    if not table.row_count:
        table.add_row(Text("good", style="green"), "nothing stands out in these figures")
    return Group(Text.assemble((escape_controls(name), "bold"), f": {_headline_facts(figures)}"), table)


def _headline_facts(figures: Figures) -> str:
    summary, groups = figures.summary, figures.groups
    facts = [count_noun(summary.count, "sample")]
    if summary.ok < summary.count:
        facts.append(f"{summary.count - summary.ok:,} not scored")
    if summary.reward is not None:
        facts.append(f"mean reward {format_mean(summary.reward.covered_mean, format_number)}")
    if figures.pass_rates is not None:
        shown = dict.fromkeys((figures.pass_rates.pass_at[0], figures.pass_rates.pass_at[-1]))
        facts += [f"pass@{one.k} {format_share(one.value)}" for one in shown]
    if groups.compared:
        phantom = "" if summary.score is None else f", {groups.phantom:,} phantom"
        facts.append(f"{groups.dead:,} of {groups.compared:,} groups dead{phantom}")
    return ", ".join(facts)


def render_breakdown(breakdown: Breakdown) -> RenderableType:
    """A line for each value of the column, the largest first."""
    partial = any(one.scored < one.count for one in breakdown.slices)
    means = ("reward", "reward_all", "score", "score_all") if partial else ("reward", "score")
    titles = ("n", "scored", *(name.replace("_all", ", all") for name in means))
    rows = (
        (
            shorten(escape_controls(one.value), MAX_VALUE),
            f"{one.count:,}",
            f"{one.scored:,}",
            *(_figure(getattr(one, name)) for name in means),
        )
        for one in breakdown.slices[:MAX_SLICES]
    )
    numbers = (Column(title, justify="right", no_wrap=True) for title in titles)
    table = bare_table(Column(f"by {breakdown.column}", overflow="fold"), *numbers, rows=rows)
    rest = breakdown.slices[MAX_SLICES:]
    if not rest:
        return table
    return Group(table, f"{len(rest):,} further values, {sum(one.count for one in rest):,} samples, not shown")


def render_agreement(agreement: Agreement, column: str) -> RenderableType:
    """Counts of right and wrong by reward and label, and what follows from them."""
    numbers = (Column(title, justify="right") for title in ("labelled right", "labelled wrong"))
    rows = (
        ("reward says right", f"{agreement.right_right:,}", f"{agreement.right_wrong:,}"),
        ("reward says wrong", f"{agreement.wrong_right:,}", f"{agreement.wrong_wrong:,}"),
    )
    counts = bare_table(f"against {column}", *numbers, rows=rows)
    shares = {name: getattr(agreement, name) for name in ("precision", "recall", "accuracy")} | {"κ": agreement.kappa}
    facts = ", ".join(f"{name} {_figure(value)}" for name, value in shares.items())
    left_out = {"not scored": agreement.unscored, "without a label": agreement.unlabelled}
    notes = ", ".join(f"{count:,} {name}" for name, count in left_out.items() if count)
    return Group(counts, f"{facts} of {agreement.count:,} samples" + (f" ({notes} left out)" if notes else ""))


def _figure(value: float | None) -> str:
    return "-" if value is None else format_number(value)


def render_histogram(bins: Sequence[Bin], *, title: str = "") -> RenderableType:
    """A bar per bin, with count and share."""
    head = [Text(title, style="bold")] if title else []
    if not bins:
        return Group(*head, "no values")
    total, most = sum(each.count for each in bins) or 1, max(each.count for each in bins) or 1
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for each, label in zip(bins, _labels(bins), strict=True):
        bar = ProgressBar(total=most, completed=each.count)
        table.add_row(label, bar, f"{each.count:,}", f"{each.count / total:.1%}")
    return Group(*head, Constrain(table, MAX_WIDTH))


def _labels(bins: Sequence[Bin]) -> list[str]:
    """The ranges of the bins, with enough digits to distinguish them."""
    for digits in range(3, 18):
        labels = [_label(each, digits) for each in bins]
        if len(set(labels)) == len(labels):
            break
    return labels


def _label(interval: Bin, digits: int) -> str:
    low = f"{interval.low:.{digits}g}"
    return low if interval.low == interval.high else f"{low} to {interval.high:.{digits}g}"
