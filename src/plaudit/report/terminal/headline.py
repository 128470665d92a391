"""The headline of a report for the terminal: a line of figures, and what to look at."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plaudit.report.coverage import format_mean
from plaudit.report.statistics.figures import Figures
from plaudit.report.statistics.remarks import Level, Remark, format_share, headline
from plaudit.report.terminal.formatting import escape_controls, format_number

__all__ = ["render_headline"]

_STYLES = {Level.WARNING: "red", Level.NOTE: "yellow"}


def render_headline(name: str, figures: Figures, said: Sequence[Remark]) -> RenderableType:
    """The figures of a run in a line, then every remark to act on with its advice."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in headline(said):
        table.add_row(Text(one.level.value, style=_STYLES[one.level]), Text(escape_controls(one.text)))
        if one.advice:
            table.add_row("", Text(one.advice, style="dim"))
    if not table.row_count:
        table.add_row(Text("good", style="green"), "nothing stands out in these figures")
    return Group(Text.assemble((escape_controls(name), "bold"), f": {_figures(figures)}"), table)


def _figures(figures: Figures) -> str:
    summary, groups = figures.summary, figures.groups
    facts = [f"{summary.count:,} samples"]
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
