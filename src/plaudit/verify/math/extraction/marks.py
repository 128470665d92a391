"""The marks by which a response states its answer, as `boxes`, `phrases` and `unmarked` find them.

`trust` decides whether the response commits to what stands there.
"""

import re
from collections import deque
from enum import StrEnum
from typing import NamedTuple

from plaudit.verify.patterns import compile_late

__all__ = ["DIGIT", "INK", "MARKED", "MATHEMATICAL", "MAX_MARKS", "Mark", "Source", "find_last"]

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


MARKED = (Source.BOXED, Source.TAG, Source.HASHES, Source.PHRASE)
"""The sources that say that what they hold is the answer."""


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
