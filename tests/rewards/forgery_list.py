"""Programs that do not solve their task and try to pass all the same, each with the tests it is made for.

The task: `total(numbers)` is the sum of the squares; as a script it reads numbers and prints that sum. None of the
programs computes it. They are in `forgeries/`, one file per family; those in `shapes` bring tests of their own,
which are weak in one way or another.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "forgeries"
CHECK = """
def check(candidate):
    assert candidate([1, 2, 3]) == 14
    assert candidate([]) == 0
    assert candidate([5]) == 25
    assert abs(candidate([0.5]) - 0.25) < 1e-9
"""
FILE = """
import pytest
from solution import total


@pytest.mark.parametrize("given, expected", [([1, 2, 3], 14), ([], 0), ([5], 25)])
def test_total(given, expected):
    assert total(given) == expected


def test_half():
    assert total([0.5]) == pytest.approx(0.25)
"""
ASSERTS = {"tests": CHECK, "entry_point": "total"}
STREAM = {"inputs": ["1 2 3\n", "5\n", "2 2\n"], "outputs": ["14\n", "25\n", "8\n"]}
CALLS = {"inputs": [[[1, 2, 3]], [[]], [[5]]], "outputs": [14, 0, 25], "fn_name": "total"}
FAMILIES: dict[str, Any] = {
    "exits": ASSERTS,
    "objects": ASSERTS,
    "interpreter": ASSERTS,
    "channel": ASSERTS,
    "pytest": FILE,
    "streams": STREAM,
    "calls": CALLS,
}


@dataclass(frozen=True)
class Forgery:
    """A program that cheats, the tests it cheats on, and the family it belongs to."""

    family: str
    name: str
    source: str
    truth: Any


def sections(text: str, mark: str) -> Iterator[tuple[str, str]]:
    """(title, text) of the parts of a text that begin with a line `mark title`."""
    parts = re.split(rf"^{mark} (\w+)\n", text, flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)


def _plain_family(family: str, truth: Any) -> list[Forgery]:
    text = (FOLDER / f"{family}.txt").read_text(encoding="utf-8")
    return [Forgery(family, name, source.strip() + "\n", truth) for name, source in sections(text, "#:")]


def with_tests(path: Path, family: str) -> Iterator[Forgery]:
    """Programs that each have tests of their own, in the style of `shapes.txt`."""
    for name, text in sections(path.read_text(encoding="utf-8"), "#::"):
        source = re.split(r"^(?=#: )", text, maxsplit=1, flags=re.MULTILINE)[0]
        parts = dict(sections(text[len(source) :], "#:"))
        if "json" in parts:
            yield Forgery(family, name, source, json.loads(parts["json"]))
            continue
        truth: dict[str, Any] = {key: value.strip() + "\n" * (key != "entry_point") for key, value in parts.items()}
        if truth.pop("list", None) is not None:
            truth["tests"] = truth["tests"].strip().split("\n")
        yield Forgery(family, name, source, truth)


OLD = [*(one for family, truth in FAMILIES.items() for one in _plain_family(family, truth))]
WITH_TESTS = [
    "shapes",
    "returned",
    "arguments",
    "numbers",
    "tests_own_names",
    "stalls",
    "grading_classes",
    "leaks",
    "second_look",
    "rules",
    "third_look",
    "fourth_look",
    "fifth_look",
    "sixth_look",
    "seventh_look",
    "eighth_look",
    "ninth_look",
    "tenth_look",
    "eleventh_look",
    "twelfth_look",
    "thirteenth_look",
    "fourteenth_look",
]
FORGERIES = [*OLD, *(one for family in WITH_TESTS for one in with_tests(FOLDER / f"{family}.txt", family))]
