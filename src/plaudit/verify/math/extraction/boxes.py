r"""Answers in `\boxed{}` and `\fbox{}`.

Boxes that stand side by side ("\boxed{1} and \boxed{2}") are one answer, a list; of boxes inside each other the
innermost counts, and a box with nothing to read in it is a blank of the problem, not an answer.
"""

import re
from collections import deque
from collections.abc import Iterator

from plaudit.verify.math.extraction.marks import MAX_MARKS, Mark, Source
from plaudit.verify.patterns import compile_late

__all__ = ["find_boxes"]

_TOKEN = compile_late(r"\\+(?:boxed|fbox)[ \t]?(?:\{|(?P<bare>-?\d[\d.,]*\d|-?\w))|\\.|[{}]", re.DOTALL)
# One box with braces at most two deep inside it, which is what responses have; anything else is read token by token.
_ONLY_BOX = compile_late(
    r"\\++boxed[ \t]?\{((?:[^{}\\]++|\\.|\{(?:[^{}\\]++|\\.|\{(?:[^{}\\]++|\\.)*+\})*+\})*+)\}", re.DOTALL
)
_BLANK = compile_late(r"\\+[a-zA-Z]*space\s?\{[^{}]*\}|\\+(?:q?quad|_|[,;:! ])|[\s_?.…~{}$]")
_INK = compile_late(r"[^\W_]|[∞∅√]")
_JOINT = compile_late(
    r"(?:[\s,;.$&~+*、，；]|\\+[,;:! ()\[\]]|\\+q?quad(?![a-z])|\\+(?:text|mbox|mathrm)\s?\{\s*(?:and|or|,)?\s*\}"
    r"|\b(?:and|or|und|oder|et|ou|y|o)\b|和|或|与|及){0,40}"
)
_LONGEST_JOINT = 80
_WITHIN = compile_late(r"\\(?:sqrt|[dt]?frac)\s?\{\s?$")
_NEGATIVE = compile_late(r"(?:=|\$|\\\(|\\\[)\s*-\s?$|^-$")
_BEHIND = compile_late(
    r"[ \t]?(?:\^(?!\s?\{?\s?\\circ)|\\(?:times|cdot|sqrt|[dt]?frac|pi|div)(?![a-zA-Z])|[-+*/](?=[ \t]?[\d\\(]))"
    r"(?:[^\n$.,;=]|\.(?=\d)){1,60}?(?=\s*(?:\$|\\\)|\\\]|[.,;=\n]|$))"
)


_STARTS_BEHIND = frozenset(" \t^\\-+*/")  # how _BEHIND begins


def find_boxes(text: str, *, closed: bool = True) -> list[Mark]:
    """The boxes of a text, neighbours joined; `closed=False` reads a box that is never closed to the end."""
    place = text.find("box")
    if place < 0:
        return []
    if text.find("box", place + 1) < 0 and (only := _ONLY_BOX.search(text, max(0, place - 10))):
        return [_widen(Mark(only[1], Source.BOXED, *only.span()), text)] if _is_readable(only[1]) else []
    places = [place for place in (text.find("boxed"), text.find("fbox")) if place >= 0]
    if not places:
        return []
    start = max(0, min(places) - 10)  # room for the backslashes; braces before the first box say nothing
    groups: list[list[Mark]] = []
    for box in deque(_find_innermost(text, start, closed), maxlen=MAX_MARKS):
        if groups and _are_joined(groups[-1][-1], box, text):
            groups[-1].append(box)
        else:
            groups.append([box])
    return [_widen(_join(group), text) for group in groups]


def _widen(box: Mark, text: str) -> Mark:
    r"""The box with what its formula makes of it: `-\boxed{3}`, `\boxed{3}\sqrt{2}`; under a root it is no answer."""
    may_belong = text[max(0, box.start - 4) : box.start].rstrip()[-1:] in ("{", "-")  # how the two patterns end
    if may_belong and _WITHIN.search(text, max(0, box.start - 20), box.start):
        return box._replace(denied=True)
    behind = _BEHIND.match(text, box.end) if text[box.end : box.end + 1] in _STARTS_BEHIND else None
    negative = may_belong and _NEGATIVE.search(text, max(0, box.start - 20), box.start) is not None
    if not behind and not negative:
        return box
    content = f"{{{box.text}}}{behind[0]}" if behind else f"{{{box.text}}}"
    return box._replace(text=f"-{content}" if negative else content, end=behind.end() if behind else box.end)


def _find_innermost(text: str, start: int, closed: bool) -> Iterator[Mark]:
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
                    if _is_readable(content := text[box.end() : token.start()]):
                        yield Mark(content, Source.BOXED, box.start(), token.end())
        elif token[0].endswith("{") and token[0] != "\\{":
            if token[0] != "{":
                opened.append((token, depth))
            depth += 1
    if opened and not closed and opened[-1][0].start() > last:
        box, _ = opened[-1]
        if _is_readable(content := text[box.end() :]):
            yield Mark(content, Source.BOXED, box.start(), len(text))


def _is_readable(content: str) -> bool:
    """Whether a box holds something to read, and not just the room for it."""
    if not _INK.search(content):
        return False
    may_be_blank = "space" in content or "quad" in content
    return not may_be_blank or _BLANK.sub("", content) != ""


def _are_joined(box: Mark, following: Mark, text: str) -> bool:
    between = text[box.end : following.start]
    return len(between) <= _LONGEST_JOINT and _JOINT.fullmatch(between) is not None


def _join(group: list[Mark]) -> Mark:
    if len(group) == 1:
        return group[0]
    contents = list(dict.fromkeys(box.text.strip() for box in group))
    return Mark(", ".join(contents), Source.BOXED, group[0].start, group[-1].end)
