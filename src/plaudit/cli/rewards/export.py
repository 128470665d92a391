"""`plaudit export`: write a file that gives a reward to another trainer."""

from pathlib import Path
from typing import Annotated

import typer

from plaudit.cli.console import print_json, print_message, print_text
from plaudit.cli.options import (
    ChatTemplateOption,
    ColumnsOption,
    DialectOption,
    JsonOption,
    MaxBatchOption,
    RewardArgument,
    ScopeOption,
    WorkersOption,
    check_output,
    column_mapping,
)
from plaudit.errors import InvalidSettings
from plaudit.exports import write_shim
from plaudit.exports.exporting import EXPORTS
from plaudit.loading import spec_using

__all__ = ["export"]


def export(
    trainer: Annotated[str, typer.Argument(metavar="TRAINER", help="trl, verl, verl:batch, slime, inspect, …")],
    reward: RewardArgument,
    output: Annotated[Path, typer.Option("--out", "--output", "-o", metavar="FILE", help="Where to write it.")],
    on_unscored: Annotated[
        str | None,
        typer.Option(help="What the trainer gets where there is no number: none, nan, mean, mask or raise."),
    ] = None,
    group_size: Annotated[int | None, typer.Option(min=1, help="Samples per prompt, for a reward of groups.")] = None,
    deadline: Annotated[float | None, typer.Option(metavar="SECONDS", help="How long one sample may take.")] = None,
    workers: WorkersOption = None,
    dialect: DialectOption = None,
    scope: ScopeOption = None,
    max_batch: MaxBatchOption = None,
    chat_template: ChatTemplateOption = None,
    columns: ColumnsOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", "--force", "-f", help="Replace FILE if it exists.")] = False,
    json: JsonOption = False,
) -> None:
    """Write FILE, which builds REWARD the way TRAINER calls rewards, and print how to use it."""
    check_output(output)
    if trainer not in EXPORTS and reward in EXPORTS:
        raise InvalidSettings(f"the trainer comes first: plaudit export {reward} {trainer!r} -o {output}")
    if output.exists() and not overwrite:
        raise InvalidSettings(f"{output} exists; --overwrite replaces it")
    if not output.stem.isidentifier() or output.suffix != ".py":
        raise InvalidSettings(
            f"{output.name} cannot be imported; call it for example {trainer.partition(':')[0]}_reward.py"
        )
    spec = spec_using(reward, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    shim = write_shim(
        spec,
        trainer,
        output,
        on_unscored=on_unscored,
        group_size=group_size,
        deadline_s=deadline,
        workers=workers,
        columns=column_mapping(columns) or None,
    )
    if json:
        print_json({"file": str(shim.file), "usage": shim.usage})
    else:
        print_message(f"wrote {output}; to use it:")
        print_text(f"{shim.usage}\n")
