"""Rewards by the values of a column, and agreement with labels, as tables."""

from rich.console import Group, RenderableType

from plaudit.report.agreement import Agreement
from plaudit.report.breakdown import Breakdown
from plaudit.report.terminal.formatting import bare_table, escape_controls, format_number

__all__ = ["render_agreement", "render_breakdown"]

MAX_SLICES = 20
MAX_VALUE = 40


def render_breakdown(breakdown: Breakdown) -> RenderableType:
    """A line for each value of the column, the largest first."""
    table = bare_table()
    table.add_column(f"by {breakdown.column}", overflow="fold")
    partial = any(one.scored < one.count for one in breakdown.slices)
    means = ("reward", "reward_all", "score", "score_all") if partial else ("reward", "score")
    for title in ("n", "scored", *(name.replace("_all", ", all") for name in means)):
        table.add_column(title, justify="right", no_wrap=True)
    for one in breakdown.slices[:MAX_SLICES]:
        value = escape_controls(one.value)
        value = value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}…"
        table.add_row(value, f"{one.count:,}", f"{one.scored:,}", *(_figure(getattr(one, name)) for name in means))
    rest = breakdown.slices[MAX_SLICES:]
    if not rest:
        return table
    return Group(table, f"{len(rest):,} further values, {sum(one.count for one in rest):,} samples, not shown")


def render_agreement(agreement: Agreement, column: str) -> RenderableType:
    """Counts of right and wrong by reward and label, and what follows from them."""
    counts = bare_table(f"against {column}")
    for title in ("labelled right", "labelled wrong"):
        counts.add_column(title, justify="right")
    counts.add_row("reward says right", f"{agreement.right_right:,}", f"{agreement.right_wrong:,}")
    counts.add_row("reward says wrong", f"{agreement.wrong_right:,}", f"{agreement.wrong_wrong:,}")
    shares = {name: getattr(agreement, name) for name in ("precision", "recall", "accuracy")} | {"κ": agreement.kappa}
    facts = ", ".join(f"{name} {_figure(value)}" for name, value in shares.items())
    left_out = {"not scored": agreement.unscored, "without a label": agreement.unlabelled}
    notes = ", ".join(f"{count:,} {name}" for name, count in left_out.items() if count)
    return Group(counts, f"{facts} of {agreement.count:,} samples" + (f" ({notes} left out)" if notes else ""))


def _figure(value: float | None) -> str:
    return "-" if value is None else format_number(value)
