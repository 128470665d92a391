r"""The final answer of a response, and whether it can be trusted.

The strongest kind of mark decides: the last `\boxed{}`, then `<answer>`, `####`, "the answer is", and without any the
closing equation or number. An answer that is hedged, denied, taken back or contradicted carries its trouble and is
never right by luck. What stands inside `<think>` is not said.
"""

import re
from collections import deque
from dataclasses import dataclass

from plaudit.verify.marks import FINDERS, How, Mark, marks_in
from plaudit.verify.numbers import NUMBER, Number, numbers_in, without_calculator_marks
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import sentences, visible, words
from plaudit.verify.trouble import Trouble, is_denied, is_denied_number, mark_trouble, number_trouble
from plaudit.verify.values import FalseEquation, Value, is_unsolved, measured, value_of

__all__ = ["Answer", "How", "Trouble", "answer_numbers", "final_answer", "spoken"]

MAX_EQUATIONS = 1000  # of a response, counted from its end, and unmarked numbers
CLOSING = 20_000  # characters at the end of a response in which an unmarked answer is looked for


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
        if not is_denied(mark, text)
        for number in _first(mark)
    ]
    found += [(number.start, _KINDS.index(How.EQUATION), number) for number in _equated(text)]
    if not found and not marks:
        end = text[-5 * CLOSING :]
        numbers = numbers_in(end)[-MAX_EQUATIONS:]
        found = [(number.start, 0, number) for number in numbers if not is_denied_number(end, number)]
    found.sort(key=lambda item: item[0])
    strongest = min((kind for _, kind, _ in found), default=0)
    return [number for *_, number in found], [number for _, kind, number in found if kind == strongest]


_KINDS = list(How)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_COMPARED = re.compile(r"[=<>≤≥≠]\s*\$?$")
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
    trouble = mark_trouble(last, value, marks, text)
    return Answer(last.text.strip().rstrip("*_."), last.how, value, trouble, last.whole.strip())


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
        return Answer(number.text, how, measured(sentence, number), number_trouble(sentence, number, numbers))
    whole = text.strip()
    return Answer(whole, How.WHOLE) if words(whole) else None


def _is_operand(sentence: str, number: Number) -> bool:
    """Whether the number is only a part of something not worked out: of "5 * 2", "x^2 > 2" or a LaTeX argument."""
    before, after = sentence[max(0, number.start - 20) : number.start], sentence[number.end : number.end + 1]
    return bool(_AFTER_OPERATOR.search(before) or _COMPARED.search(before)) or (bool(after) and after in "}&^")


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
