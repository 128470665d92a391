"""The figures of a training run as plain text of at most 100 columns, and one line about the rewards of a batch.

Text that comes from samples is shown with its control characters escaped, since a response may hold anything.
"""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from plaudit.contract.output import RewardOutput
from plaudit.report.advice import remarks
from plaudit.report.collecting import distribution_of
from plaudit.report.coverage import format_mean
from plaudit.report.figures import Distribution, FailurePattern, Figures, Kind, StepPoint
from plaudit.report.formatting import bare_table, escape_controls, format_number, shorten
from plaudit.report.terminal.tables import render_headline, render_histogram, render_summary

WIDTH = 100
MAX_POINTS, MAX_TEXT = 10, 80
LEVELS = "▁▂▃▄▅▆▇█"


def describe_batch(outputs: Iterable[RewardOutput]) -> str:
    """The rewards of one batch: least, mean and most, spread, and a small histogram."""
    listed = list(outputs)
    unscored = sum(not output.ok for output in listed)
    distribution = distribution_of((output.reward for output in listed if output.reward is not None), unscored)
    count = f"{len(listed)} samples" + (f", {unscored} not scored" if unscored else "")
    if distribution is None:
        return f"rewards of {count}"
    most = max(each.count for each in distribution.bins)
    bars = "".join(LEVELS[round((len(LEVELS) - 1) * each.count / most)] for each in distribution.bins)
    return f"rewards of {count}: {_moments(distribution)}  [{bars}]"


def render_analysis(figures: Figures) -> str:
    """All figures that text can show: spread, remarks, training steps, kinds of response, failures."""
    summary, patterns = figures.summary, figures.patterns
    parts: list[RenderableType] = [render_headline("Reward analysis", figures, remarks(figures)), ""]
    parts += [render_summary(summary), ""]
    if summary.reward is not None:
        parts += [f"reward: {_moments(summary.reward)}, variance {summary.reward.std**2:.4g}", ""]
        parts += [render_histogram(summary.reward.bins, title="Distribution of rewards"), ""]
    if figures.curve:
        parts += [_curve(figures.curve), ""]
    for title, kinds in (("earn more", patterns.high), ("earn less", patterns.low)):
        parts += [_kinds(f"Responses that {title} than the others", kinds), ""] if kinds else []
    if patterns.failures:
        parts.append(f"Common failure patterns ({patterns.failing:,} of {patterns.responses:,} responses fail)")
        parts += [each for pattern in patterns.failures for each in _pattern(pattern)]
    text = io.StringIO()
    Console(file=text, width=WIDTH, color_system=None, emoji=False, highlight=False).print(*parts, sep="\n")
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _moments(distribution: Distribution) -> str:
    skewness = "none" if distribution.skewness is None else f"{distribution.skewness:+.2f}"
    mean = format_mean(distribution.covered_mean, "{:.3g}".format)
    low, high, std = (f"{value:.3g}" for value in (distribution.min, distribution.max, distribution.std))
    return f"min {low}, mean {mean}, max {high}, std {std}, skewness {skewness}"


def _curve(points: Sequence[StepPoint]) -> Table:
    """About ten of the training steps."""
    table = bare_table("step", "reward", "std", "score", "scored", "length", "dead groups")
    for point in points[:: -(-len(points) // MAX_POINTS)]:
        means = (
            None if value is None else format_number(value) for value in (point.reward, point.reward_std, point.score)
        )
        dead = None if point.dead is None else f"{point.dead:.0%}"
        cells = (str(point.first), *means, f"{point.scored:.0%}", f"{point.length:.0f}", dead)
        table.add_row(*("-" if cell is None else cell for cell in cells))
    return table


def _kinds(title: str, kinds: Sequence[Kind]) -> Table:
    rows = ((_show(kind.name), f"{kind.mean:.3f}", f"{kind.difference:+.3f}", f"{kind.share:.1%}") for kind in kinds)
    return bare_table(title, "mean", "difference", "share", rows=rows)


def _pattern(pattern: FailurePattern) -> list[RenderableType]:
    shares = f"{pattern.share_of_failures:.0%} of failures ({pattern.count:,}), {pattern.share_of_others:.0%} of others"
    table = Table.grid(padding=(0, 2, 0, 0))
    for name in ("prompt", "response", "ground_truth", "reward", "reason"):
        value = getattr(pattern.example, name)
        if value != "":
            table.add_row(name.replace("_", " "), _show(f"{value:.3g}" if name == "reward" else value))
    return ["", _show(pattern.what), f"    in {shares}; for example", Padding(table, (0, 0, 0, 4))]


def _show(text: str) -> Text:
    return Text(shorten(escape_controls(text), MAX_TEXT))
