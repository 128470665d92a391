"""Numeric answers: the number a short text stands for, how far it is from the truth, and the numbers of a response.

Reads one number with or without a unit or `x =` in front. Nothing is calculated, so "2+2" and "more than 4" have no
distance.
"""

from fractions import Fraction

from plaudit.verify.math.comparison.lowest_form import open_operations
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.extraction.candidates import FINDERS, read_response
from plaudit.verify.math.extraction.marks import Mark, Source
from plaudit.verify.math.extraction.trust import is_denied_at, qualifies_itself
from plaudit.verify.math.extraction.unmarked import MAX_EQUATIONS, find_equated_numbers
from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.parser import parse
from plaudit.verify.math.parsing.tree import Node, Op, Unreadable, operations, start_work
from plaudit.verify.math.policy import MathPolicy
from plaudit.verify.math.verdict import MathVerdict, VerdictStatus
from plaudit.verify.numbers import Number, find_numbers
from plaudit.verify.text import remove_invisible

_LONGEST = 3000
CLOSING = 100_000  # characters at the end of a response in which numbers without a position are looked for
_KINDS = list(Source)
_MARKED = (Op.UNIT, Op.PERCENT, Op.DEGREE)
_WRITTEN = {Op.NUMBER, Op.NEGATE, Op.DIVIDE}


def error_of(verdict: MathVerdict) -> Fraction | None:
    """The distance of the answer from the truth, where both are numbers and the answer counts."""
    if verdict.rejected or verdict.answer is None or verdict.status is VerdictStatus.UNPARSED_TRUTH:
        return None
    truth, answer = number_of(verdict.ground_truth), number_of(verdict.answer)
    return None if truth is None or answer is None else abs(answer - truth)


def is_within(verdict: MathVerdict, tolerance: Fraction) -> bool:
    """Whether the answer is right, or off by at most `tolerance` of a truth that is not zero."""
    error, truth = error_of(verdict), number_of(verdict.ground_truth)
    if verdict.correct or error is None or not truth:
        return verdict.correct
    return error <= tolerance * abs(truth)


def number_of(text: str) -> Fraction | None:
    """The number that a short text stands for, or None; the sides of "x = 4 = 8/2" must agree.

    >>> number_of("x = 1,250 miles")
    Fraction(1250, 1)
    """
    if len(text) > _LONGEST:
        return None
    start_work()
    try:
        tree = parse(unify_notation(remove_invisible(text.strip(" *_`"))))
        sides = tree.args if tree.op is Op.RELATION and set(tree.leaf.split()) <= {"=", "~"} else (tree,)
        *values, last = map(_side, sides)
    except (Unreadable, RecursionError):
        return None
    return last if {*values, last} <= {last, None} else None


def _side(side: Node) -> Fraction | None:
    """The number that one side of an equation is, without its unit."""
    while side.op in _MARKED:
        side = side.args[0]
    value = fold(side).value if operations(side) <= _WRITTEN or not open_operations(side) else None
    return None if value is None else Fraction(value)


def find_stated_numbers(response: str) -> tuple[list[Number], list[Number]]:
    """The numbers in answer position, in order, and those of the strongest kind of mark alone.

    Answer positions are the marks of answers and equals signs; if there are none, all numbers count. Denied numbers
    ("not 4") never count.
    """
    text = read_response(response, MathPolicy())
    marks = [mark for find in FINDERS.values() for mark in find(text)]
    stated = [
        (mark.start, _KINDS.index(mark.source), number)
        for mark in marks
        if not (mark.denied or qualifies_itself(mark.text) or is_denied_at(text, mark.start, mark.end))
        for number in _first(mark)
    ]
    stated += [(number.start, _KINDS.index(Source.EQUATION), number) for number in find_equated_numbers(text)]
    if not stated and not marks:
        end = text[-CLOSING:]
        numbers = find_numbers(end)[-MAX_EQUATIONS:]
        stated = [(number.start, 0, number) for number in numbers if not is_denied_at(end, number.start, number.end)]
    stated.sort(key=lambda item: item[0])
    strongest = min((kind for _, kind, _ in stated), default=0)
    return [number for *_, number in stated], [number for _, kind, number in stated if kind == strongest]


def _first(mark: Mark) -> list[Number]:
    value = number_of(mark.text)
    return [number for number in find_numbers(mark.text) if value is not None and number.value == value][:1]
