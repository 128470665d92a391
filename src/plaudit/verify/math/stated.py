"""The numbers in answer position: behind the marks of answers and behind equals signs.

Where nothing is in answer position all numbers count; numbers that are denied ("not 4") never do.
"""

from plaudit.verify.math.numeric import number_of
from plaudit.verify.math.extract import FINDERS, spoken
from plaudit.verify.math.extraction.doubts import denial_of_number, is_denied
from plaudit.verify.math.extraction.marks import Mark, Source
from plaudit.verify.math.extraction.unmarked import MAX_EQUATIONS, equated_numbers
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.numbers import Number, numbers_in

__all__ = ["stated_numbers"]

CLOSING = 100_000  # characters at the end of a response in which numbers without a position are looked for
_KINDS = list(Source)


def stated_numbers(response: str) -> tuple[list[Number], list[Number]]:
    """The numbers in answer position, in order, and those of the strongest kind of mark alone."""
    text = spoken(response, MathPolicy())
    marks = [mark for find in FINDERS.values() for mark in find(text)]
    found = [
        (mark.start, _KINDS.index(mark.source), number)
        for mark in marks
        if not is_denied(mark, text)
        for number in _first(mark)
    ]
    found += [(number.start, _KINDS.index(Source.EQUATION), number) for number in equated_numbers(text)]
    if not found and not marks:
        end = text[-CLOSING:]
        numbers = numbers_in(end)[-MAX_EQUATIONS:]
        found = [(number.start, 0, number) for number in numbers if not denial_of_number(end, number)]
    found.sort(key=lambda item: item[0])
    strongest = min((kind for _, kind, _ in found), default=0)
    return [number for *_, number in found], [number for _, kind, number in found if kind == strongest]


def _first(mark: Mark) -> list[Number]:
    value = number_of(mark.text)
    return [number for number in numbers_in(mark.text) if value is not None and number.value == value][:1]
