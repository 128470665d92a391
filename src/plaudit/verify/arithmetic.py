"""Find equations that a response gets wrong: "13 * 2 = 27", "2 = 3".

Only plain arithmetic on written numbers is read (+ − × ÷, no brackets, no unknowns), so reported sums are certainly
false; rounded and truncated results are not reported.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from plaudit.verify.numbers import DECIMAL, decimal_value

Value = TypeVar("Value")
EQUALS = re.compile(r"=|≈|\\approx")
_CLAUSE_END = re.compile(r"[\n;:(]|[.,](?!\d)")

_OPERAND = rf"\$?{DECIMAL}"
SUM = re.compile(
    rf"(?<![\w.,/^(+*×÷$%=-])(?<![-+*/×÷^(=<>x]\s)((?:{_OPERAND})(?:\s?[-+*/×÷−x]\s?(?:{_OPERAND})){{1,8}}+)"
    rf"\s?=\s?({_OPERAND})(?!,?\d|[%^/*×÷+(]|\s?[-+*/×÷^(%x]|\.\d)"
)
_TOKEN = re.compile(rf"({_OPERAND})|[-+*/×÷−x]")


def false_sums(text: str) -> Iterator[str]:
    """Every sum in the text whose stated result is wrong, unchanged.

    >>> list(false_sums("2 + 2 = 4, and 13 * 2 = 27."))
    ['13 * 2 = 27']
    """
    for match in SUM.finditer(text):
        result, stated = _evaluate(match[1]), _number(match[2])
        if result is not None and stated is not None and abs(result - stated) >= _precision(match[2], result):
            yield match[0]


def false_equations(
    text: str, value_of: Callable[[str], Value | None], agree: Callable[[Value, Value], bool]
) -> Iterator[str]:
    """Every equation with two neighbouring sides that are values and do not agree; other sides are ignored.

    >>> from plaudit.verify.numbers import parse_number
    >>> list(false_equations("2 + 1 = 3, 4 = 5 dogs, 2 = 3", parse_number, lambda one, other: one == other))
    ['2 = 3']
    """
    for clause in _CLAUSE_END.split(text) if EQUALS.search(text) else ():
        values = [value_of(side.strip()) for side in EQUALS.split(clause)]
        for one, other in itertools.pairwise(values):
            if one is not None and other is not None and not agree(one, other):
                yield clause.strip()
                break


def _precision(stated: str, result: Fraction) -> Fraction:
    """The tolerance of a stated result: one unit of its last place, if it is rounded at all."""
    decimals = len(stated.partition(".")[2])
    exact = (result * 10**decimals).denominator == 1
    return Fraction(1, 10**9) if exact else Fraction(1, 10**decimals)


def _evaluate(expression: str) -> Fraction | None:
    """Products before sums, each from left to right; None for a division by zero and for numbers that are too long."""
    total, term, operator = Fraction(0), Fraction(0), "+"
    for token in _TOKEN.finditer(expression):
        if token[1] is None:
            operator = token[0]
            continue
        if (operand := _number(token[1])) is None:
            return None
        if operator in "+-−":
            total, term = total + term, operand if operator == "+" else -operand
        elif operator in "*×x":
            term *= operand
        elif operand:
            term /= operand
        else:
            return None
    return total + term


def _number(text: str) -> Fraction | None:
    value = decimal_value(text.removeprefix("$"))
    return None if value is None else Fraction(value)
