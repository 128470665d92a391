r"""Answers in `\boxed{}` and `\fbox{}`.

Adjacent boxes ("\boxed{1} and \boxed{2}") are one answer, a list; of nested boxes the outermost counts, and a box
without a letter or digit is a blank of the problem, not an answer.
"""

import re

from plaudit.verify.math.extraction.marks import INK, MAX_MARKS, Mark, Source
from plaudit.verify.math.parsing.tokens import FUNCTIONS, GREEK
from plaudit.verify.patterns import compile_late

_TOKEN = compile_late(r"\\+(?:boxed|fbox)[ \t]?(?:\{|(?P<bare>-?\d[\d.,]*\d|-?\w))|\\.|[{}]", re.DOTALL)
# One box with braces at most two deep inside it, which is what responses have; anything else is read token by token.
_ONLY_BOX = compile_late(
    r"(?<!\\)\\++boxed[ \t]?\{((?:[^{}\\]++|\\.|\{(?:[^{}\\]++|\\.|\{(?:[^{}\\]++|\\.)*+\})*+\})*+)\}", re.DOTALL
)
_JOINT = compile_late(
    r"(?:[\s,;.$&~+*、，；]|\\+[,;:! ()\[\]]|\\+q?quad(?![a-z])|\\+(?:text|mbox|mathrm)\s?\{\s*(?:and|or|,)?\s*\}"
    r"|\b(?:and|or|und|oder|et|ou|y|o)\b|和|或|与|及){0,40}"
)
_LONGEST_JOINT = 80
BEFORE = 40  # characters before a box that may make it a part of a formula
_COMPARISON = r"\\(?:not|neq?|[lg]eq?|[lg]eqslant|[lg]t)(?![a-zA-Z])|[≠≤≥]"
_COMMAND = (
    rf"\\(?:{'|'.join(FUNCTIONS)}|[dt]?frac|[dt]?binom|stackrel|overset|overline|times|cdot|div|pm|mp)(?![a-zA-Z])"
)
# The box is an argument, an exponent, an operand or a bound, and so only a part of a side.
_PART = compile_late(
    rf"(?:{_COMMAND}(?:\[[^\]]*\]|[_^]?\{{[^{{}}]*\}}|[_^]\w)*\s?|\w[ \t]*[\^_]\s?)\{{?\s?\Z|\d\Z|[$=]\|\Z"
    rf"|(?:{_COMPARISON}|[\w)}}][ \t]+[<>]|[\w)}}][ \t]*[+×÷·]|[$=(][^$\n]{{0,20}}[\w)}}][ \t]*-)[ \t]*\Z"
    r"|(?<!left)(?<!igl)(?<!ig)(?<=[\w)}])\(\s?\Z"
)
_CONTINUED = compile_late(rf"\.?\d|_|\s?(?:{_COMPARISON}|[<>]\s)\s?[a-zA-Z](?![a-zA-Z])")
_FILLED = compile_late(r"[^\w\n]*=")
_OPENED = compile_late(r"(?:\\left|\\[bB]igg?l?)?[(\[{]\s?\Z")
_CLOSED = compile_late(r"\s?(?:\\right|\\[bB]igg?r?)?[)\]}]")
_INNER = compile_late(r"(?<!\\)\\++(?:boxed|fbox)[ \t]?(?=\{)")
_NEGATIVE = compile_late(r"(?:=|\$|\\\(|\\\[)\s*-\s?$|^-$")
_BEHIND = compile_late(
    rf"!(?=\s*(?:\$|\\\)|\\\]))|(?:[a-zA-Z]|\\(?:{'|'.join(GREEK)}))(?![a-zA-Z])"
    r"|\s*(?:=|≈|→|\\(?:n?eq?|approx|to|rightarrow|lor|mid)(?![a-zA-Z]))(?:[^\n$.,;]|[.,](?=\d)){1,60}?(?=\s*(?:\$|\\\)|\\\]|[.,;](?!\d)|\n|$))"
    r"|[ \t]?(?:\^(?!\s?\{?\s?\\circ)|\\(?:times|cdot|sqrt|[dt]?frac|div)(?![a-zA-Z])|[-+*/](?=[ \t]?[\d\\(])"
    r"|\+(?=[ \t]?[a-zA-Z](?![a-zA-Z])))"
    r"(?:[^\n$.,;=]|\.(?=\d)){1,60}?(?=\s*(?:\$|\\\)|\\\]|[.,;=\n]|$))"
)


def find_boxes(text: str, *, closed: bool = True) -> list[Mark]:
    """The boxes of a text, neighbours joined; `closed=False` reads a box that is never closed to the end."""
    first = text.find("box")
    if first < 0:
        return []
    if text.find("box", first + 1) < 0 and (only := _ONLY_BOX.search(text, max(0, first - 10))):
        return [_widen(Mark(only[1], Source.BOXED, *only.span()), text)] if INK.search(only[1]) else []
    starts = [first for first in (text.find("boxed"), text.find("fbox")) if first >= 0]
    if not starts:
        return []
    start = max(0, min(starts) - 10)  # includes the backslashes; braces before the first box do not matter
    groups: list[list[Mark]] = []
    for box in _find_outermost(text, start, closed)[-MAX_MARKS:]:
        if groups and _are_joined(groups[-1][-1], box, text):
            groups[-1].append(box)
        else:
            groups.append([box])
    return [_widen(_join(group), text) for group in groups]


def _widen(box: Mark, text: str) -> Mark:
    r"""The box with what its formula makes of it: `-\boxed{3}`, `\boxed{3}\sqrt{2}`; a mere part is no answer."""
    before, end = text[max(0, box.start - BEFORE) : box.start], box.end
    if before.rstrip().endswith(("$", "=", ":", "\\[", "\\(")) or before.replace(" ", "").isalpha():
        before = ""
    while before and not _PART.search(before) and (opened := _OPENED.search(before)):
        closed = _CLOSED.match(text, end)
        before, end = before[: opened.start()], closed.end() if closed else end
    is_part = _PART.search(before) is not None
    if is_part or _CONTINUED.match(text, end):
        return box if is_part and _FILLED.match(text, end) else box._replace(denied=True)
    behind = _BEHIND.match(text, end)
    negative = _NEGATIVE.search(before) is not None
    if not behind and not negative:
        return box
    content = f"{{{box.text}}}{behind[0]}" if behind else f"{{{box.text}}}"
    return box._replace(text=f"-{content}" if negative else content, end=behind.end() if behind else box.end)


def _find_outermost(text: str, start: int, closed: bool) -> list[Mark]:
    """Boxes with balanced braces that stand in no other box, in one pass whatever the nesting."""
    depth = 0
    opened: list[tuple[re.Match[str], int]] = []
    boxes: list[Mark] = []
    for token in _TOKEN.finditer(text, start):
        if token["bare"]:
            boxes.append(Mark(token["bare"], Source.BOXED, token.start(), token.end()))
        elif token[0] == "}":
            depth = max(0, depth - 1)
            if opened and depth == opened[-1][1]:
                box, _ = opened.pop()
                _close(Mark(text[box.end() : token.start()], Source.BOXED, box.start(), token.end()), boxes)
        elif token[0].endswith("{") and token[0] != "\\{":
            if token[0] != "{":
                opened.append((token, depth))
            depth += 1
    if opened and not closed:
        box, _ = opened[-1]
        _close(Mark(text[box.end() :], Source.BOXED, box.start(), len(text)), boxes)
    return [box._replace(text=_INNER.sub("", box.text)) if "box" in box.text else box for box in boxes]


def _close(box: Mark, boxes: list[Mark]) -> None:
    """Add a box and drop those inside it, if it contains readable text."""
    if not INK.search(box.text):
        return
    while boxes and boxes[-1].start > box.start:
        boxes.pop()
    boxes.append(box)


def _are_joined(box: Mark, following: Mark, text: str) -> bool:
    between = text[box.end : following.start]
    return len(between) <= _LONGEST_JOINT and _JOINT.fullmatch(between) is not None


def _join(group: list[Mark]) -> Mark:
    if len(group) == 1:
        return group[0]
    contents = list(dict.fromkeys(box.text.strip() for box in group))
    return Mark(", ".join(contents), Source.BOXED, group[0].start, group[-1].end)
