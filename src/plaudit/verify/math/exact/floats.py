"""Real numbers as floats with a bound on their error: quick, and enough to prove most different values different.

A value's bound grows with every step by more than the processor's rounding; what would leave the real numbers, or lose
all digits, is undefined here and left to `balls`.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from plaudit.verify.math.exact.evaluation import Undefined

__all__ = ["Bounded", "Floats"]

STEP = 2.0**-50  # eight times the rounding of one operation
TINY = 1e-200  # more than what is lost where a float becomes too small
MAX_SIZE = 1e100
MAX_ANGLE = 1e5


class Bounded(NamedTuple):
    """A float and how far the true value may be from it."""

    value: float
    error: float

    def is_apart_from(self, other: "Bounded") -> bool:
        """Whether the two cannot be the same number."""
        gap = abs(self.value - other.value)
        return gap > 2 * (self.error + other.error) + STEP * (abs(self.value) + abs(other.value))


class Floats:
    """Arithmetic on bounded floats, with the unknowns at given places."""

    __slots__ = ("places",)

    def __init__(self, places: dict[str, Fraction]) -> None:
        self.places = places

    def number(self, value: Fraction | int) -> Bounded:
        try:
            number = value.numerator / value.denominator  # what float() does with a fraction, without its detour
        except OverflowError:
            raise Undefined("too large for a float") from None
        return _bound(number, 0.0)

    def symbol(self, symbol: str) -> Bounded:
        if symbol in _CONSTANTS:
            return _bound(_CONSTANTS[symbol], 0.0)
        if symbol not in self.places:
            raise Undefined(f"no value for {symbol}")
        return self.number(self.places[symbol])

    def add(self, left: Bounded, right: Bounded) -> Bounded:
        return _bound(left.value + right.value, left.error + right.error)

    def multiply(self, left: Bounded, right: Bounded) -> Bounded:
        error = abs(left.value) * right.error + left.error * (abs(right.value) + right.error)
        return _bound(left.value * right.value, error)

    def invert(self, value: Bounded) -> Bounded:
        size = abs(value.value)
        if size <= 2 * value.error or size < 1 / MAX_SIZE:
            raise Undefined("division by what may be zero")
        return _bound(1 / value.value, 2 * value.error / size / size)

    def integer_power(self, base: Bounded, exponent: int) -> Bounded:
        if exponent < 0:
            return self.invert(self.integer_power(base, -exponent))
        if exponent > 64:
            return self.power(base, self.number(exponent), None)
        result = Bounded(1.0, 0.0)
        for _ in range(exponent):
            result = self.multiply(result, base)
        return result

    def power(self, base: Bounded, exponent: Bounded, exact: Fraction | int | None) -> Bounded:
        return _exp(self.multiply(exponent, _log(base)))

    def call(self, function: str, values: Sequence[Bounded]) -> Bounded:
        if function in ("max", "min") and values:
            chosen = (max if function == "max" else min)(value.value for value in values)
            return Bounded(chosen, max(value.error for value in values))
        known = _FUNCTIONS.get(function)
        if known is None or len(values) != 1:
            raise Undefined(f"no values for {function}")
        return known(values[0])


def _bound(value: float, error: float) -> Bounded:
    """A result, its rounding added to its error."""
    size = abs(value)
    if not size < MAX_SIZE:
        raise Undefined("too large for a float")
    return Bounded(value, error + STEP * size + TINY)


def _exp(value: Bounded) -> Bounded:
    if value.error > 0.1 or abs(value.value) > 200:
        raise Undefined("too large a power")
    result = math.exp(value.value)
    return _bound(result, 2 * result * value.error)


def _log(value: Bounded) -> Bounded:
    if value.value <= 2 * value.error:
        raise Undefined("logarithm of what may not be positive")
    return _bound(math.log(value.value), 2 * value.error / value.value + STEP)


def _circular(function: Callable[[float], float]) -> Callable[[Bounded], Bounded]:
    def apply(value: Bounded) -> Bounded:
        if abs(value.value) > MAX_ANGLE:
            raise Undefined("an angle of too many turns")
        return _bound(function(value.value), value.error + STEP)

    return apply


def _abs(value: Bounded) -> Bounded:
    return Bounded(abs(value.value), value.error)


def _round_to(function: Callable[[float], int]) -> Callable[[Bounded], Bounded]:
    def apply(value: Bounded) -> Bounded:
        low, high = function(value.value - 2 * value.error), function(value.value + 2 * value.error)
        if low != high:
            raise Undefined("rounding what may be a whole number")
        return Bounded(float(low), 0.0)

    return apply


_CONSTANTS = {"e": math.e, "π": math.pi}
_FUNCTIONS: dict[str, Callable[[Bounded], Bounded]] = {
    "sin": _circular(math.sin),
    "cos": _circular(math.cos),
    "arctan": _circular(math.atan),
    "ln": _log,
    "abs": _abs,
    "norm": _abs,
    "floor": _round_to(math.floor),
    "ceil": _round_to(math.ceil),
}
