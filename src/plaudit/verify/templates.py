"""Check whether a response ends with the statement that a template requires.

Placeholders are `[NUM]`, `[WORD]` and `[TEXT]`. Case and spacing do not matter, punctuation does. Only `[TEXT]` may
stretch, so matching reads the response once however many there are.
"""

import enum
import functools
import re
from collections.abc import Sequence

from plaudit.verify.numbers import NUMBER
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import normalize_text, remove_invisible, words

WORD = r"(?<!\w)\w++(?:['’-]\w++)*+"
PLACEHOLDERS = {"[NUM]": NUMBER, "[WORD]": WORD}
TEXT = "[TEXT]"
MAX_WORDS = 2000  # of the end of a response, in which a partial match is looked for

_PARTS = re.compile(r"(\[(?:NUM|WORD|TEXT)\])")
_STATEMENT_START = r"(?:\A|(?<=[\n>])|(?<=[.!?:;*\"”)]\s)|(?<=\s\s))[*_>#\"“]{0,4}+\s?"
_READABLE = re.compile(r"[^\W_]")


class TemplateMatch(enum.Enum):
    """How well a response fits a template."""

    PERFECT = "perfect"
    PARTIAL = "partial"
    NONE = "none"


def match_template(response: str, template: str) -> TemplateMatch:
    """PERFECT when the response closes with the template's statement; PARTIAL when every placeholder is filled and at
    least half of the template's words appear in order; else NONE.

    >>> match_template("2 + 2 = 4. The answer is 4.", "The answer is [NUM].").value
    'perfect'
    """
    response = without_thinking(remove_invisible(response)).strip()
    if not _READABLE.search(response) or not template.strip():
        return TemplateMatch.NONE
    if _closes_with(response.rstrip("*_`"), _segments(template)):
        return TemplateMatch.PERFECT
    return TemplateMatch.PARTIAL if _is_partial(response, template) else TemplateMatch.NONE


@functools.lru_cache(maxsize=256)
def _segments(template: str) -> tuple[str, ...]:
    """Regular expressions for what stands between the `[TEXT]`s."""
    return tuple(_expression(segment) for segment in remove_invisible(template).strip().split(TEXT))


def _expression(segment: str) -> str:
    pieces = [PLACEHOLDERS.get(piece) or _literal(piece) for piece in _PARTS.split(segment.strip())]
    return (r"(?<!\w)" if segment.strip()[:1].isalnum() else "") + "".join(pieces)


def _literal(text: str) -> str:
    return r"\s++".join(re.escape(word) for word in re.split(r"\s+", text))


def _closes_with(response: str, segments: Sequence[str]) -> bool:
    """Leftmost matches of the segments in order suffice: they leave the most text for the later segments."""
    first, *rest = segments
    start = _search(_STATEMENT_START + first + (r"\Z" if not rest else ""), response, 0)
    for number, segment in enumerate(rest, start=1):
        filled = _READABLE.search(response, start) if start is not None else None
        if filled is None:
            return False
        last = number == len(rest)
        start = _search(segment + (r"\Z" if last else ""), response, filled.end())
    return start is not None


def _search(expression: str, text: str, start: int) -> int | None:
    match = re.compile(expression, re.IGNORECASE).search(text, start)
    return match.end() if match else None


def _is_partial(response: str, template: str) -> bool:
    wanted = _parse_template(template)
    literal = sum(word not in _FILLS for word in wanted)
    best = _most_in_order(wanted, [normalize_text(word) for word in words(response)[-MAX_WORDS:]])
    return best is not None and 2 * best >= literal


def _parse_template(template: str) -> list[str]:
    pieces = _PARTS.split(template)
    return [
        word
        for piece in pieces
        for word in ([piece] if piece in _FILLS else [normalize_text(word) for word in words(piece)])
    ]


_FILLS = {
    "[NUM]": re.compile(rf"\W*{NUMBER}"),
    "[WORD]": re.compile(r"\W*[^\W\d]"),
    TEXT: re.compile(r""),
}


def _most_in_order(wanted: Sequence[str], written: Sequence[str]) -> int | None:
    """The most literal words that appear in order with every placeholder filled; None if one cannot be.

    Row by row over the template: `best[j]` is the most that the first `j` words of the response allow.
    """
    best: list[int | None] = [0] * (len(written) + 1)
    for want in wanted:
        fill = _FILLS.get(want)
        row: list[int | None] = [best[0] if fill is None else None]
        for index, word in enumerate(written, start=1):
            before, skipped = best[index - 1], best[index] if fill is None else None
            hit = fill.match(word) is not None if fill else word == want
            taken = before + (fill is None) if hit and before is not None else None
            row.append(max((value for value in (row[-1], skipped, taken) if value is not None), default=None))
        best = row
    return best[-1]
