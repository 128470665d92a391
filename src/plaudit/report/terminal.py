"""Summaries and histograms for the terminal, in as many columns as it has.

Where the width does not suffice, whole columns are left out, least telling first: a figure is never cut. Text that
comes from samples is shown without its control characters, since a response may hold anything.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from plaudit.contract.output import Status
from plaudit.engine import ScorerStats
from plaudit.report.distribution import Bin, Distribution, bins_of
from plaudit.report.summary import Latency, Summary

__all__ = ["bare_table", "duration", "engine_line", "figure", "histogram", "printable", "summary_table"]

BLOCKS = " ▏▎▍▌▋▊▉█"
MAX_BAR = 50
_STYLES = {Status.OK: "green", Status.ERROR: "red", Status.TIMEOUT: "red"}


def summary_table(summary: Summary) -> RenderableType:
    """The whole summary: spread of every value, statuses, groups, latency, failures, slowest samples."""
    return _SummaryView(summary)


def engine_line(stats: ScorerStats) -> RenderableType:
    """How the scoring itself went: workers and their use, waiting, losses, cache hits."""
    told = [f"{stats.workers} workers" if stats.workers > 1 else "1 worker"]
    if stats.utilisation is not None:
        told.append(f"{stats.utilisation:.0%} busy")
    plain = stats.to_dict()
    if plain["queued_s"]:
        told.append(f"queued p95 {duration(plain['queued_s']['p95'])}")
    if stats.cached or stats.duplicates:
        told.append(f"{stats.cached:,} from the cache, {stats.duplicates:,} duplicates")
    told += [f"{count:,} workers lost ({how})" for how, count in stats.workers_lost.items()]
    return Text(f"engine   {', '.join(told)}")


def histogram(values: Iterable[float | Bin], *, title: str = "") -> RenderableType:
    """Horizontal bars, one per bin, with count and share; takes bins, or numbers to be sorted into bins."""
    bins: list[Bin] = []
    numbers: list[float] = []
    for item in values:
        if isinstance(item, Bin):
            bins.append(item)
        else:
            numbers.append(item)
    return _Histogram((*bins, *bins_of(sorted(numbers))), title)


def figure(value: float) -> str:
    """A number in a few characters.

    >>> figure(0.5), figure(1234.56), figure(1e-9)
    ('0.500', '1,234.6', '1e-09')
    """
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.1f}" if size >= 1000 else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Seconds as people read them.

    >>> duration(0.0042), duration(3.14159), duration(600)
    ('4.2 ms', '3.14 s', '10.0 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def printable(text: str, *, keep: str = "") -> str:
    """Control characters and lone surrogates shown, not sent to the terminal, except for those to `keep`."""
    return "".join(char if char.isprintable() or char in keep else ascii(char)[1:-1] for char in text)


def bare_table(*headers: str) -> Table:
    """A table without lines around its cells."""
    return Table(*headers, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    spread: Distribution
    latency: Latency | None


# In the order of display, with the turn in which a column is left out when the terminal is narrow; 0 is never.
_COLUMNS: tuple[tuple[str, int, Callable[[_Row], str]], ...] = (
    ("n", 6, lambda row: f"{row.spread.count:,}"),
    ("mean", 0, lambda row: figure(row.spread.mean)),
    ("std", 7, lambda row: figure(row.spread.std)),
    ("min", 8, lambda row: figure(row.spread.min)),
    ("p25", 5, lambda row: figure(row.spread.p25)),
    ("p50", 9, lambda row: figure(row.spread.p50)),
    ("p75", 5, lambda row: figure(row.spread.p75)),
    ("max", 8, lambda row: figure(row.spread.max)),
    ("at min", 3, lambda row: f"{row.spread.at_min:.0%}"),
    ("at max", 3, lambda row: f"{row.spread.at_max:.0%}"),
    ("skew", 2, lambda row: "-" if row.spread.skewness is None else f"{row.spread.skewness:.2f}"),
    ("p95 time", 1, lambda row: "-" if row.latency is None else duration(row.latency.p95)),
)


@dataclass(frozen=True, slots=True)
class _SummaryView:
    summary: Summary

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _facts(self.summary, options.ascii_only)
        if rows := _rows(self.summary):
            yield ""
            yield _fitting(rows, console, options)
        if self.summary.failures:
            yield ""
            yield _failures(self.summary, options.ascii_only)


def _rows(summary: Summary) -> list[_Row]:
    rows = [_Row("reward", summary.reward, summary.latency)] if summary.reward else []
    if summary.score:
        rows.append(_Row("score", summary.score, None))
    for name, spread in summary.components.items():
        rows.append(_Row(f"  {name}", spread, summary.component_latency.get(name)))
    return rows


def _fitting(rows: list[_Row], console: Console, options: ConsoleOptions) -> Table:
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
    kept = [(title, cell) for title, turn, cell in _COLUMNS if turn == 0 or turn > dropped]
    for title, _ in kept:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(_shown(row.name, options.ascii_only), *(cell(row) for _, cell in kept))
    return table


def _facts(summary: Summary, ascii_only: bool) -> Table:
    """One line per fact, each under its name."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("samples", _statuses(summary))
    if summary.groups.compared:
        table.add_row("groups", _groups(summary))
    if summary.groups.length_correlation is not None:
        told = f"{summary.groups.length_correlation:+.2f} correlation with reward, within groups"
        table.add_row("length", told)
    if summary.latency:
        latency = summary.latency
        told = f"p50 {duration(latency.p50)}, p95 {duration(latency.p95)}, p99 {duration(latency.p99)}"
        table.add_row("latency", told)
    if summary.slowest:
        slow = ", ".join(
            f"{sample.index if sample.id is None else sample.id} ({duration(sample.seconds)})"
            for sample in summary.slowest
        )
        table.add_row("slowest", _shown(slow, ascii_only))
    return table


def _statuses(summary: Summary) -> Text:
    line = Text(f"{summary.count:,}")
    for place, (status, count) in enumerate(summary.statuses.items()):
        line.append(": " if place == 0 else ", ")
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


def _failures(summary: Summary, ascii_only: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("why not scored", overflow="fold")
    table.add_column("first", overflow="fold")
    for failure in summary.failures:
        status = Text(failure.status, style=_STYLES.get(Status(failure.status), "yellow"))
        reason, first = _shown(failure.reason, ascii_only), _shown(failure.example, ascii_only)
        table.add_row(f"{failure.count:,}", status, reason, first)
    return table


def _shown(text: str, ascii_only: bool) -> Text:
    shown = printable(text)
    return Text(shown.encode("ascii", "backslashreplace").decode() if ascii_only else shown)


@dataclass(frozen=True, slots=True)
class _Histogram:
    bins: tuple[Bin, ...]
    title: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield Text(self.title, style="bold")
        if not self.bins:
            yield Text("no values")
            return
        total, most = sum(found.count for found in self.bins), max(found.count for found in self.bins)
        labels = _labels(self.bins)
        figures = [f"{found.count:,}" for found in self.bins]
        label_width, count_width = max(map(len, labels)), max(map(len, figures))
        bar_width = max(1, min(MAX_BAR, options.max_width - label_width - count_width - 11))
        for found, label, count in zip(self.bins, labels, figures, strict=True):
            line = Text(f"{label:>{label_width}}  ", no_wrap=True)
            bar = _bar(found.count / most if most else 0.0, bar_width, options.ascii_only)
            line.append(f"{bar:<{bar_width}}", style="cyan")
            line.append(f"  {count:>{count_width}} {found.count / total if total else 0.0:>6.1%}")
            yield line


def _bar(share: float, width: int, ascii_only: bool) -> str:
    """A bar of `share` of the width; whatever is not nothing shows."""
    if ascii_only:
        return "#" * max(round(share * width), 1 if share else 0)
    eighths = max(round(share * width * 8), 1 if share else 0)
    return BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip()


def _labels(bins: Sequence[Bin]) -> list[str]:
    """What the bins hold, with as many digits as it takes to tell them apart."""
    for digits in range(3, 18):
        labels = [_label(found, digits) for found in bins]
        if len(set(labels)) == len(labels):
            break
    return labels


def _label(found: Bin, digits: int) -> str:
    low = f"{found.low:.{digits}g}"
    return low if found.low == found.high else f"{low} to {found.high:.{digits}g}"
