"""`plaudit doctor`: what protects programs on this machine."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import JsonOption
from plaudit.sandbox.doctor import Diagnosis, diagnose
from plaudit.sandbox.tiers import Tier

__all__ = ["doctor"]

UNHEALTHY = 1
STATES = {True: ("active", "green"), False: ("absent", "red"), None: ("untested", "yellow")}
AtMost = Annotated[
    str, typer.Option("--at-most", metavar="TIER", help="Leave stronger walls down: none, seccomp, landlock.")
]


def doctor(json: JsonOption = False, at_most: AtMost = "namespaces") -> int:
    """Try which walls can be put around programs here, and whether a program gets past them."""
    tiers = {tier.name.lower(): tier for tier in Tier}
    if at_most not in tiers:
        raise typer.BadParameter(f"no tier {at_most!r}; there are {', '.join(tiers)}")
    diagnosis = diagnose(tiers[at_most])
    if json:
        print_json({**asdict(diagnosis), "tier": diagnosis.tier.name.lower(), "healthy": diagnosis.healthy})
    else:
        print_result(*_tables(diagnosis))
    return 0 if diagnosis.healthy else UNHEALTHY


def _tables(diagnosis: Diagnosis) -> list[RenderableType]:
    walls, tried = (Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0)) for _ in range(2))
    for name, active, detail in diagnosis.walls:
        word, style = STATES[active]
        walls.add_row(name, Text(word, style=style), Text(detail))
    for name, succeeded in diagnosis.attempts:
        tried.add_row(name, Text("possible", style="red") if succeeded else Text("refused", style="green"))
    shown: list[RenderableType] = [f"sandbox tier: {diagnosis.tier.label}\n", walls]
    if diagnosis.attempts:
        shown += ["\nwhat a program tried:", tried]
    if diagnosis.trouble:
        shown.append(Text(f"\n{diagnosis.trouble}", style="red"))
    return shown
