r"""Formulas between `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, and sentences that do not end inside one.

A dollar sign before a number that reads on in words is money: "$5 and $6" holds no formula.
"""

import re
from collections.abc import Iterator

__all__ = ["end_of_statement", "find_formulas", "split_statements", "without_environment", "without_formulas"]

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
