"""Histograms for the terminal: horizontal bars that fit its width."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from plaudit.report.distribution import Bin, make_bins

__all__ = ["draw_bars", "render_histogram"]

BLOCKS = " ▏▎▍▌▋▊▉█"
MAX_BAR = 50


def render_histogram(values: Iterable[float | Bin], *, title: str = "") -> RenderableType:
    """Horizontal bars, one per bin, with count and share; takes bins, or numbers to be sorted into bins."""
    bins: list[Bin] = []
    numbers: list[float] = []
    for item in values:
        if isinstance(item, Bin):
            bins.append(item)
        else:
            numbers.append(item)
    return _Histogram((*bins, *make_bins(sorted(numbers))), title)


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
        for label, bar, figures in draw_bars(self.bins, options.max_width, ascii_only=options.ascii_only):
            line = Text(f"{label}  ", no_wrap=True)
            line.append(bar, style="cyan")
            line.append(f"  {figures}")
            yield line


def draw_bars(bins: Sequence[Bin], width: int, *, ascii_only: bool = False) -> Iterator[tuple[str, str, str]]:
    """The range of each bin, its bar, and its count and share, padded to columns of at most `width` characters."""
    total, most = sum(each.count for each in bins), max(each.count for each in bins)
    labels, counts = _labels(bins), [f"{each.count:,}" for each in bins]
    label_width, count_width = max(map(len, labels)), max(map(len, counts))
    bar_width = max(1, min(MAX_BAR, width - label_width - count_width - 11))
    for each, label, count in zip(bins, labels, counts, strict=True):
        bar = _bar(each.count / most if most else 0.0, bar_width, ascii_only)
        share = each.count / total if total else 0.0
        yield f"{label:>{label_width}}", f"{bar:<{bar_width}}", f"{count:>{count_width}} {share:>6.1%}"


def _bar(share: float, width: int, ascii_only: bool) -> str:
    """A bar of `share` of the width; whatever is not nothing shows."""
    if ascii_only:
        return "#" * max(round(share * width), 1 if share else 0)
    eighths = max(round(share * width * 8), 1 if share else 0)
    return BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip()


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
