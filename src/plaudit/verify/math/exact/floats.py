"""Floats with a bound on their error: quick, and enough to prove most different values different.

A value's bound grows with every step by more than the processor's rounding; what comes near a pole, a cut or the end of
the floats is undefined here and left to `balls`, whose rules for roots of negative numbers hold here too.
"""

import cmath
import math
from collections.abc import Callable
from fractions import Fraction

from plaudit.verify.math.exact.evaluation import REWRITES, Undefined, Unvalued
from plaudit.verify.math.parsing.tree import Node, Op

__all__ = ["Bounded", "Places", "are_apart", "bound", "bound_number", "is_real"]

Bounded = tuple[complex, float]
"""A float or complex number, and how far the true value may be from it; a bare tuple, as thousands are built."""

Places = Callable[[str], Bounded | None]
"""Where the unknowns are."""

STEP = 2.0**-49  # sixteen times the rounding of one operation
TINY = 1e-200  # more than what is lost where a float becomes too small
MAX_SIZE = 1e100
MAX_ANGLE = 1e5
MAX_POWER = 1000
MAX_EXPONENT = 200  # of e
NEAR_ONE = 0.999  # where the arcsine becomes steep


def bound(node: Node, places: Places) -> Bounded:
    """The value of a tree with the unknowns at given places; raises Undefined where floats do not reach."""
    if node.value is not None:
        return bound_number(node.value)
    rule = _RULES.get(node.op)
    if rule is None:
        raise Unvalued(f"no floats for {node.op}")
    return rule(node, places)


def bound_number(value: Fraction | int) -> Bounded:
    """A rational number as a float."""
    try:
        number = value.numerator / value.denominator  # what float() does with a fraction, without its detour
    except OverflowError:
        raise Undefined("too large for a float") from None
    return _round(number, 0.0)


def are_apart(left: Bounded, right: Bounded) -> bool:
    """Whether the two cannot be the same number."""
    return abs(left[0] - right[0]) > 2 * (left[1] + right[1]) + STEP * (abs(left[0]) + abs(right[0]))


def is_real(bounded: Bounded) -> bool | None:
    """Whether a value is real; None for a complex one that may be."""
    value, error = bounded
    if type(value) is float:
        return True
    return False if abs(value.imag) > 2 * error else None


def _round(value: complex, error: float) -> Bounded:
    """A result, its rounding added to its error."""
    size = abs(value)
    if not size < MAX_SIZE:
        raise Undefined("too large for a float")
    return value, error + STEP * size + TINY


def _symbol(node: Node, places: Places) -> Bounded:
    found = _CONSTANTS.get(node.leaf) or places(node.leaf)
    if found is None:
        raise Undefined(f"no value for {node.leaf}")
    return found


def _add(node: Node, places: Places) -> Bounded:
    total: complex = 0.0
    error = TINY
    for arg in node.args:
        value, lost = bound(arg, places)
        total += value
        error += lost + STEP * abs(total)
    return total, error


def _negate(node: Node, places: Places) -> Bounded:
    value, error = bound(node.args[0], places)
    return -value, error


def _multiply(node: Node, places: Places) -> Bounded:
    product, error = bound(node.args[0], places)
    for arg in node.args[1:]:
        value, lost = bound(arg, places)
        error = abs(product) * lost + error * (abs(value) + lost)
        product, error = _round(product * value, error)
    return product, error


def _divide(node: Node, places: Places) -> Bounded:
    above, lost = bound(node.args[0], places)
    below, error = _invert(bound(node.args[1], places))
    return _round(above * below, abs(above) * error + lost * (abs(below) + error))


def _invert(bounded: Bounded) -> Bounded:
    value, error = bounded
    size = abs(value)
    if size <= 2 * error or size < 1 / MAX_SIZE:
        raise Undefined("division by what may be zero")
    return _round(1 / value, 2 * error / size / size)


def _power(node: Node, places: Places) -> Bounded:
    base, exponent = node.args
    if exponent.value is not None:
        bounded = bound(base, places)
        if exponent.value.denominator == 1:
            return _whole_power(bounded, exponent.value.numerator)
        return _root(bounded, exponent.value)
    raised = bound(exponent, places)
    if base.op is Op.NAME and base.leaf == "e":
        return _exp(raised)
    bounded = bound(base, places)
    if type(bounded[0]) is complex or bounded[0].real <= 0:
        raise Undefined("an open power of what may not be positive")
    return _exp(_product(raised, _log(bounded)))


def _whole_power(base: Bounded, exponent: int) -> Bounded:
    if exponent < 0:
        return _invert(_whole_power(base, -exponent))
    value, error = base
    size = abs(value)
    if not size or exponent > MAX_POWER or exponent * error > size / 10:
        raise Undefined("a power of too many digits")
    if size > 1 and exponent * math.log(size) > MAX_EXPONENT:
        raise Undefined("too large a power")
    result = value**exponent
    return _round(result, abs(result) * exponent * (2 * error / size + STEP))


def _root(base: Bounded, exponent: Fraction | int) -> Bounded:
    """The real root where there is one: the cube root of -8 is -2."""
    value, error = base
    power = exponent.numerator / exponent.denominator
    if type(value) is float and value < 0 and exponent.denominator % 2:
        root, lost = _exp(_product((power, STEP * abs(power)), _log((-value, error))))
        return (-root if exponent.numerator % 2 else root), lost
    return _exp(_product((power, STEP * abs(power)), _log(base)))


def _product(left: Bounded, right: Bounded) -> Bounded:
    error = abs(left[0]) * right[1] + left[1] * (abs(right[0]) + right[1])
    return _round(left[0] * right[0], error)


def _call(node: Node, places: Places) -> Bounded:
    rewrite = REWRITES.get(node.leaf)
    if rewrite and len(node.args) == 1:
        return bound(rewrite(node.args[0]), places)
    values = [bound(arg, places) for arg in node.args]
    known = _FUNCTIONS.get(node.leaf)
    if known is not None and len(values) == 1:
        return known(values[0])
    if node.leaf in ("max", "min") and values:
        chosen = (max if node.leaf == "max" else min)(_of_real(value) for value in values)
        return chosen, max(error for _, error in values)
    raise Unvalued(f"no floats for {node.leaf}")


def _scale(factor: float) -> Callable[[Node, Places], Bounded]:
    def apply(node: Node, places: Places) -> Bounded:
        value, error = bound(node.args[0], places)
        return _round(value * factor, error * factor)

    return apply


def _exp(bounded: Bounded) -> Bounded:
    value, error = bounded
    if error > 0.1 or abs(value) > MAX_EXPONENT:
        raise Undefined("too large a power")
    result = cmath.exp(value) if type(value) is complex else math.exp(value.real)
    return _round(result, 2 * abs(result) * error)


def _log(bounded: Bounded) -> Bounded:
    value, error = bounded
    size = abs(value)
    if size <= 2 * error:
        raise Undefined("logarithm of what may be zero")
    lost = 2 * error / size + STEP
    if type(value) is float:
        return _round(math.log(value) if value > 0 else complex(math.log(-value), math.pi), lost)
    if value.real < 0 and abs(value.imag) <= 2 * error:
        raise Undefined("logarithm at its cut")
    return _round(cmath.log(value), lost)


def _log10(bounded: Bounded) -> Bounded:
    return _product(_log(bounded), (1 / math.log(10), STEP))


def _of_real(bounded: Bounded) -> float:
    if type(bounded[0]) is not float:
        raise Undefined("a function of a complex number")
    return bounded[0]


def _gentle(function: Callable[[float], float]) -> Callable[[Bounded], Bounded]:
    """A function that is nowhere steeper than its argument."""

    def apply(bounded: Bounded) -> Bounded:
        if abs(value := _of_real(bounded)) > MAX_ANGLE:
            raise Undefined("an angle of too many turns")
        return _round(function(value), bounded[1] + STEP)

    return apply


def _arcsin(bounded: Bounded) -> Bounded:
    value = _of_real(bounded)
    if abs(value) + bounded[1] > NEAR_ONE:
        raise Undefined("arcsine near its ends")
    return _round(math.asin(value), 2 * bounded[1] / math.sqrt(1 - NEAR_ONE**2) + STEP)


def _arccos(bounded: Bounded) -> Bounded:
    value, error = _arcsin(bounded)
    return _round(math.pi / 2 - value, error + STEP)


def _abs(bounded: Bounded) -> Bounded:
    return abs(bounded[0]), bounded[1] + STEP * abs(bounded[0])


def _round_to(function: Callable[[float], int]) -> Callable[[Bounded], Bounded]:
    def apply(bounded: Bounded) -> Bounded:
        value, error = _of_real(bounded), bounded[1]
        low, high = function(value - 2 * error), function(value + 2 * error)
        if low != high:
            raise Undefined("rounding what may be a whole number")
        return float(low), 0.0

    return apply


_CONSTANTS: dict[str, Bounded] = {"e": (math.e, 3 * STEP), "π": (math.pi, 4 * STEP), "i": (1j, 0.0)}
_FUNCTIONS: dict[str, Callable[[Bounded], Bounded]] = {
    "sin": _gentle(math.sin),
    "cos": _gentle(math.cos),
    "tanh": _gentle(math.tanh),
    "arctan": _gentle(math.atan),
    "arcsin": _arcsin,
    "arccos": _arccos,
    "ln": _log,
    "log": _log10,
    "abs": _abs,
    "norm": _abs,
    "floor": _round_to(math.floor),
    "ceil": _round_to(math.ceil),
}
_RULES: dict[Op, Callable[[Node, Places], Bounded]] = {
    Op.NAME: _symbol,
    Op.ADD: _add,
    Op.NEGATE: _negate,
    Op.MULTIPLY: _multiply,
    Op.DIVIDE: _divide,
    Op.POWER: _power,
    Op.CALL: _call,
    Op.UNIT: _scale(1.0),
    Op.PERCENT: _scale(0.01),
    Op.DEGREE: _scale(math.pi / 180),
}
