r"""Where a response states its answer: `\boxed{}`, `<answer>`, `####`, "the answer is", "A:".

Only finds the places; whether what stands there can be trusted is decided in `answers`.
"""

import enum
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plaudit.verify.numbers import NUMBER
from plaudit.verify.tags import blocks_in

__all__ = ["FINDERS", "How", "Mark", "marks_in"]


class How(enum.StrEnum):
    """How an answer was marked as the answer, strongest first."""

    BOXED = "boxed"
    TAGGED = "tagged"
    HASHES = "hashes"
    PHRASE = "phrase"
    EQUATION = "equation"
    LAST_NUMBER = "last number"
    WHOLE = "whole response"


@dataclass(frozen=True, slots=True)
class Mark:
    """A stated answer: its text, how it is marked, and its place; `denied` for "the answer is not …".

    `whole` is the statement that the text begins: "4" of "4, since two and two make four".
    """

    text: str
    how: How
    start: int
    end: int
    whole: str = ""
    denied: bool = False


_BOX_TOKEN = re.compile(r"\\(?:boxed|fbox)\s?\{|\\.|[{}]", re.DOTALL)
# A number alone, or the last line: anything else behind four hashes is a heading.
_HASHES = re.compile(rf"(?:^|(?<=\s))####[ \t]*({NUMBER}(?=\s*$)|\S[^\n]*(?=\s*\Z))", re.MULTILINE)
_PHRASE = re.compile(
    r"\banswer\b[^\n.!?:;,=\d\\$()]{0,40}?"
    r"(?:(?P<denied>\b(?:is|are|was|were|would|can|could)\s?(?:n['’]t|not)\b|\bcannot\b)"
    r"|:|=|\s[-–—]\s|\b(?:is|was|be|equals)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[ \t*_#>]{0,8}A[ \t]?:", re.MULTILINE)
_LEAD = re.compile(r"[\s:=*_]*")
_STATEMENT_END = re.compile(r"[.!?](?=[\s*_\"')]|$)|\n")
_CLAUSE_END = re.compile(
    r"\s*(?:;|,(?:\s|$)|\s[(]|\s[-–—]+\s|\b(?:because|since|which|where|when|but|as|so|if|wait|actually)\b)",
    re.IGNORECASE,
)
MAX_STATEMENT = 400
MAX_MARKS = 50


def marks_in(text: str) -> list[Mark]:
    """The explicit marks, strongest kind first, each kind in the order of the text, the last fifty of each."""
    return [mark for find in FINDERS.values() for mark in find(text)]


def _boxes(text: str) -> list[Mark]:
    return list(deque(_all_boxes(text), maxlen=MAX_MARKS))


def _all_boxes(text: str) -> Iterator[Mark]:
    """Outermost boxes with balanced braces, in one pass whatever the nesting."""
    depth, box, box_depth = 0, None, 0
    for token in _BOX_TOKEN.finditer(text):
        if token[0] == "}":
            depth = max(0, depth - 1)
            if box is not None and depth == box_depth:
                yield Mark(text[box.end() : token.start()], How.BOXED, box.start(), token.end())
                box = None
        elif token[0].endswith("{") and token[0] != "\\{":
            if box is None and token[0] != "{":
                box, box_depth = token, depth
            depth += 1


def _tagged(text: str) -> list[Mark]:
    return [Mark(block.text, How.TAGGED, block.start, block.end) for block in blocks_in(text, "answer")[-MAX_MARKS:]]


def _hashes(text: str) -> list[Mark]:
    return [Mark(found[1], How.HASHES, *found.span()) for found in _last(_HASHES, text)]


def _phrases(text: str) -> list[Mark]:
    """What follows "the answer is"; lines that begin with "A:" only where nobody says so in words."""
    stated = [(found, found["denied"] is not None) for found in _last(_PHRASE, text)]
    stated = stated or [(found, False) for found in _last(_LABEL, text)]
    return [_phrase(found, denied, text) for found, denied in stated]


def _phrase(found: re.Match[str], denied: bool, text: str) -> Mark:
    start = _end_of(_LEAD, text, found.end())
    whole = _STATEMENT_END.split(text[start : start + MAX_STATEMENT], maxsplit=1)[0]
    clause = _CLAUSE_END.search(whole, 1)
    head = whole[: clause.start()] if clause else whole
    return Mark(head, How.PHRASE, found.start(), start + len(head), whole=whole, denied=denied)


def _last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    return list(deque(pattern.finditer(text), maxlen=MAX_MARKS))


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


FINDERS: dict[How, Callable[[str], list[Mark]]] = {
    How.BOXED: _boxes,
    How.TAGGED: _tagged,
    How.HASHES: _hashes,
    How.PHRASE: _phrases,
}
