r"""The final answer of a response, and what keeps it from being trusted.

The strongest kind of mark decides: the last `\boxed{}`, then `<answer>`, `####`, "the answer is"; without any, bold
print, the closing formula or number, or the whole of a bare response. What stands inside `<think>` is not said.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from plaudit.verify.math.extraction.boxes import boxes_in
from plaudit.verify.math.extraction.doubts import (
    Rejection,
    Rival,
    denial_of_number,
    hedges_of_number,
    is_corrected,
    is_denied,
    rivals_after,
    taken_back,
)
from plaudit.verify.math.extraction.formulas import without_environment
from plaudit.verify.math.extraction.marks import MAX_MARKS, Mark, Source, last_matches
from plaudit.verify.math.extraction.phrases import phrases_in
from plaudit.verify.math.extraction.unmarked import unmarked_answer
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import NUMBER, numbers_in, without_calculator_marks
from plaudit.verify.tags import blocks_in, without_thinking
from plaudit.verify.text import visible

__all__ = ["FINDERS", "Extraction", "Rejection", "Rival", "Source", "extract", "marks_in", "spoken", "tidied"]


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
    text = spoken(response, policy)
    if marks := marks_in(text):
        return _weighed(marks, text)
    mark = unmarked_answer(text, policy)
    return Extraction(None, None, Rejection.NONE_FOUND) if mark is None else _unmarked(mark, text)


def marks_in(text: str) -> list[Mark]:
    """The marks of the strongest kind that a text has, in order."""
    for find in FINDERS.values():
        marks = [mark for mark in find(text) if _INK.search(mark.text)]
        if marks:
            return marks
    return []


def spoken(response: str, policy: MathPolicy) -> str:
    """What a response says: without thinking, calculator marks and characters that print nothing."""
    text = response if response.isascii() else visible(response)
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


def _tags(text: str) -> list[Mark]:
    if "<" not in text:
        return []
    return [Mark(block.text, Source.TAG, block.start, block.end) for block in blocks_in(text, "answer")[-MAX_MARKS:]]


def _hashes(text: str) -> list[Mark]:
    if "####" not in text:
        return []
    return [Mark(found[1], Source.HASHES, *found.span()) for found in last_matches(_HASHES, text)]


FINDERS: dict[Source, Callable[[str], list[Mark]]] = {
    Source.BOXED: boxes_in,
    Source.TAG: _tags,
    Source.HASHES: _hashes,
    Source.PHRASE: phrases_in,
}


def _weighed(marks: list[Mark], text: str) -> Extraction:
    """The last of the marks of one kind, with what speaks against it."""
    last = marks[-1]
    answer, whole = tidied(last.text), tidied(last.whole) if last.whole else ""
    if is_denied(last, text):
        return Extraction(answer, last.source, Rejection.NEGATED, whole)
    if len(marks) == 1 and not _INK.search(text, last.end):
        return Extraction(answer, last.source, None, whole)
    if taken_back(last, text):
        return Extraction(answer, last.source, Rejection.RETRACTED, whole)
    return Extraction(answer, last.source, None, whole, tuple(rivals_after(last, text) + _others(marks, text)))


def _others(marks: list[Mark], text: str) -> list[Rival]:
    """Earlier answers that were not denied or corrected, and answers marked in a weaker way after the last."""
    last = marks[-1]
    earlier = [mark for mark in marks[:-1] if not is_denied(mark, text) and not is_corrected(mark, last, text)]
    after = text[last.end :]
    later = []
    if _DIGIT.search(after):
        later = [mark for source, find in FINDERS.items() if source is not last.source for mark in find(after)]
    if not earlier and not later:
        return []
    texts = dict.fromkeys(tidied(mark.text) for mark in (*earlier, *filter(_has_digit, later)))
    return [Rival(other, Rejection.CONTRADICTED) for other in texts if other and other != tidied(last.text)]


def _has_digit(mark: Mark) -> bool:
    return _DIGIT.search(mark.text) is not None


def _unmarked(mark: Mark, text: str) -> Extraction:
    answer, whole = tidied(mark.text), tidied(mark.whole)
    if mark.source in (Source.NUMBER, Source.EQUATION):
        numbers = numbers_in(mark.whole)
        number = next((one for one in reversed(numbers) if one.text == mark.text), numbers[-1])
        if denial_of_number(mark.whole, number):
            return Extraction(answer, mark.source, Rejection.NEGATED, whole)
        return Extraction(answer, mark.source, None, whole, tuple(hedges_of_number(mark.whole, number, numbers)))
    if mark.source in (Source.BOLD, Source.MATH):
        return _weighed([mark], text[-20_000:])
    return Extraction(answer, mark.source, None, whole)


def tidied(text: str) -> str:
    """An answer without markdown and punctuation around it; a lone dollar sign before a number is money, no formula."""
    text = without_environment(text.strip(_DRESSING))
    if text.count("$") == 1 and _MONEY.search(text):
        text = text.replace("$", "\\$")
    while text.endswith((".", ",", ";", ":")) and not text.endswith(("...", "\\,", "\\;", "\\:")):
        text = text[:-1].rstrip(_DRESSING)
    return text
