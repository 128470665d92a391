"""Find sums that a response gets wrong: "13 * 2 = 27".

Only plain arithmetic on written numbers is read (+ − × ÷, no brackets, no unknowns), so reported sums are certainly
false; rounded and truncated results are not reported.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from plaudit.verify.numbers import DECIMAL, decimal_value

__all__ = ["false_sums"]

_OPERAND = rf"\$?{DECIMAL}"
_SUM = re.compile(
    rf"(?<![\w.,/^(+*×÷$%=-])(?<![-+*/×÷^(=<>x]\s)((?:{_OPERAND})(?:\s?[-+*/×÷−x]\s?(?:{_OPERAND})){{1,8}}+)"
    rf"\s?=\s?({_OPERAND})(?![\d,%^/*×÷+(]|\s?[-+*/×÷^(%x]|\.\d)"
)
_TOKEN = re.compile(rf"({_OPERAND})|[-+*/×÷−x]")


def false_sums(text: str) -> Iterator[str]:
    """Every sum in the text whose result is not the one stated, as written.

    >>> list(false_sums("2 + 2 = 4, and 13 * 2 = 27."))
    ['13 * 2 = 27']
    """
    for match in _SUM.finditer(text):
        result, stated = _evaluate(match[1]), _number(match[2])
        if result is not None and stated is not None and abs(result - stated) >= _precision(match[2], result):
            yield match[0]


def _precision(stated: str, result: Fraction) -> Fraction:
    """How far off a stated result may be: one unit of its last place, if it is rounded at all."""
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
