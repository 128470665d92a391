"""The result of reward CI as one Markdown comment.

Text from outside (responses, prompts, reasons, names, messages, source lines) is only shown inside `<code>`, with every
character except letters, digits, spaces and a few marks as a numeric entity: it cannot end a cell, form Markdown or
HTML, or mention anyone.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from plaudit.ci.running import CiReport, StepResult

MARKER = "<!-- plaudit-ci -->"
"""The first line, by which the next run finds the comment and replaces it."""
MAX_COMMENT = 60_000  # GitHub takes 65,536 characters
MAX_TEXT = 160
ROWS = 20
PLAIN = frozenset(" ,;+=-()")
SIGNS = {"passed": "✅", "failed": "❌", "left out": "⚪"}
TITLES = {
    "test": "Cases that fail",
    "check": "Contract",
    "audit": "New exploits",
    "diff": "Flips and largest changes",
    "mutation": "Mutants that no case notices",
    "lock": "Changed since reward.lock",
}


def code(text: object, limit: int = MAX_TEXT) -> str:
    """A text from outside as inline code on one line.

    >>> code("@a|b")
    '<code>&#64;a&#124;b</code>'
    """
    shown = str(text)
    cut = "" if len(shown) <= limit else f" … ({len(shown):,} characters)"
    return f"<code>{''.join(map(_entity, shown[:limit]))}</code>{cut}"


def _entity(character: str) -> str:
    if unicodedata.category(character)[0] == "C":  # line ends, control and direction marks
        return "".join(map(_entity, ascii(character)[1:-1]))
    return character if character.isalnum() or character in PLAIN else f"&#{ord(character)};"


def write_comment(report: CiReport) -> str:
    """The comment; a text that does not fit is cut at the end of a line, with a note."""
    lines = list(_lines(report))
    length, kept = 0, []
    for line in lines:
        length += len(line) + 1
        if length > MAX_COMMENT:
            kept.append("\nThe comment is cut here; `plaudit ci --json` has everything.")
            break
        kept.append(line)
    return "\n".join(kept) + "\n"


def _lines(report: CiReport) -> Iterator[str]:
    failed = sum(result.status == "failed" for steps in report.rewards.values() for result in steps.values())
    yield MARKER
    yield f"## Reward CI: {f'{failed} failed' if failed else 'passed'}"
    yield ""
    if report.release is not None:
        dirty = ", with uncommitted changes" if report.release.is_dirty else ""
        yield f"Compared with {code(report.release.ref)} ({code(report.release.commit[:12])}){dirty}."
    if report.no_release:
        yield f"Not compared with a release: {code(report.no_release, 500)}"
    yield ""
    yield from _table(
        ("reward", "step", "result"),
        [
            (code(name), f"{SIGNS[result.status]} {step}", f"{_left_out(result)}{code(result.summary, 500)}")
            for name, steps in report.rewards.items()
            for step, result in steps.items()
        ],
    )
    for name, steps in report.rewards.items():
        for step, result in steps.items():
            yield from _section(name, step, result)


def _left_out(result: StepResult) -> str:
    return "left out: " if result.status == "left out" else ""


def _section(name: str, step: str, result: StepResult) -> Iterator[str]:
    if not result.details or step not in SECTIONS:
        return
    heads, rows = SECTIONS[step](result.details)
    if rows:
        yield f"\n### {TITLES[step]}: {code(name)}\n"
        yield from _table(heads, rows[:ROWS])
        if len(rows) > ROWS:
            yield f"\n{len(rows) - ROWS:,} more; `plaudit ci --json` has them all."


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |"


_Section = tuple[Sequence[str], list[list[str]]]


def _cases(details: list[dict[str, Any]]) -> _Section:
    return ("case", "result"), [[code(each["case"]), code(each["explanation"])] for each in details]


def _findings(details: list[dict[str, Any]]) -> _Section:
    rows = [[each["severity"], code(each["rule"]), code(each["message"]), code(each["sample"])] for each in details]
    return ("severity", "rule", "finding", "response"), rows


def _exploits(details: list[dict[str, Any]]) -> _Section:
    rows = []
    for each in details:
        witness = each["witness"]
        paid = f"{_number(witness['reward'])} (honest: {_number(witness['honest_reward'])})"
        attack = f"{each['family']}, {each['operator']}"
        rows.append([each["severity"], code(attack), paid, code(witness["prompt"]), code(witness["response"])])
    return ("severity", "attack", "paid", "prompt", "response"), rows


def _samples(details: dict[str, Any]) -> _Section:
    flips, flipped = details["flips"], {each["index"] for each in details["flips"]}
    rows = []
    for each in [*flips, *(each for each in details["worst"] if each["index"] not in flipped)]:
        sample = str(each["index"]) if each["id"] is None else f"{each['index']} ({each['id']})"
        values = (
            code(each[f"{side}_status"]) if each[side] is None else _number(each[side]) for side in ("old", "new")
        )
        kind = "flip" if each["index"] in flipped else "changed"
        rows.append([code(sample), kind, " → ".join(values), code(each["response"]), code(each["new_reason"])])
    return ("sample", "", "old → new", "response", "new reason"), rows


def _mutants(details: dict[str, Any]) -> _Section:
    rows = [
        [str(each["line"]), each["kind"], "<br>".join(map(code, each["diff"].splitlines()))]
        for each in details["survived"]
    ]
    return ("line", "change", "diff"), rows


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


SECTIONS: dict[str, Callable[[Any], _Section]] = {
    "test": _cases,
    "check": _findings,
    "audit": _exploits,
    "diff": _samples,
    "mutation": _mutants,
    "lock": lambda details: (("change",), [[code(each)] for each in details]),
}
