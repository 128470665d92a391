"""`plaudit pairs`: preference pairs within the groups of a scored file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from plaudit import jsonline, training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_report, print_result, write_bytes
from plaudit.errors import RolloutsError
from plaudit.training.reward_model.pair_files import PairCounts, write_pairs

__all__ = ["pairs"]

NONE_BUILT = 1


class OrderedBy(StrEnum):
    """What orders the responses of a group."""

    REWARD = "reward"
    SCORE = "score"


def pairs(
    scored: options.Scored,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="PAIRS", help="Write here, as JSON lines; - is standard output.")
    ],
    margin: Annotated[
        float, typer.Option("--margin", help="The least difference of a pair; ties are never paired.")
    ] = 0.0,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="How many pairs of a group, drawn at random; 0: all.")
    ] = 4,
    order_by: Annotated[OrderedBy, typer.Option("--order-by", help="What orders responses.")] = OrderedBy.REWARD,
    seed: options.Seed = 0,
    columns: options.Columns = None,
    overwrite: options.Overwrite = False,
    skip_bad: options.SkipBad = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Build preference pairs from a scored file: of two responses of a group, the one with the higher reward is chosen.

    Samples without a reward are left out, and counted. The exit code is 1 when there is no pair.
    """
    options.check_output(out, overwrite=overwrite)
    if out != "-" and Path(out).suffix != ".jsonl":
        raise RolloutsError(f"{out}: pairs are written as JSON lines; give a name that ends in .jsonl")
    if json and out == "-":
        raise RolloutsError("--json and -o - both write to standard output; give one of them")
    settings = training.PairSettings(margin=margin, per_group=count or None, by=order_by.value, seed=seed)
    reader = options.open_rollouts(scored, columns, skip_bad=skip_bad)
    built = training.build_pairs(reader, settings)
    rows = [pair.to_row() for pair in built.pairs]
    if out == "-":
        write_bytes(b"".join(jsonline.encode(row) + b"\n" for row in rows))
    elif rows:
        write_pairs(rows, out)
    if not quiet:
        options.report_input(reader)
    if json:
        print_json(built.counts.to_dict())
    else:
        (print_report if out == "-" else print_result)(_table(built.counts))
    if not rows:
        print_message(_remedy(built.counts, margin))
        return NONE_BUILT
    return 0


WORDS = {
    "samples": "samples",
    "unscored": "not scored, in no pair",
    "empty": "empty responses, in no pair",
    "copies": "copies of a response in its group, counted once",
    "thinned": "responses of groups too large to compare all",
    "groups": "groups",
    "single": "with fewer than two responses",
    "tied": "with ties only",
    "close": "with differences below the margin only",
    "beyond": "pairs beyond the most of a group",
    "pairs": "pairs",
}
ALWAYS = ("samples", "unscored", "groups", "tied", "pairs")


def _table(counts: PairCounts) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="right")
    table.add_column()
    for name, number in counts.to_dict().items():
        if number or name in ALWAYS:
            table.add_row(f"{number:,}", WORDS[name])
    return table


def _remedy(counts: PairCounts, margin: float) -> str:
    if counts.unscored == counts.samples:
        return "no pairs: no sample was scored; `plaudit explain` shows why"
    if counts.single == counts.groups:
        return "no pairs: no group has two responses to compare; pairs need several responses to one prompt"
    if counts.close:
        return f"no pairs: no two responses of a group differ by {margin:g}; lower --margin"
    return "no pairs: within every group all values are the same"
