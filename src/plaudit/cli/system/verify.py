"""`plaudit verify`: judge one response, and explain the verdict."""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.contract.output import RewardOutput
from plaudit.engine import score
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.jsonline import InvalidJSON, decode
from plaudit.loading import load
from plaudit.rewards.built_ins import BUILT_INS
from plaudit.verify import MathVerdict, verify_math
from plaudit.verify.card import kinds
from plaudit.verify.math.parsing.parser import describe_parse
from plaudit.verify.math.policy import parse_switches, policy_from_switches
from plaudit.verify.verifier import sample_of

__all__ = ["verify"]

PASSED, FAILED, NOT_SCORED = 0, 1, 3
SHOWN = 300  # characters of a text
_NAME = re.compile(r"[a-z][a-z_0-9]{2,}(?:\(.*\))?\Z", re.DOTALL)  # what a verifier is called, with or without settings


def verify(
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="A verifier such as mcq or 'qa(mode=\"f1\")'; else a math ground truth."),
    ],
    response: Annotated[
        str | None, typer.Argument(metavar="RESPONSE", help="The response, or - for standard input.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLUMN=VALUE", help="Columns of the row; a value is JSON, else text."),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Read the response from this file.")] = None,
    row: Annotated[str | None, typer.Option("--row", help="The row as a JSON object, or @FILE.")] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="SWITCH=VALUE", help="Math: a switch of the policy, e.g. units=ignore."),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="The prompt, for the options of multiple choice.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Judge one RESPONSE and explain the verdict.

    With a verifier as KIND, the row comes from COLUMN=VALUE and --row. With anything else, KIND is the ground truth of
    a math problem, unless it is a word like the name of a verifier. The exit code is 0 for a response that passes, 1
    for one that does not, 3 if it is not scored.
    """
    pairs = list(columns or [])
    if file is not None and response is not None:
        pairs.insert(0, response)
    text = _read_response(response, file)
    if kind.partition("(")[0] in BUILT_INS:
        sample = {**_read_row(row), **dict(map(_read_column, pairs))}
        return _verify_row(kind, text, {**sample, **({"prompt": prompt} if prompt else {})}, json=json)
    guess = did_you_mean(kind.partition("(")[0], kinds()) if _NAME.match(kind) else ""
    if guess or pairs or row is not None:
        remedy = f"for a math ground truth: plaudit verify math RESPONSE 'ground_truth={kind}'"
        raise InvalidSettings(f"no verifier named {kind!r}{guess} (there are {', '.join(kinds())}; {remedy})")
    return _verify_math(kind, text, policy or [], prompt, json=json)


def _verify_row(spec: str, response: str, row: dict[str, Any], *, json: bool) -> int:
    output = score(load(spec), [sample_of(row, response)], backend="inline")[0]
    if json:
        print_json(output.to_dict())
    else:
        print_result(_table(_describe(output)))
    if not output.ok:
        return NOT_SCORED
    return PASSED if _value(output) == 1.0 else FAILED


def _verify_math(ground_truth: str, response: str, switches: list[str], prompt: str | None, *, json: bool) -> int:
    verdict = verify_math(ground_truth, response, policy_from_switches(parse_switches(switches)), prompt=prompt)
    forms = {"ground truth": describe_parse(verdict.ground_truth), "answer": describe_parse(verdict.answer or "")}
    if json:
        print_json({**verdict._asdict(), "forms": forms})
    else:
        print_result(_table(_describe_math(verdict, forms)))
    return PASSED if verdict.correct else FAILED


def _read_response(response: str | None, file: Path | None) -> str:
    if file is not None:
        return file.read_text()
    if response is None:
        raise InvalidSettings("no response: write it after KIND, - for standard input, or --file FILE")
    return sys.stdin.read() if response == "-" else response


def _read_row(row: str | None) -> dict[str, Any]:
    if row is None:
        return {}
    text = Path(row[1:]).read_text() if row.startswith("@") else row
    try:
        plain = decode(text.encode())
    except InvalidJSON as error:
        raise InvalidSettings(f"--row is not JSON: {error}") from None
    if not isinstance(plain, dict):
        raise InvalidSettings(f"--row is a JSON object of columns, got {type(plain).__name__}")
    return plain


def _read_column(pair: str) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not (name and equals):
        raise InvalidSettings(f"a column is COLUMN=VALUE, such as answer=B; got {pair!r}")
    try:
        return name, decode(value.encode())
    except InvalidJSON:
        return name, value


def _value(output: RewardOutput) -> float | None:
    return output.reward if output.score is None else output.score


def _describe(output: RewardOutput) -> dict[str, Any]:
    verdict = "not scored" if not output.ok else "passed" if _value(output) == 1.0 else "failed"
    parts = {
        f"  {name}": f"{part.status.value if not part.ok else f'{part.reward:g}'}  {part.reason}"
        for name, part in output.flat_components().items()
    }
    value = {"score": f"{output.score:g}"} if output.score is not None else {}
    reward = {"reward": f"{output.reward:g}"} if output.reward is not None else {}
    return {"verdict": verdict, **value, **reward, "reason": output.reason, **parts, **output.metadata}


def _describe_math(verdict: MathVerdict, forms: dict[str, str]) -> dict[str, Any]:
    return {
        "verdict": "right" if verdict.correct else "wrong",
        "status": verdict.status,
        "reason": verdict.reason,
        "ground truth": verdict.ground_truth,
        "ground truth as": forms["ground truth"],
        "answer": verdict.answer or "none",
        "found in": verdict.source or "nothing",
        "answer as": forms["answer"] if verdict.answer else "",
        "decided by": verdict.method or "",
    }


def _table(rows: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        if value not in ("", None):
            table.add_row(
                Text(name.removeprefix(" ") if name == " read as" else name, style="bold"), Text(str(value)[:SHOWN])
            )
    return table
