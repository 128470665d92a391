r"""The final answer of a response, and what keeps it from being trusted.

The strongest kind of mark decides: the last `\boxed{}`, then `<answer>`, `####`, "the answer is"; without any, bold
print, the closing formula or number, or the whole of a bare response. What stands inside `<think>` is not said.
"""

import math
import numbers
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from plaudit.errors import InvalidTrajectory
from plaudit.verify.math.extraction.boxes import find_boxes
from plaudit.verify.math.extraction.doubts import (
    Rejection,
    Rival,
    denial_of_number,
    find_rivals,
    hedges_of_number,
    is_corrected,
    is_denied,
    is_retracted,
)
from plaudit.verify.math.extraction.formulas import without_environment
from plaudit.verify.math.extraction.marks import MAX_MARKS, Mark, Source, find_last
from plaudit.verify.math.extraction.phrases import find_phrases
from plaudit.verify.math.extraction.unmarked import find_unmarked_answer
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import NUMBER, find_numbers, without_calculator_marks
from plaudit.verify.tags import find_blocks, without_thinking
from plaudit.verify.text import remove_invisible

__all__ = [
    "FINDERS",
    "Extraction",
    "Rejection",
    "Rival",
    "Source",
    "extract",
    "find_marks",
    "read_response",
    "read_truth",
    "tidy",
]


class Extraction(NamedTuple):
    """What a response gives as its answer, and from where; `rejected` says why it does not count.

    `whole` is the statement that the answer begins. Where a rival differs from the answer, the answer does not count.
    """

    answer: str | None
    source: Source | None
    rejected: Rejection | None = None
    whole: str = ""
    rivals: tuple[Rival, ...] = ()


def extract(response: str, policy: MathPolicy) -> Extraction:
    """The answer a response settles on.

    >>> extract("2 + 2 = 4. The answer is 4.", MathPolicy()).answer
    '4'
    """
    text = read_response(response, policy)
    if marks := find_marks(text):
        return _weigh(marks, text)
    mark = find_unmarked_answer(text, policy)
    return Extraction(None, None, Rejection.NONE_FOUND) if mark is None else _weigh_unmarked(mark, text)


def find_marks(text: str) -> list[Mark]:
    """The marks of the strongest kind that a text has, in order."""
    for find in FINDERS.values():
        marks = [mark for mark in find(text) if _INK.search(mark.text)]
        if marks:
            return marks
    return []


def read_response(response: str, policy: MathPolicy) -> str:
    """What a response says: without thinking, calculator marks and characters that print nothing."""
    text = response if response.isascii() else remove_invisible(response)
    if "<" not in text:
        return text
    if "think" in text.lower():
        text = _THINK_TAG.sub(" ", text) if policy.read_think else without_thinking(text)
    return without_calculator_marks(text)


_THINK_TAG = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
# A number alone, or the last line: anything else behind four hashes is a heading.
_HASHES = re.compile(rf"(?:^|(?<=\s))####[ \t]*({NUMBER}(?=\s*$)|\S[^\n]*(?=\s*\Z))", re.MULTILINE)
_MONEY = re.compile(r"(?<!\\)\$\s?-?[\d.]")
_DIGIT = re.compile(r"\d")
_INK = re.compile(r"[^\W_]|[∞∅√]")
_DRESSING = " \t\r\n*_`"
_PLAIN_NUMBER = re.compile(r"-?\d[\d.,/]*")


def _find_tags(text: str) -> list[Mark]:
    if "<" not in text:
        return []
    return [Mark(block.text, Source.TAG, block.start, block.end) for block in find_blocks(text, "answer")[-MAX_MARKS:]]


def _find_hashes(text: str) -> list[Mark]:
    if "####" not in text:
        return []
    return [Mark(found[1], Source.HASHES, *found.span()) for found in find_last(_HASHES, text)]


FINDERS: dict[Source, Callable[[str], list[Mark]]] = {
    Source.BOXED: find_boxes,
    Source.TAG: _find_tags,
    Source.HASHES: _find_hashes,
    Source.PHRASE: find_phrases,
}


def _weigh(marks: list[Mark], text: str) -> Extraction:
    """The last of the marks of one kind, with what speaks against it."""
    last = marks[-1]
    answer, whole = tidy(last.text), tidy(last.whole) if last.whole else ""
    if is_denied(last, text):
        return Extraction(answer, last.source, Rejection.NEGATED, whole)
    if len(marks) == 1 and not _INK.search(text, last.end):
        return Extraction(answer, last.source, None, whole)
    if is_retracted(last, text):
        return Extraction(answer, last.source, Rejection.RETRACTED, whole)
    return Extraction(
        answer, last.source, None, whole, tuple(find_rivals(last, text) + _find_contradictions(marks, text))
    )


def _find_contradictions(marks: list[Mark], text: str) -> list[Rival]:
    """Earlier answers that were not denied or corrected, and answers marked in a weaker way after the last."""
    last = marks[-1]
    earlier = [mark for mark in marks[:-1] if not is_denied(mark, text) and not is_corrected(mark, last, text)]
    after = text[last.end :]
    later = []
    if _DIGIT.search(after):
        later = [mark for source, find in FINDERS.items() if source is not last.source for mark in find(after)]
    if not earlier and not later:
        return []
    texts = dict.fromkeys(tidy(mark.text) for mark in (*earlier, *filter(_has_digit, later)))
    return [Rival(other, Rejection.CONTRADICTED) for other in texts if other and other != tidy(last.text)]


def _has_digit(mark: Mark) -> bool:
    return _DIGIT.search(mark.text) is not None


def _weigh_unmarked(mark: Mark, text: str) -> Extraction:
    answer, whole = tidy(mark.text), tidy(mark.whole)
    if mark.source in (Source.NUMBER, Source.EQUATION):
        numbers = find_numbers(mark.whole)
        number = next((one for one in reversed(numbers) if one.text == mark.text), numbers[-1])
        if denial_of_number(mark.whole, number):
            return Extraction(answer, mark.source, Rejection.NEGATED, whole)
        return Extraction(answer, mark.source, None, whole, tuple(hedges_of_number(mark.whole, number, numbers)))
    if mark.source in (Source.BOLD, Source.MATH):
        return _weigh([mark], text[-20_000:])
    return Extraction(answer, mark.source, None, whole)


def tidy(text: str) -> str:
    """An answer without markdown and punctuation around it; a lone dollar sign before a number is money, no formula."""
    text = without_environment(text.strip(_DRESSING))
    if text.count("$") == 1 and _MONEY.search(text):
        text = text.replace("$", "\\$")
    while text.endswith((".", ",", ";", ":")) and not text.endswith(("...", "\\,", "\\;", "\\:")):
        text = text[:-1].rstrip(_DRESSING)
    return text


def read_truth(ground_truth: Any) -> str:
    """The answer in a ground truth; raises InvalidTrajectory for what is no text with something in it and no number."""
    if isinstance(ground_truth, str | bool):
        text = str(ground_truth)
        text = text if text.isascii() else remove_invisible(text)
        if text.strip():
            return _reduce(text)
    elif isinstance(ground_truth, numbers.Real | Decimal) and math.isfinite(ground_truth):
        return str(ground_truth)
    raise InvalidTrajectory(
        f"the ground truth must be text or a finite number, got {type(ground_truth).__name__} {ground_truth!r:.60}"
    )


def _reduce(text: str) -> str:
    if _PLAIN_NUMBER.fullmatch(text):
        return text
    marks = find_boxes(text, closed=False) or find_marks(text)
    return tidy(marks[-1].text if marks else text)
