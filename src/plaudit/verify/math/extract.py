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
from plaudit.verify.math.extraction.commitment import is_guessed
from plaudit.verify.math.extraction.doubts import (
    Rejection,
    denies_itself,
    find_condition,
    is_corrected,
    is_denied,
    is_retracted,
)
from plaudit.verify.math.extraction.formulas import without_environment
from plaudit.verify.math.extraction.marks import MAX_MARKS, Mark, Source, find_last
from plaudit.verify.math.extraction.phrases import find_phrases
from plaudit.verify.math.extraction.rivals import Rival, find_hedges, find_rivals
from plaudit.verify.math.extraction.unmarked import find_unmarked_answer, is_bare
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import NUMBER, find_numbers, without_calculator_marks
from plaudit.verify.patterns import compile_late
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import remove_invisible

__all__ = [
    "FINDERS",
    "Extraction",
    "extract",
    "extract_final_statement",
    "extract_unmarked",
    "find_marks",
    "read_response",
    "read_truth",
    "tidy",
]


class Extraction(NamedTuple):
    """What a response gives as its answer, and from where; `rejected` says why it does not count.

    `whole` is the statement that the answer begins, `together` all answers that are marked in the same way, as a list.
    Where a rival differs from the answer, the answer does not count, nor under a `condition` that was not given.
    """

    answer: str | None
    source: Source | None
    rejected: Rejection | None = None
    whole: str = ""
    rivals: tuple[Rival, ...] = ()
    together: str = ""
    condition: str = ""


def extract(response: str, policy: MathPolicy) -> Extraction:
    """The answer a response settles on.

    >>> extract("2 + 2 = 4. The answer is 4.", MathPolicy()).answer
    '4'
    """
    text = read_response(response, policy)
    marks = find_marks(text)
    if not marks:
        return extract_unmarked(text, policy)
    found = _weigh(marks, text)
    return _look_inside(found, marks[-1].text, policy) if _is_sentence(found) else found


def extract_final_statement(text: str) -> Extraction | None:
    """What a text calls its final answer after its last box, which then was that of a step."""
    last = text.rfind("box")
    place = max([text.rfind(words, last) for words in _FINAL_ANSWER]) if last >= 0 else -1
    if place < 0:
        return None
    end = max((box.end for box in find_boxes(text)), default=-1)
    if end < 0 or place < end:
        return None
    closing = text[max(end, place - len("the ")) :]
    marks = find_phrases(closing)
    return _weigh(marks[-1:], closing) if marks else None


def extract_unmarked(text: str, policy: MathPolicy) -> Extraction:
    """The answer of a text whose marks, if it has any, do not count."""
    mark = find_unmarked_answer(text, policy)
    return Extraction(None, None, Rejection.NONE_FOUND) if mark is None else _weigh_unmarked(mark, text)


def _is_sentence(found: Extraction) -> bool:
    """Whether a tag or hashes hold a sentence rather than an answer."""
    if found.source not in (Source.TAG, Source.HASHES) or found.rejected:
        return False
    return not _PLAIN_NUMBER.fullmatch(found.answer or "") and not is_bare(found.answer or "")


def _look_inside(found: Extraction, content: str, policy: MathPolicy) -> Extraction:
    """The answer that a sentence in a tag or behind hashes gives; where it gives none, the sentence."""
    inner = extract(content, policy)
    if inner.answer is None or inner.source is Source.WHOLE:
        return found
    return inner._replace(source=found.source, whole=found.answer or "", rivals=(*inner.rivals, *found.rivals))


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


MAX_TOGETHER = 10  # marks that may be one answer together
NEAR = 400  # characters before an answer in which another in words contradicts it
_SIGNS = {Source.BOXED: "box", Source.TAG: "</", Source.HASHES: "####"}
_ANSWER_TAG = compile_late(r"<(/?)answer>", re.IGNORECASE)
_PLAIN_ANSWER = compile_late(r"answers?\**\s*(?:is|are|was|:|=)", re.IGNORECASE)
_FINAL_ANSWER = ("final answer", "Final answer", "Final Answer", "FINAL ANSWER")
_THINK_TAG = compile_late(r"</?think(?:ing)?>", re.IGNORECASE)
# A number alone, or the last line: anything else behind four hashes is a heading.
_HASHES = compile_late(rf"(?:^|(?<=\s))####[ \t]*({NUMBER}(?=\s*$)|\S[^\n]*(?=\s*\Z))", re.MULTILINE)
_MONEY = compile_late(r"(?<!\\)\$\s?-?[\d.]")
_DIGIT = compile_late(r"\d")
_INK = compile_late(r"[^\W_]|[∞∅√]")
_DRESSING = " \t\r\n*_`"
_PLAIN_NUMBER = compile_late(r"-?\d[\d.,/]*")


def _find_tags(text: str) -> list[Mark]:
    """What stands between an opening tag and the closing one right after it; a tag that prose only names is skipped."""
    if "</" not in text:
        return []
    marks: list[Mark] = []
    opened: re.Match[str] | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag[1]:
            opened = tag
        elif opened is not None:
            marks.append(Mark(text[opened.end() : tag.start()], Source.TAG, opened.start(), tag.end()))
            opened = None
    return marks[-MAX_MARKS:]


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
    earlier = [mark for mark in marks[:-1] if _stands(mark, last, text)]
    together = ", ".join(tidy(mark.text) for mark in (*earlier, last)) if 0 < len(earlier) < MAX_TOGETHER else ""
    condition = find_condition(last, text) if last.source is Source.PHRASE else ""
    is_end = not _INK.search(text, last.end)
    others = [*earlier, *_find_other_kinds(last, text, is_end=is_end)]
    if is_end:
        return Extraction(answer, last.source, None, whole, tuple(_contradictions(others, last)), together, condition)
    if is_retracted(last, text):
        return Extraction(answer, last.source, Rejection.RETRACTED, whole)
    rivals = (*find_rivals(last, text), *_contradictions(others, last))
    return Extraction(answer, last.source, None, whole, rivals, together, condition)


def _find_other_kinds(last: Mark, text: str, *, is_end: bool) -> list[Mark]:
    """Answers marked in another way than the last: by tags or hashes anywhere, in words near it or after it."""
    found = []
    for source, sign in _SIGNS.items():
        if source is not last.source and sign in text:
            found += FINDERS[source](text)
    if last.source is not Source.PHRASE and (start := _start_of_phrases(last, text, is_end=is_end)) is not None:
        shifted = (mark._replace(start=mark.start + start, end=mark.end + start) for mark in find_phrases(text[start:]))
        found += [mark for mark in shifted if mark.start >= last.end or _PLAIN_ANSWER.match(text, mark.start)]
    return found and [
        mark for mark in found if _is_apart(mark, last) and _has_digit(mark) and _stands(mark, last, text)
    ]


def _start_of_phrases(last: Mark, text: str, *, is_end: bool) -> int | None:
    """From where on "the answer is" may announce another number than the last mark; None where nothing may."""
    near = text.find("nswer", max(0, last.start - NEAR), last.start)
    if near >= 0 and _DIGIT.search(text, near, last.start):
        return max(0, near - len(" the a"))
    return last.end if not is_end and _DIGIT.search(text, last.end) else None


def _is_apart(mark: Mark, last: Mark) -> bool:
    return mark.end <= last.start or mark.start >= last.end


def _stands(mark: Mark, last: Mark, text: str) -> bool:
    """Whether a mark is neither denied nor corrected before the last."""
    return not is_denied(mark, text) and not is_corrected(mark, last, text)


def _contradictions(others: list[Mark], last: Mark) -> list[Rival]:
    """The other answers that are not the same text as the last."""
    if not others:
        return []
    answer = tidy(last.text)
    texts = {tidy(mark.text): tidy(mark.whole) for mark in others}
    return [Rival(text, Rejection.CONTRADICTED, whole) for text, whole in texts.items() if text and text != answer]


def _has_digit(mark: Mark) -> bool:
    return _DIGIT.search(mark.text) is not None


def _weigh_unmarked(mark: Mark, text: str) -> Extraction:
    answer, whole = tidy(mark.text), tidy(mark.whole)
    if _has_digit(mark) and is_guessed(mark, text):
        return Extraction(answer, mark.source, Rejection.GUESSED, whole)
    if mark.source in (Source.NUMBER, Source.EQUATION):
        if is_denied(mark, text):
            return Extraction(answer, mark.source, Rejection.NEGATED, whole)
        if is_retracted(mark, text):
            return Extraction(answer, mark.source, Rejection.RETRACTED, whole)
        numbers = find_numbers(mark.whole)
        number = next((one for one in reversed(numbers) if one.text == mark.text), numbers[-1])
        return Extraction(answer, mark.source, None, whole, tuple(find_hedges(mark.whole, number, numbers)))
    if mark.source in (Source.BOLD, Source.MATH):
        return _weigh([mark], text)
    if mark.source is Source.WHOLE and denies_itself(mark.text):
        return Extraction(answer, mark.source, Rejection.NEGATED, whole)
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
