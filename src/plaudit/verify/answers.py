r"""The final answer of a response, and whether it can be trusted.

The strongest kind of mark decides: the last `\boxed{}`, then `<answer>`, `####`, "the answer is", and without any the
closing equation or number. An answer that is hedged, denied, taken back or contradicted carries its trouble and is
never right by luck. What stands inside `<think>` is not said.
"""

import enum
import re
from collections import deque
from dataclasses import dataclass
from fractions import Fraction

from plaudit.verify.marks import FINDERS, How, Mark, marks_in
from plaudit.verify.numbers import NUMBER, Number, numbers_in, without_calculator_marks
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import sentences, visible, words
from plaudit.verify.values import FalseEquation, Value, comparable, is_unsolved, measured, value_of

__all__ = ["Answer", "How", "Trouble", "answer_numbers", "final_answer", "spoken"]

MAX_EQUATIONS = 1000  # of a response, counted from its end, and unmarked numbers
CLOSING = 20_000  # characters at the end of a response in which an unmarked answer is looked for


class Trouble(enum.Enum):
    """Why a stated answer is no answer."""

    CONTRADICTED = "the response gives different final answers"
    HEDGED = "the response leaves a choice of answers"
    NEGATED = "the response says what the answer is not"
    RETRACTED = "the response takes its answer back"
    FALSE_EQUATION = "the answer equates different numbers"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a response gives as its answer; `value` where it is a number, `trouble` where it does not count."""

    text: str
    how: How
    value: Value | None = None
    trouble: Trouble | None = None
    whole: str = ""


def final_answer(response: str) -> Answer | None:
    """The answer a response settles on, or None where it states none.

    >>> final_answer("2 + 2 = 4. The answer is 4.").text
    '4'
    """
    text = spoken(response)
    for find in FINDERS.values():
        marks = [mark for mark in find(text) if words(mark.text)]
        if marks:
            return _weighed(marks, text)
    return _closing_number(text)


def spoken(response: str) -> str:
    """What a response says: without thinking, calculator marks and characters that print nothing."""
    return without_calculator_marks(without_thinking(visible(response)))


def answer_numbers(response: str) -> tuple[list[Number], list[Number]]:
    """The numbers in answer position (after marks and equals signs), and those of the strongest kind of mark alone.

    All numbers where nothing is in answer position; numbers that are denied ("not 4") in neither.
    """
    text = spoken(response)
    marks = marks_in(text)
    found = [
        (mark.start, _KINDS.index(mark.how), number)
        for mark in marks
        if not _is_denied(mark, text)
        for number in _first(mark)
    ]
    found += [(number.start, _KINDS.index(How.EQUATION), number) for number in _equated(text)]
    if not found and not marks:
        numbers = numbers_in(text[-5 * CLOSING :])[-MAX_EQUATIONS:]
        found = [(number.start, 0, number) for number in numbers if not _is_denied_number(text, number)]
    found.sort(key=lambda item: item[0])
    strongest = min((kind for _, kind, _ in found), default=0)
    return [number for *_, number in found], [number for _, kind, number in found if kind == strongest]


_KINDS = list(How)
_NOT = r"(?:\b(?:not|never|cannot)\b|n['’]t\b)"
_DENIED_BEFORE = re.compile(rf"{_NOT}(?!.*\bbut\b)(?:\s+\w+){{0,3}}[^\w\n]*$", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"[^\w\n.!?]*(?:(?:is|was|are|were|would be|seems)\s?)?(?:not|n['’]t|cannot|wrong|incorrect|false)\b", re.IGNORECASE
)
_COMPARED = re.compile(r"[=<>≤≥≠]\s*\$?$")
_CHOICE_WORDS = r"\b(?:or|alternatively|maybe|perhaps|possibly)\b"
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
_EQUALS = re.compile(r"=|≈|\bequals\b|\bis equal to\b", re.IGNORECASE)
_AFTER_OPERATOR = re.compile(r"[\w)\]}%]\s*(?:[-+/^×÷·]|\*|\\times|\\cdot)\s*$")
_RESULT = re.compile(rf"[^\w\n.+/^({{<>-]{{0,20}}?({NUMBER})(?!\s*(?:[-+/×÷·*]\s*[\d($\\]|\^|\\times|\\cdot))")


def _weighed(marks: list[Mark], text: str) -> Answer:
    """The last of the marks of one kind, with its trouble."""
    last = marks[-1]
    try:
        value = value_of(last.text)
    except FalseEquation:
        return Answer(last.text.strip(), last.how, trouble=Trouble.FALSE_EQUATION)
    trouble = _trouble(last, value, marks, text)
    return Answer(last.text.strip().rstrip("*_."), last.how, value, trouble, last.whole.strip())


def _trouble(last: Mark, value: Value | None, marks: list[Mark], text: str) -> Trouble | None:
    after = text[last.end : last.end + CLOSING]
    if _is_denied(last, text):
        return Trouble.NEGATED
    if _is_hedged(after, value):
        return Trouble.HEDGED
    if _is_retracted(after, value):
        return Trouble.RETRACTED
    rivals = [mark for mark in marks[:-1] if not _is_denied(mark, text)]
    rivals += [mark for mark in marks_in(after) if mark.how is not last.how]
    return Trouble.CONTRADICTED if any(_differs(rival, last, value) for rival in rivals) else None


def _is_denied(mark: Mark, text: str) -> bool:
    before = _SENTENCE_END.split(text[max(0, mark.start - 100) : mark.start])[-1]
    after = text[mark.end : mark.end + 60]
    return mark.denied or bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after)) or _says_not(mark.text)


def _is_denied_number(text: str, number: Number) -> bool:
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


def _closing_number(text: str) -> Answer | None:
    """The number that the last sentence with a number ends on: the result of its equation, or its last number."""
    for sentence in reversed(sentences(text[-CLOSING:])):
        numbers = numbers_in(sentence)
        if not numbers:
            continue
        equated = _equated(sentence)
        number, how = (equated[-1], How.EQUATION) if equated else (numbers[-1], How.LAST_NUMBER)
        if _is_operand(sentence, number) and not equated:
            return Answer(sentence, How.WHOLE)
        return Answer(number.text, how, measured(sentence, number), _sentence_trouble(sentence, number, numbers))
    whole = text.strip()
    return Answer(whole, How.WHOLE) if words(whole) else None


def _is_operand(sentence: str, number: Number) -> bool:
    """Whether the number is only a part of something not worked out: of "5 * 2", "x^2 > 2" or a LaTeX argument."""
    before, after = sentence[max(0, number.start - 20) : number.start], sentence[number.end : number.end + 1]
    return bool(_AFTER_OPERATOR.search(before) or _COMPARED.search(before)) or (bool(after) and after in "}&^")


def _sentence_trouble(sentence: str, number: Number, numbers: list[Number]) -> Trouble | None:
    if _is_denied_number(sentence, number):
        return Trouble.NEGATED
    others: list[Fraction] = [other.value for other in numbers if other.value != number.value]
    choice = re.search(rf"{NUMBER}[^.=]{{0,30}}?\bor\b[^.=]{{0,30}}?{NUMBER}", sentence)
    return Trouble.HEDGED if others and choice else None


def _equated(text: str) -> list[Number]:
    """The numbers right after an equals sign that no operator follows; equations in unknowns do not count."""
    found, place = [], 0
    for equals in deque(_EQUALS.finditer(text), maxlen=MAX_EQUATIONS):
        side = _SENTENCE_END.split(text[max(place, equals.start() - 100) : equals.start()])[-1]
        place = equals.end()
        ahead = _RESULT.match(text, place)
        numbers = numbers_in(ahead[1]) if ahead and not is_unsolved(side) else []
        if ahead and numbers:
            found.append(Number(numbers[0].value, numbers[0].text, ahead.start(1), ahead.end(1), numbers[0].percent))
    return found


def _first(mark: Mark) -> list[Number]:
    try:
        value = value_of(mark.text)
    except FalseEquation:
        return []
    numbers = numbers_in(mark.text)
    return [number for number in numbers if value is not None and number.value == value.number][:1]
