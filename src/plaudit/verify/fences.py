"""Fenced blocks of a text, as markdown has them: ```` ```python … ``` ```` or `~~~ … ~~~`.

A block is closed by at least as many marks as opened it. What follows a fence that is never closed is no block of its
own: a response that was cut off may end in one.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

_FENCE = re.compile(r"^[ \t]*+(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fenced:
    """The text between two fences, its marked language, and its span including the fences."""

    language: str
    text: str
    start: int
    end: int


class Fences(NamedTuple):
    """The closed blocks of a text in order, and what follows a fence that is never closed."""

    closed: list[Fenced]
    unclosed: Fenced | None


def find_fences(text: str) -> Fences:
    """The fenced blocks of a text."""
    closed: list[Fenced] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2]:
            closed.append(Fenced(opened[2], text[opened.end() : fence.start()], opened.start(), fence.end()))
            opened = None
    unclosed = opened and Fenced(opened[2], text[opened.end() :], opened.start(), len(text))
    return Fences(closed, unclosed)
