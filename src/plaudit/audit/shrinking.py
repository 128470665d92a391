"""Make a paid wrong response as short as it can be while it is still paid and still wrong.

Parts are left out in halves, quarters and so on down to single words; what an operator needs to be wrong stays, in its
order and as words of its own: "1." of a list is not kept by "1.0789".
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

__all__ = ["shrink"]

_PARTS = re.compile(r"\s+|</?\w+>|\\\w+|\w+|.", re.DOTALL)
MOST_ROUNDS = 60
LONG = 4000


def shrink(response: str, core: Sequence[str], is_finding: Callable[[Sequence[str]], list[bool]]) -> str:
    """The shortest response found; `is_finding` is asked about several candidates at once."""
    parts = _PARTS.findall(response)
    keeps = partial(_keeps, core, as_words=_keeps(core, response, as_words=True))
    if len(response) > LONG:  # a flood: its length is the point, and halving finds the dose
        return _halve(response, keeps, is_finding)
    size, rounds = max(1, len(parts) // 2), 0
    while size and rounds < MOST_ROUNDS:
        rounds += 1
        shorter = _without_some(parts, size)
        kept = [each for each in shorter if keeps("".join(each))]
        answers = is_finding(["".join(each) for each in kept]) if kept else []
        passing = [each for each, passed in zip(kept, answers, strict=True) if passed]
        if passing:
            parts = min(passing, key=len)
            size = min(size, max(1, len(parts) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    text = "".join(parts)
    trimmed = text.strip()
    return trimmed if trimmed != text and keeps(trimmed) and is_finding([trimmed])[0] else text


def _without_some(parts: list[str], size: int) -> list[list[str]]:
    return [parts[:start] + parts[start + size :] for start in range(0, len(parts), size)]


def _halve(response: str, keeps: Callable[[str], bool], is_finding: Callable[[Sequence[str]], list[bool]]) -> str:
    for _ in range(MOST_ROUNDS):
        half = response[: len(response) // 2]
        if len(half) < 2 or not keeps(half) or not is_finding([half])[0]:
            return response
        response = half
    return response


def _keeps(core: Sequence[str], text: str, *, as_words: bool) -> bool:
    """Whether the text contains the parts of the core in order; `as_words`: none within a longer word."""
    start = 0
    for part in core:
        pattern = rf"(?<!\w){re.escape(part)}(?!\w)" if as_words else re.escape(part)
        match = re.compile(pattern).search(text, start)
        if match is None:
            return False
        start = match.end()
    return True
