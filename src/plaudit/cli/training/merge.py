"""`plaudit merge`: build the adapters of a LoRA run into its model, so that transformers loads it by itself."""

from pathlib import Path
from typing import Annotated

import typer

from plaudit import training
from plaudit.cli.console import print_message

__all__ = ["merge"]


def merge(
    model: Annotated[str, typer.Argument(metavar="RUN|ADAPTER", help="A run trained with LoRA, or an adapter folder.")],
    output: Annotated[
        Path, typer.Option("--out", "--output", "-o", metavar="FOLDER", help="Where the whole model goes.")
    ],
) -> int:
    """Write the model of a LoRA run with its adapters built in."""
    training.merge_model(model, output)
    print_message(f'wrote {output}; transformers loads it: AutoModelForCausalLM.from_pretrained("{output}")')
    return 0
