"""`plaudit export`: write a file that gives a reward to another trainer; `plaudit compat`: what was run there."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.errors import InvalidSettings
from plaudit.exports import write_shim
from plaudit.exports.compat import compat_rows
from plaudit.exports.exporting import EXPORTS
from plaudit.loading import spec_using

__all__ = ["compat", "export"]


def export(
    reward: options.Reward,
    trainer: Annotated[str, typer.Argument(metavar="TRAINER", help="trl, verl, verl:batch, slime, inspect, …")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.")],
    on_unscored: Annotated[
        str | None,
        typer.Option(help="What the trainer gets where there is no number: none, nan, mean, mask or raise."),
    ] = None,
    group_size: Annotated[int | None, typer.Option(min=1, help="Samples per prompt, for a reward of groups.")] = None,
    deadline: Annotated[float | None, typer.Option(metavar="SECONDS", help="How long one sample may take.")] = None,
    workers: options.Workers = None,
    dialect: options.Dialect = None,
    scope: options.Scope = None,
    max_batch: options.MaxBatch = None,
    chat_template: options.ChatTemplate = None,
    columns: options.Columns = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Write FILE, which builds REWARD the way TRAINER calls rewards, and print how to use it."""
    if trainer not in EXPORTS and reward in EXPORTS:
        raise InvalidSettings(f"the reward comes first: plaudit export {trainer!r} {reward} -o {out}")
    options.check_output(out, overwrite=overwrite)
    if not out.stem.isidentifier() or out.suffix != ".py":
        raise InvalidSettings(
            f"{out.name} cannot be imported; call it for example {trainer.partition(':')[0]}_reward.py"
        )
    spec = spec_using(reward, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    shim = write_shim(
        spec,
        trainer,
        out,
        on_unscored=on_unscored,
        group_size=group_size,
        deadline_s=deadline,
        workers=workers,
        columns=options.column_mapping(columns) or None,
    )
    if json:
        print_json({"file": str(shim.file), "usage": shim.usage})
    else:
        print_message(f"wrote {out}; to use it:")
        print_text(f"{shim.usage}\n")


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
