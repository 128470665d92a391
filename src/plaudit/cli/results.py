"""The results of tests as a table: passed or FAILED, which test, and what came of it."""

from collections.abc import Iterable
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from plaudit.report.terminal.formatting import bare_table

__all__ = ["ResultLine", "results_table"]


class ResultLine(NamedTuple):
    """One test and its result in words."""

    passed: bool
    name: str
    outcome: str


def results_table(what: str, lines: Iterable[ResultLine]) -> Table:
    """A line for each test; `what` says what a test is called here."""
    table = bare_table("")
    table.add_column(what, overflow="fold")
    table.add_column("result", overflow="fold")
    for line in lines:
        verdict = Text("passed", style="green") if line.passed else Text("FAILED", style="red")
        table.add_row(verdict, Text(line.name), Text(line.outcome))
    return table
