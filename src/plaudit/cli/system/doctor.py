"""`plaudit doctor`: what protects programs on this machine, and in which languages they may be."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.sandbox.confined_process import Tier
from plaudit.sandbox.doctor import Diagnosis, diagnose
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchain_checks import ToolchainReport, check_toolchains

__all__ = ["doctor"]

UNHEALTHY = 1
STATES = {True: ("active", "green"), False: ("absent", "red"), None: ("untested", "yellow")}
AtMost = Annotated[
    str, typer.Option("--at-most", metavar="TIER", help="Do without stronger protections: none, seccomp, landlock.")
]


def doctor(json: options.Json = False, at_most: AtMost = "namespaces") -> int:
    """Try which protections are available here, whether a program gets past them, and which languages can be run."""
    tiers = {tier.name.lower(): tier for tier in Tier}
    if at_most not in tiers:
        raise typer.BadParameter(f"no tier {at_most!r}; there are {', '.join(tiers)}")
    diagnosis = diagnose(tiers[at_most])
    with CommandPool(at_most=tiers[at_most]) as pool:
        languages = check_toolchains(pool)
    if json:
        overall = {"tier": diagnosis.tier.name.lower(), "healthy": diagnosis.healthy}
        print_json({**asdict(diagnosis), **overall, "languages": [asdict(language) for language in languages]})
    else:
        print_result(*_tables(diagnosis), *_language_table(languages))
    return 0 if diagnosis.healthy else UNHEALTHY


def _language_table(languages: list[ToolchainReport]) -> list[RenderableType]:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for one in languages:
        word, style = ("found", "green") if one.usable else ("absent", "yellow")
        table.add_row(one.title, Text(word, style=style), Text(one.version or one.detail))
    return ["\nlanguages besides Python, by standard input and output:", table]


def _tables(diagnosis: Diagnosis) -> list[RenderableType]:
    confinement, tried = (Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0)) for _ in range(2))
    for name, active, detail in diagnosis.confinement:
        word, style = STATES[active]
        confinement.add_row(name, Text(word, style=style), Text(detail))
    for name, succeeded in diagnosis.attempts:
        tried.add_row(name, Text("possible", style="red") if succeeded else Text("refused", style="green"))
    shown: list[RenderableType] = [f"sandbox tier: {diagnosis.tier.label}\n", confinement]
    if diagnosis.attempts:
        shown += ["\nwhat a program tried:", tried]
    if diagnosis.trouble:
        shown.append(Text(f"\n{diagnosis.trouble}", style="red"))
    return shown
