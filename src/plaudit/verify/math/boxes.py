r"""Answers in `\boxed{}` and `\fbox{}`.

Boxes that stand side by side ("\boxed{1} and \boxed{2}") are one answer, a list; of boxes inside each other the
innermost counts, and a box with nothing to read in it is a blank of the problem, not an answer.
"""

import re
from collections import deque
from collections.abc import Iterator

from plaudit.verify.math.marks import MAX_MARKS, Mark, Source

__all__ = ["boxes_in"]

_TOKEN = re.compile(r"\\+(?:boxed|fbox)[ \t]?(?:\{|(?P<bare>-?\d[\d.,]*\d|-?\w))|\\.|[{}]", re.DOTALL)
_BLANK = re.compile(r"\\+[hv]?phantom\s?\{[^{}]*\}|\\+[a-zA-Z]*space\s?\{[^{}]*\}|\\+(?:q?quad|_|[,;:! ])|[\s_?.…~{}$]")
_MAYBE_BLANK = re.compile("phantom|space|quad")
_INK = re.compile(r"[^\W_]|[∞∅√]")
_JOINT = re.compile(
    r"(?:[\s,;.$&~+*、，；]|\\+[,;:! ()\[\]]|\\+q?quad(?![a-z])|\\+(?:text|mbox|mathrm)\s?\{\s*(?:and|or|,)?\s*\}"
    r"|\b(?:and|or|und|oder|et|ou|y|o)\b|和|或|与|及){0,40}"
)
_LONGEST_JOINT = 80


def boxes_in(text: str, *, closed: bool = True) -> list[Mark]:
    """The boxes of a text, neighbours joined; `closed=False` reads a box that is never closed to the end."""
    places = [place for place in (text.find("boxed"), text.find("fbox")) if place >= 0]
    if not places:
        return []
    start = max(0, min(places) - 10)  # room for the backslashes; braces before the first box say nothing
    groups: list[list[Mark]] = []
    for box in deque(_innermost(text, start, closed), maxlen=MAX_MARKS):
        if groups and _are_joined(groups[-1][-1], box, text):
            groups[-1].append(box)
        else:
            groups.append([box])
    return [_joined(group) for group in groups]


def _innermost(text: str, start: int, closed: bool) -> Iterator[Mark]:
    """Boxes with balanced braces that hold no other box, in one pass whatever the nesting."""
    depth, last = 0, -1
    opened: list[tuple[re.Match[str], int]] = []
    for token in _TOKEN.finditer(text, start):
        if token["bare"]:
            last = token.start()
            yield Mark(token["bare"], Source.BOXED, token.start(), token.end())
        elif token[0] == "}":
            depth = max(0, depth - 1)
            if opened and depth == opened[-1][1]:
                box, _ = opened.pop()
                if box.start() > last:
                    last = box.start()
                    yield from _readable(text, box, token.start(), token.end())
        elif token[0].endswith("{") and token[0] != "\\{":
            if token[0] != "{":
                opened.append((token, depth))
            depth += 1
    if opened and not closed and opened[-1][0].start() > last:
        yield from _readable(text, opened[-1][0], len(text), len(text))


def _readable(text: str, box: re.Match[str], end_of_text: int, end: int) -> Iterator[Mark]:
    content = text[box.end() : end_of_text]
    if _INK.search(content) and (not _MAYBE_BLANK.search(content) or _BLANK.sub("", content)):
        yield Mark(content, Source.BOXED, box.start(), end)


def _are_joined(box: Mark, following: Mark, text: str) -> bool:
    between = text[box.end : following.start]
    return len(between) <= _LONGEST_JOINT and _JOINT.fullmatch(between) is not None


def _joined(group: list[Mark]) -> Mark:
    if len(group) == 1:
        return group[0]
    contents = list(dict.fromkeys(box.text.strip() for box in group))
    return Mark(", ".join(contents), Source.BOXED, group[0].start, group[-1].end)
