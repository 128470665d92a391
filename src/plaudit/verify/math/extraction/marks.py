"""The marks by which a response states its answer, as `boxes`, `phrases` and `unmarked` find them.

`trust` decides whether the response commits to what stands there. Formulas stand between `$…$`, `$$…$$`, `\\(…\\)` and
`\\[…\\]`, and no sentence ends inside one; a dollar sign before a number that reads on in words is money.
"""

import re
from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from plaudit.verify.patterns import compile_late

MAX_MARKS = 50  # of a kind, counted from the end of a response
DIGIT = compile_late(r"\d")
INK = compile_late(r"[^\W_]|[∞∅√]")
"""A character that a reader sees as a part of an answer."""
MATHEMATICAL = compile_late(r"[\d\\=+^∞∅π√(]|\b(?:arc|a)?(?:sin|cos|tan|ln|log|sqrt)")
"""A sign of an answer that is more than words."""


class Source(StrEnum):
    """How an answer was marked as the answer, strongest first."""

    BOXED = "boxed"
    TAG = "tag"
    HASHES = "hashes"
    PHRASE = "phrase"
    BOLD = "bold"
    EQUATION = "equation"
    MATH = "last formula"
    NUMBER = "last number"
    WHOLE = "whole response"


class Rejection(StrEnum):
    """Why a declared answer does not count."""

    NONE_FOUND = "no answer found"
    CONTRADICTED = "the response gives different final answers"
    DENIED = "the response denies or doubts its answer"
    QUALIFIED = "the response says more of its answer than what it is"


class Mark(NamedTuple):
    """A stated answer: its text, how it is marked, and its span; `denied` for "the answer is not …".

    `whole` is the statement that the text begins: "4" of "4, since two and two make four".
    """

    text: str
    source: Source
    start: int
    end: int
    whole: str = ""
    denied: bool = False


def find_last(pattern: re.Pattern[str], text: str, start: int = 0) -> list[re.Match[str]]:
    """The last matches of a pattern from an index on, as many as may count."""
    return list(deque(pattern.finditer(text, start), maxlen=MAX_MARKS))


_NAME = r"\{(?:equation|align|gather|multline|displaymath)\*?\}"
_FORMULA = (
    r"\$\$(?P<display>[^$]{1,3000}+)\$\$"
    r"|(?P<money>\\\$|\$[ ]?\d[\d,]*(?:\.\d+)?(?=$|[.,;:!?)]+(?:\s|$)|\s+[^\W\d_]{2}|\s+[a-zA-Z]\s|[*_]|/[a-z]))"
    r"|\$(?P<inline>[^$\n]{1,2000}+|\s[^$]{1,200}+)\$"
    r"|\\\((?P<round>(?:[^\\]++|\\[^()\[\]])++)\\\)"
    r"|\\\[(?P<square>(?:[^\\]++|\\[^()\[\]])++)\\\]"
    rf"|\\begin{_NAME}(?P<environment>(?:[^\\]++|\\(?!(?:begin|end){_NAME}))++)\\end{_NAME}"
)
_PATTERN = re.compile(_FORMULA, re.DOTALL)
_END = r"(?P<end>[.!?](?=[\s*_\"')]|$)|[。！？]|\n)"
_FORMULA_OR_END = re.compile(rf"{_FORMULA}|{_END}", re.DOTALL)
_KINDS = ("display", "inline", "round", "square", "environment")


def find_formulas(text: str) -> list[re.Match[str]]:
    """The formulas of a text; the last group of each match holds what is inside."""
    if "$" not in text and "\\" not in text:
        return []
    return [match for match in _PATTERN.finditer(text) if match.lastgroup in _KINDS]


def without_environment(text: str) -> str:
    """The content of a text that is one `equation`, `align` or the like, else the text."""
    match = _PATTERN.fullmatch(text) if text.startswith("\\begin") else None
    return match["environment"].strip() if match and match["environment"] else text


def without_formulas(text: str) -> str:
    """The text with every formula masked, so that indices stay the same."""
    if "$" not in text and "\\" not in text:
        return text
    return _PATTERN.sub(lambda match: "x" * len(match[0]), text)


def end_of_statement(text: str, start: int, limit: int) -> int:
    """The end index of the sentence or line that starts at `start`, at most `limit`."""
    for match in _FORMULA_OR_END.finditer(text, start, min(len(text), limit + 3000)):
        if match["end"] is not None:
            return min(match.start(), max(limit, start))
    return min(len(text), limit)


def split_statements(text: str) -> Iterator[tuple[int, int]]:
    """The sentences and lines of a text as index ranges; none ends inside a formula."""
    start = 0
    for match in _FORMULA_OR_END.finditer(text):
        if match["end"] is not None:
            yield start, match.start()
            start = match.end()
    yield start, len(text)
