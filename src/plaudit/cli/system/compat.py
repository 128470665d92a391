"""`plaudit compat`: which versions of which systems rewards were run in."""

from dataclasses import asdict

from rich.table import Column, Table

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.exports.compat import compat_rows

__all__ = ["compat"]


def compat(json: options.Json = False) -> None:
    """Show the systems that rewards load from and can be exported to, and what of it was run with the real package."""
    rows = compat_rows()
    if json:
        print_json([asdict(row) for row in rows])
        return
    table = Table(
        Column("system", no_wrap=True, min_width=13),
        "version",
        "date",
        "import",
        "export",
        "groups",
        "unscored",
        box=None,
        pad_edge=False,
    )
    for row in rows:
        cells = (row.system, row.version, row.date, row.imported, row.exported, row.groups, row.unscored)
        table.add_row(*(cell or "–" for cell in cells))
    print_result(table, "\nchecks passed of those run; contract: called as documented, without the package")
