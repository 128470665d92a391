"""Texts that a regular expression matches, so that an audit can answer in the form that a reward's pattern asks for.

One text per pattern, built from the parsed pattern: the fewest repeats, the first alternative. Unsupported patterns,
such as those with a reference to a group, have no example.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

_PARSER: Any = import_module("re._parser")
_OPEN_REPEAT = 3
"""A repeat of any character that may be at least so long holds text of the writer's choice."""
MANY = 20
PUMPED = 40
ENDS = ("!", ",,", "\x00", "\n\n!")
_MARKS = re.compile(r"\\[dswbSWDA]|\[[^\]]+\]|\(.+\)|[.\w][*+]|\{\d")
_CATEGORIES = {
    "CATEGORY_DIGIT": "1", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_NOT_DIGIT": "a", "CATEGORY_NOT_WORD": "-",
}  # fmt: skip
_PLAUSIBLE = "a1 -.x<"


@dataclass(frozen=True, slots=True)
class Example:
    """A matching text, split at its last group; `answer` is the group's text, or empty without groups."""

    before: str
    answer: str
    after: str
    has_group: bool

    @property
    def text(self) -> str:
        return f"{self.before}{self.answer}{self.after}"


class _Unknown(Exception):
    """Part of a pattern that has no example here."""


@lru_cache(maxsize=200)
def examples_of(text: str, filler: str) -> tuple[Example, ...]:
    """An example of the pattern, if `text` is one; `filler` stands where anything may."""
    if not _MARKS.search(text):
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled, parsed = re.compile(text), _PARSER.parse(text)
        parts = list(_Writer(filler, compiled.groups).write(parsed))
    except (re.error, _Unknown, RecursionError, OverflowError):
        return ()
    indices = [index for index, (_, is_answer) in enumerate(parts) if is_answer]
    texts = [part for part, _ in parts]
    first, last = (indices[0], indices[-1] + 1) if indices else (len(texts), len(texts))
    example = Example("".join(texts[:first]), "".join(texts[first:last]), "".join(texts[last:]), bool(indices))
    return (example,) if example.text.strip() and compiled.search(example.text) else ()


def highest_of(text: str, filler: str) -> str:
    """The example of a pattern with the number of its last group as high as the pattern allows; empty without one."""
    for example in examples_of(text, filler):
        for number in ("9999", "99", *"987654321") if re.search(r"\d", example.answer) else ():
            high = f"{example.before}{re.sub(r'[0-9]+', number, example.answer)}{example.after}"
            if (match := re.search(text, high)) is not None and match[0] == high:
                return high
    return ""


def redos_inputs(text: str) -> list[str]:
    """Texts that a pattern with a repeat inside a repeat may try to match in all ways there are, before it fails."""
    if not _MARKS.search(text):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _PARSER.parse(text)
        bodies = ["".join(part for part, _ in _Writer("a", 0).write(inner)) for inner in _nested(parsed, False)]
    except (re.error, _Unknown, RecursionError, OverflowError):
        return []
    return [f"{body * PUMPED}{end}" for body in dict.fromkeys(filter(None, bodies)) for end in ENDS]


def _nested(parsed: Any, is_inside: bool) -> Iterator[Any]:
    """The bodies of unbounded repeats inside another one."""
    for operation, argument in parsed:
        if str(operation) == "SUBPATTERN":
            yield from _nested(argument[3], is_inside)
        elif str(operation) == "BRANCH":
            for branch in argument[1]:
                yield from _nested(branch, is_inside)
        elif str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and int(argument[1]) > MANY:
            if is_inside:
                yield [(operation, (1, 1, argument[2]))]
            yield from _nested(argument[2], True)


@dataclass(frozen=True)
class _Writer:
    filler: str
    last_group: int

    def write(self, parsed: Sequence[tuple[Any, Any]], is_answer: bool = False) -> Iterator[tuple[str, bool]]:
        """Pieces of text, each with whether it belongs to the last group."""
        for operation, argument in parsed:
            yield from self._piece(str(operation), argument, is_answer)

    def _piece(self, operation: str, argument: Any, is_answer: bool) -> Iterator[tuple[str, bool]]:
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return
        if operation == "SUBPATTERN":
            group, _, _, inner = argument
            yield from self.write(inner, is_answer or group == self.last_group)
        elif operation == "BRANCH":
            yield from self.write(argument[1][0], is_answer)
        elif operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield from self._repeat(argument, is_answer)
        elif operation == "ATOMIC_GROUP":
            yield from self.write(argument, is_answer)
        else:
            yield self._character(operation, argument), is_answer

    def _repeat(self, argument: Any, is_answer: bool) -> Iterator[tuple[str, bool]]:
        least, most, inner = argument
        if _is_open(inner) and int(most) >= _OPEN_REPEAT:
            yield self.filler, is_answer
        else:
            for _ in range(max(int(least), int(is_answer and int(most) > 0))):
                yield from self.write(inner, is_answer)

    def _character(self, operation: str, argument: Any) -> str:
        if operation == "LITERAL":
            return chr(argument)
        if operation == "ANY":
            return "a"
        if operation == "NOT_LITERAL":
            return next(each for each in _PLAUSIBLE if ord(each) != argument)
        if operation == "IN":
            return self._member(argument)
        raise _Unknown(operation)

    def _member(self, members: Sequence[tuple[Any, Any]]) -> str:
        kind, value = members[0]
        if str(kind) == "NEGATE":
            excluded = re.compile("".join(["[", *map(_as_set, members[1:]), "]"]))
            character = next((each for each in _PLAUSIBLE if not excluded.match(each)), None)
            if character is None:
                raise _Unknown("a set without any plain character")
            return character
        if str(kind) == "LITERAL":
            return chr(value)
        return chr(value[0]) if str(kind) == "RANGE" else _CATEGORIES[str(value)]


def _is_open(parsed: Sequence[tuple[Any, Any]]) -> bool:
    """Whether one repetition may be about any character, so that sentences fit."""
    if len(parsed) != 1:
        return False
    operation, argument = parsed[0]
    if str(operation) in ("ANY", "NOT_LITERAL"):
        return True
    names = {str(value) for kind, value in argument if str(kind) == "CATEGORY"} if str(operation) == "IN" else set()
    negated = str(operation) == "IN" and str(argument[0][0]) == "NEGATE"
    return {"CATEGORY_SPACE", "CATEGORY_NOT_SPACE"} <= names or (negated and not names)


def _as_set(member: tuple[Any, Any]) -> str:
    kind, value = member
    if str(kind) == "LITERAL":
        return re.escape(chr(value))
    if str(kind) == "RANGE":
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    letters = {"CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_DIGIT": r"\D",
               "CATEGORY_NOT_WORD": r"\W", "CATEGORY_NOT_SPACE": r"\S"}  # fmt: skip
    return letters[str(value)]
