"""Why a stated answer does not count: it is hedged, denied, taken back or contradicted.

Reads cue words, no meaning. It errs towards distrust: a response that wavers loses an answer, none gains one by luck.
"""

import enum
import re

from plaudit.verify.marks import Mark, marks_in
from plaudit.verify.numbers import NUMBER, Number, numbers_in
from plaudit.verify.values import FalseEquation, Value, comparable, value_of

__all__ = ["Trouble", "is_denied", "is_denied_number", "mark_trouble", "number_trouble"]

FOLLOWING = 20_000  # characters after an answer in which it may be taken back


class Trouble(enum.Enum):
    """Why a stated answer is no answer."""

    CONTRADICTED = "the response gives different final answers"
    HEDGED = "the response leaves a choice of answers"
    NEGATED = "the response says what the answer is not"
    RETRACTED = "the response takes its answer back"
    FALSE_EQUATION = "the answer equates different numbers"


def mark_trouble(last: Mark, value: Value | None, marks: list[Mark], text: str) -> Trouble | None:
    """What is wrong with the last of the marks of one kind in a text, or None."""
    after = text[last.end : last.end + FOLLOWING]
    if is_denied(last, text):
        return Trouble.NEGATED
    if _is_hedged(after, value):
        return Trouble.HEDGED
    if _is_retracted(after, value):
        return Trouble.RETRACTED
    rivals = [mark for mark in marks[:-1] if not is_denied(mark, text)]
    rivals += [mark for mark in marks_in(after) if mark.how is not last.how]
    return Trouble.CONTRADICTED if any(_differs(rival, last, value) for rival in rivals) else None


def number_trouble(sentence: str, number: Number, numbers: list[Number]) -> Trouble | None:
    """What is wrong with a number that answers without a mark, or None."""
    if is_denied_number(sentence, number):
        return Trouble.NEGATED
    others = any(other.value != number.value for other in numbers)
    return Trouble.HEDGED if others and _CHOICE_OF_NUMBERS.search(sentence) else None


_NOT = r"(?:\b(?:not|never|cannot)\b|n['’]t\b)"
_DENIED_BEFORE = re.compile(rf"{_NOT}(?!.*\bbut\b)(?:\s+\w+){{0,3}}[^\w\n]*$", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"[^\w\n.!?]*(?:(?:is|was|are|were|would be|seems)\s?)?(?:not|n['’]t|cannot|wrong|incorrect|false)\b", re.IGNORECASE
)
_CHOICE_WORDS = r"\b(?:or|alternatively|maybe|perhaps|possibly)\b"
_CHOICE_OF_NUMBERS = re.compile(rf"{NUMBER}[^.=]{{0,30}}?\bor\b[^.=]{{0,30}}?{NUMBER}", re.IGNORECASE)
_NEXT_NUMBER = re.compile(rf"\s*(?:,|/|\||-|to\b|and\b|&)\s*(?:\w+\s)?({NUMBER})(?!\s*[-+*/=×\w])", re.IGNORECASE)
_SECOND_THOUGHT = re.compile(
    r"\b(?:wait|actually|oops|sorry|correction|i mean|on second thought|hold on|hmm+|no(?=,))\b", re.IGNORECASE
)
_TAKEN_BACK = re.compile(
    r"\b(?:scratch that|i was wrong|i made a mistake"
    r"|(?:that|this|it)(?:['’]s| is) (?:wrong|incorrect|not right|not correct))\b",
    re.IGNORECASE,
)
_RESTATED = re.compile(r"\b(?:it|answer|that|this)(?:['’]s| is| should| must)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


def is_denied(mark: Mark, text: str) -> bool:
    """Whether the text says that what is marked is not the answer."""
    before = _SENTENCE_END.split(text[max(0, mark.start - 100) : mark.start])[-1]
    after = text[mark.end : mark.end + 60]
    return mark.denied or bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after)) or _says_not(mark.text)


def is_denied_number(text: str, number: Number) -> bool:
    """Whether the text says "not" of this number."""
    before = _SENTENCE_END.split(text[max(0, number.start - 100) : number.start])[-1]
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(text, number.end))


def _says_not(text: str) -> bool:
    """Whether a number is denied ("not 4"); "does not exist" is an answer."""
    return (
        bool(numbers_in(text[:400]))
        and re.match(rf"(?:\w+\s+){{0,3}}?{_NOT}", text.strip()[:100], re.IGNORECASE) is not None
    )


def _is_hedged(after: str, value: Value | None) -> bool:
    """Whether another number is offered beside the answer, in its sentence or in an "Or 5." after it."""
    if value is None:
        return False
    sentence, *rest = _SENTENCE_END.split(after[:400], maxsplit=1)
    beside = _NEXT_NUMBER.match(sentence)
    others = numbers_in(beside[1]) if beside else []
    choice = re.search(_CHOICE_WORDS, sentence, re.IGNORECASE)
    if choice:
        others += numbers_in(sentence[choice.end() :])
    if rest and (choice := re.match(rf"\W*{_CHOICE_WORDS}", rest[0], re.IGNORECASE)):
        others += numbers_in(_SENTENCE_END.split(rest[0][choice.end() :], maxsplit=1)[0])
    return any(other.value != value.number for other in others)


def _is_retracted(after: str, value: Value | None) -> bool:
    if _TAKEN_BACK.search(after):
        return True
    cue = _SECOND_THOUGHT.search(after)
    if cue is None:
        return False
    rest = after[cue.end() :]
    if value is None:
        return _RESTATED.search(rest) is not None
    numbers = numbers_in(rest)
    return bool(numbers) and numbers[-1].value != value.number


def _differs(rival: Mark, last: Mark, value: Value | None) -> bool:
    if value is None:
        return comparable(rival.text) not in ("", comparable(last.text)) and rival.how is last.how
    try:
        other = value_of(rival.text)
    except FalseEquation:
        return True
    return other is not None and other.number != value.number
