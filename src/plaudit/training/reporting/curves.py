"""A run's metrics as one picture: reward and held-out score, length, entropy and KL, what was not scored, time.

Drawn without pyplot, so that it needs no display and leaves no figure behind. Panels without numbers are left out.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plaudit.errors import TrainingError, require
from plaudit.training.reporting.panels import (
    FAINT,
    GRID,
    INK,
    MAIN,
    PANELS,
    Line,
    Panel,
    number_of,
    series_of,
    split_panels,
)

__all__ = ["draw_curves", "save_figure"]

SMOOTHING = 0.04  # of the steps
MOST_IN_A_ROW = 5


def draw_curves(metrics: Sequence[Mapping[str, Any]], path: str | Path, *, title: str = "") -> None:
    """Draw the metrics of a run (the objects of metrics.jsonl, each with its `step`) as a PNG."""
    if not metrics:
        raise TrainingError("no metrics to draw; train at least one step")
    matplotlib = require("matplotlib.figure", extra="train", purpose="drawing the curves of a run")
    require("matplotlib.backends.backend_agg", extra="train", purpose="drawing the curves of a run")
    panels = [panel for panel in (*split_panels(metrics), *PANELS) if panel.visible_lines(metrics)]
    rows = max(1, math.ceil(len(panels) / MOST_IN_A_ROW))
    columns = max(1, math.ceil(len(panels) / rows))
    figure = matplotlib.Figure(figsize=(12, 4.7 + 2.5 * rows), dpi=120, layout="constrained", facecolor="white")
    grid = figure.add_gridspec(1 + rows, columns, height_ratios=(1.9, *[1] * rows))
    _draw(figure.add_subplot(grid[0, :]), MAIN, metrics, large=True)
    for place, panel in enumerate(panels):
        _draw(figure.add_subplot(grid[1 + place // columns, place % columns]), panel, metrics)
    if title:
        figure.suptitle(title, x=0.01, ha="left", color=INK, fontsize=15, fontweight="bold")
    save_figure(figure, path)


def save_figure(figure: Any, path: str | Path) -> None:
    """Save a figure as a PNG, laid out once: saving would draw everything once more for that."""
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")
    figure.savefig(str(path), format="png")


def _draw(axes: Any, panel: Panel, metrics: Sequence[Mapping[str, Any]], *, large: bool = False) -> None:
    lines = panel.visible_lines(metrics)
    if panel.stacked:
        _stack(axes, lines, metrics)
    for line in () if panel.stacked else lines:
        _plot(axes, line, metrics, large)
    _dress(axes, large)
    _limit(axes, panel, large)
    if large:
        _label_ends(axes, [line for line in lines if line.points], metrics)
    named = len(lines) > 1 or (bool(lines) and (large or panel.share))
    axes.set_title(panel.title, loc="left", color=INK, fontsize=12 if large else 10, pad=24)
    if named:  # above the lines, where it cannot hide one
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncols=4 if large else 3, frameon=False, borderpad=0.2,
            fontsize=10 if large else 7.5, labelcolor=INK, handlelength=1.2, columnspacing=1.0, handletextpad=0.5,
        )  # fmt: skip


def _limit(axes: Any, panel: Panel, large: bool) -> None:
    """Whole scales where there are such: a curve should not look steep because its axis is short."""
    low, high = axes.get_ylim()
    if panel.share:
        axes.set_ylim(0, max(0.1, min(1.0, high)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    elif large and low >= -0.1 and high <= 1.1:
        axes.set_ylim(0, 1.03)
    elif not large:
        axes.set_ylim(bottom=min(0, low) if low <= high / 2 else None)


def _label_ends(axes: Any, lines: Sequence[Line], metrics: Sequence[Mapping[str, Any]]) -> None:
    """The last value of every line, moved apart where they would meet."""
    low, high = axes.get_ylim()
    ends = [(values[-1], steps[-1], line) for line in lines for steps, values in [series_of(line.metric, metrics)]]
    free = low
    for value, step, line in sorted(ends, key=lambda end: end[0]):
        height = max(value, free)
        free = height + 0.055 * (high - low)
        axes.annotate(
            f"{value:.2f}", (step, height), xytext=(9, 0), textcoords="offset points", color=line.color, fontsize=12,
            fontweight="bold", va="center", annotation_clip=False,
        )  # fmt: skip


def _plot(axes: Any, line: Line, metrics: Sequence[Mapping[str, Any]], large: bool) -> None:
    steps, values = series_of(line.metric, metrics)
    if line.points:
        axes.plot(steps, values, color=line.color, marker="o", markersize=6, linewidth=2.2, label=line.label, zorder=5)
        return
    axes.plot(steps, values, color=line.color, alpha=0.25, linewidth=0.8)
    axes.plot(steps, _smooth(values), color=line.color, linewidth=2.0 if large else 1.6, label=line.label)


def _stack(axes: Any, lines: Sequence[Line], metrics: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for row in metrics if any(number_of(row, line.metric) is not None for line in lines)]
    steps = [row["step"] for row in rows]
    layers = [_smooth([number_of(row, line.metric) or 0.0 for row in rows]) for line in lines]
    axes.stackplot(
        steps, layers, colors=[line.color for line in lines], labels=[line.label for line in lines], alpha=0.8
    )


def _dress(axes: Any, large: bool) -> None:
    """Few lines, pale ones, and none that is not needed."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)
    axes.grid(visible=True, axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=FAINT, labelsize=10 if large else 8, length=0)
    axes.set_xlabel("step", color=FAINT, fontsize=10 if large else 8)
    axes.margins(x=0.02)


def _smooth(values: Sequence[float]) -> list[float]:
    """A moving average over a small share of the steps, centred."""
    half = int(len(values) * SMOOTHING / 2)
    return [
        sum(part) / len(part)
        for place in range(len(values))
        if (part := values[max(0, place - half) : place + half + 1])
    ]
