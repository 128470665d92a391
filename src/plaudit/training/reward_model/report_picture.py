"""The report of a reward model as one picture: margins, calibration, rewards by length, accuracy by length."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plaudit.errors import require
from plaudit.training.reporting.curves import save_figure
from plaudit.training.reporting.panels import BLUE, FAINT, GREEN, GRID, INK, ORANGE, RED
from plaudit.training.reward_model.held_out import Estimate, RatedPair
from plaudit.training.reward_model.length_bias import LengthVerdict
from plaudit.training.reward_model.reward_model_report import RewardModelReport

__all__ = ["draw_report"]

MOST_POINTS = 2000
VERDICT_COLORS = {
    LengthVerdict.CLEAR: GREEN, LengthVerdict.LEANING: ORANGE, LengthVerdict.BIASED: RED, LengthVerdict.CHANCE: ORANGE,
}  # fmt: skip


def draw_report(report: RewardModelReport, rated: Sequence[RatedPair], path: str | Path) -> None:
    """Draw the report as a PNG; `rated` are the held-out pairs it is of."""
    matplotlib = require("matplotlib.figure", extra="train", purpose="drawing the report of a reward model")
    require("matplotlib.backends.backend_agg", extra="train", purpose="drawing the report of a reward model")
    figure = matplotlib.Figure(figsize=(12, 8), dpi=110, layout="constrained", facecolor="white")
    accuracy = report.accuracy
    figure.suptitle(
        f"Reward model: accuracy {accuracy.value:.2f} [{accuracy.low:.2f}, {accuracy.high:.2f}] on "
        f"{accuracy.count:,} held-out pairs, {report.length.verdict}",
        x=0.01, ha="left", color=VERDICT_COLORS[report.length.verdict], fontsize=14, fontweight="bold",
    )  # fmt: skip
    axes = figure.subplots(2, 2)
    _draw_margins(axes[0, 0], rated)
    _draw_calibration(axes[0, 1], report)
    _draw_lengths(axes[1, 0], report, rated)
    _draw_accuracies(axes[1, 1], report)
    for each in axes.flat:
        _dress(each)
    save_figure(figure, path)


def _draw_margins(axes: Any, rated: Sequence[RatedPair]) -> None:
    margins = [each.margin for each in rated]
    reach = max(map(abs, margins)) or 1.0
    edges = [reach * (place - 15) / 15 for place in range(31)]
    for color, label, part in (
        (GREEN, "ordered right", [each for each in margins if each > 0]),
        (RED, "ordered wrong", [each for each in margins if each <= 0]),
    ):
        axes.hist(part, bins=edges, color=color, alpha=0.8, label=label)
    axes.set_title("Margins: reward of the chosen minus the rejected", loc="left", color=INK, fontsize=11)
    axes.set_xlabel("margin", color=FAINT)
    axes.set_ylabel("pairs", color=FAINT)
    axes.legend(frameon=False, labelcolor=INK)


def _draw_calibration(axes: Any, report: RewardModelReport) -> None:
    bins = report.calibration.bins
    axes.plot([0.5, 1], [0.5, 1], color=FAINT, linewidth=1, linestyle="--", label="as claimed")
    claimed = [each.claimed for each in bins]
    observed = [each.observed.value for each in bins]
    below = [max(0.0, each.observed.value - each.observed.low) for each in bins]
    above = [max(0.0, each.observed.high - each.observed.value) for each in bins]
    axes.errorbar(
        claimed, observed, yerr=[below, above], color=BLUE, marker="o", linewidth=2, elinewidth=1, capsize=3,
        label="observed",
    )  # fmt: skip
    axes.set_xlim(0.49, 1.01)
    axes.set_ylim(0, 1.05)
    error = report.calibration.error
    axes.set_title(
        f"Calibration: how sure, and how often right (error {error:.3f})", loc="left", color=INK, fontsize=11
    )
    axes.set_xlabel("claimed: σ(|margin|)", color=FAINT)
    axes.set_ylabel("share right", color=FAINT)
    axes.legend(frameon=False, labelcolor=INK, loc="lower right")


def _draw_lengths(axes: Any, report: RewardModelReport, rated: Sequence[RatedPair]) -> None:
    shown = rated[:: -(-len(rated) // MOST_POINTS)]
    for color, label, points in (
        (RED, "rejected", [(each.lengths[1], each.rejected_reward) for each in shown]),
        (GREEN, "chosen", [(each.lengths[0], each.chosen_reward) for each in shown]),
    ):
        axes.scatter(*zip(*points, strict=True), s=9, color=color, alpha=0.5, linewidths=0, label=label)
    found = report.length.correlation
    said = "one of them does not vary" if found is None else f"correlation {found:.2f}"
    axes.set_title(f"Reward and length ({said})", loc="left", color=INK, fontsize=11)
    axes.set_xlabel("characters", color=FAINT)
    axes.set_ylabel("reward", color=FAINT)
    axes.legend(frameon=False, labelcolor=INK)


def _draw_accuracies(axes: Any, report: RewardModelReport) -> None:
    length = report.length
    bars: dict[str, Estimate | None] = {
        "all": report.accuracy,
        "length-\nmatched": length.matched,
        "chosen\nlonger": length.chosen_longer,
        "chosen\nshorter": length.chosen_shorter,
        "longer\ncut": length.cut,
        "shorter\nrepeated": length.repeated,
    }
    found = {name: each for name, each in bars.items() if each is not None}
    axes.bar(list(found), [each.value for each in found.values()], color=BLUE, alpha=0.8, width=0.6)
    for place, each in enumerate(found.values()):
        axes.plot([place, place], [each.low, each.high], color=INK, linewidth=1.2)
        axes.annotate(f"n={each.count}", (place, 0.02), ha="center", color="white", fontsize=8)
    axes.axhline(0.5, color=FAINT, linewidth=1, linestyle="--")
    axes.axhline(length.longer_share, color=ORANGE, linewidth=1.5)
    axes.set_ylim(0, 1.05)
    rule = f'line: the rule "longer wins", {length.longer_share:.2f}'
    axes.set_title(f"Accuracy, by length ({rule})", loc="left", color=INK, fontsize=11)


def _dress(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)
    axes.grid(visible=True, axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=FAINT, labelsize=9, length=0)
