"""`plaudit verify`: how one answer is found, read and compared with its ground truth."""

import sys
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import JsonOption
from plaudit.verify import MathVerdict, verify_math
from plaudit.verify.math.parsing.parser import describe_parse
from plaudit.verify.math.policy import parse_switches, policy_from_switches

__all__ = ["verify"]

WRONG = 1
SHOWN = 300  # characters of a text


def verify(
    ground_truth: Annotated[str, typer.Argument(metavar="GROUND_TRUTH", help="The answer that is right.")],
    response: Annotated[str, typer.Argument(metavar="RESPONSE", help="The response, or - for standard input.")],
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="SWITCH=VALUE", help="A switch of the policy, e.g. units=ignore; repeatable."),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="The prompt, for the options of multiple choice.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Show which answer a response gives, how it is read, and whether it is the ground truth."""
    said = sys.stdin.read() if response == "-" else response
    chosen = policy_from_switches(parse_switches(policy or []))
    verdict = verify_math(ground_truth, said, chosen, prompt=prompt)
    forms = {"ground truth": describe_parse(verdict.ground_truth), "answer": describe_parse(verdict.answer or "")}
    if json:
        print_json({**verdict._asdict(), "forms": forms})
    else:
        print_result(_table(verdict, forms))
    return 0 if verdict.correct else WRONG


def _table(verdict: MathVerdict, forms: dict[str, str]) -> Table:
    rows = {
        "verdict": "right" if verdict.correct else "wrong",
        "status": verdict.status,
        "reason": verdict.reason,
        "ground truth": verdict.ground_truth,
        "read as": forms["ground truth"],
        "answer": verdict.answer or "none",
        "found in": verdict.source or "nothing",
        " read as": forms["answer"] if verdict.answer else "",
        "decided by": verdict.method or "",
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        if value:
            table.add_row(Text(name.strip(), style="bold"), Text(str(value)[:SHOWN]))
    return table
