"""`plaudit rewards`: what there is, and what each one does."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from plaudit.cli.console import print_json, print_result, reserve_stdout
from plaudit.cli.options import JsonOption
from plaudit.loading import available, listing_of
from plaudit.report.terminal.formatting import bare_table

__all__ = ["app"]

app = typer.Typer(help="List the rewards that can be named without a file, or show one.", invoke_without_command=True)


@app.callback()
@reserve_stdout()
def list_rewards(context: typer.Context, json: JsonOption = False) -> None:
    """List the rewards that can be named without a file, or show one."""
    if context.invoked_subcommand is not None:
        return
    listings = available().values()
    if json:
        print_json([asdict(listing) for listing in listings])
        return
    table = bare_table()
    table.add_column("name", style="bold")
    table.add_column("what it gives")
    table.add_column("from", no_wrap=True)
    for listing in listings:
        table.add_row(listing.name, Text(listing.summary), listing.origin)
    print_result(table, "\n`plaudit rewards show NAME` says more about one of them.")


@app.command("show")
@reserve_stdout()
def show_reward(name: Annotated[str, typer.Argument(metavar="NAME")], json: JsonOption = False) -> None:
    """Show what one reward measures and how to configure it."""
    listing = listing_of(name)
    if json:
        print_json(asdict(listing))
    else:
        print_result(
            Text(f"{listing.name}{listing.signature}", style="bold"), Text(listing.doc), f"\n({listing.origin})"
        )
