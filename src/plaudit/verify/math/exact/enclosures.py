"""Enclose a value with a proven error bound: the real and complex balls of python-flint (Arb).

Every operation returns a ball that contains the true result, so disjoint balls prove two values different. python-flint
is imported at the first use: fractions and residues decide most answers before.
"""

import importlib
import os
import threading
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, reduce
from typing import Any, NamedTuple

from plaudit.verify.math.exact.evaluation import Undefined, evaluate
from plaudit.verify.math.parsing.tree import Node, nodes, number, spend

Point = dict[str, Fraction]
"""The values of the unknowns."""

BITS = (64, 384, 2688)
AGREEMENT = 100  # bits, absolute and relative, to which equal values agree
ORDINARY = 17  # powers of two that values may be from one without being called small or large
_SAME_NAME = "sin cos tan cot sec csc sinh cosh tanh coth sech csch"
_FUNCTIONS = {function: function for function in _SAME_NAME.split()} | {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "ln": "log",
}  # fmt: skip
_OF_INVERSE = {"arcsec": "arccos", "arccsc": "arcsin", "arccoth": "arctanh", "arcsech": "arccosh", "arccsch": "arcsinh"}
_REAL = ("floor", "ceil", "max", "min")  # functions of real numbers alone
_lock = threading.Lock()  # the precision of python-flint is one setting for all threads


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


@cache
def _flint() -> Any:
    return importlib.import_module("flint")


class Comparison(NamedTuple):
    """Whether two values agree, None if that is open, and whether both are real."""

    agree: bool | None
    is_real: bool


def compare_at(left: Node, right: Node, point: Point, precisions: Sequence[int] = BITS) -> Comparison:
    """Compare with more and more digits until the values are apart or agree closely."""
    is_real = False
    for bits in precisions:
        values, term_bits = _enclose((left, right), point, bits)
        if values is None:
            break
        one, other, difference = values
        is_real = _is_real(one) and _is_real(other)
        if not difference.contains(0):
            return Comparison(False, is_real)
        if _agrees_with_zero(difference, term_bits, 0 if one.contains(0) else min(_top_bit(one), 0)):
            return Comparison(True, is_real)
    return Comparison(None, is_real)


def sign_at(node: Node, point: Point) -> int | None:
    """The sign of a real value, 0 for one that agrees with zero; None if undecided."""
    for bits in BITS:
        values, term_bits = _enclose((node, number(0)), point, bits)
        if values is None or not _is_real(values[0]):
            return None
        value = values[0]
        if not value.contains(0):
            return 1 if value > 0 else -1
        if _agrees_with_zero(value, term_bits, 0):
            return 0
    return None


def _enclose(trees: tuple[Node, Node], point: Point, bits: int) -> tuple[tuple[Any, Any, Any] | None, int]:
    """The values of two trees and their difference, None if one has no value, and the bit length of their terms."""
    spend((len(nodes(trees[0])) + len(nodes(trees[1]))) * (bits // BITS[0]))
    ctx = _flint().ctx
    with _lock:
        before, ctx.prec = ctx.prec, bits
        try:
            balls = _Balls(point)
            one, other = evaluate(trees[0], balls), evaluate(trees[1], balls)
            difference = one - other
        except Undefined:
            return None, 0
        finally:
            ctx.prec = before
    return ((one, other, difference) if difference.is_finite() else None), balls.term_bits


def _agrees_with_zero(difference: Any, term_bits: int, size: int) -> bool:
    """Whether a ball around zero is too small to contain a nonzero value of the computed terms."""
    return _top_bit(difference.abs_upper()) < size - AGREEMENT - 2 * max(0, term_bits - ORDINARY)


class _Balls:
    """Arithmetic at the precision that is set, with the unknowns at a given point.

    `spread` says how many powers of two the values on the way are from one: terms that small may hide in a result.
    """

    __slots__ = ("_acb", "_arb", "_is_precise", "_point", "term_bits")

    def __init__(self, point: Point) -> None:
        self._arb, self._acb = _flint().arb, _flint().acb
        self._point, self.term_bits = point, 0
        self._is_precise = _flint().ctx.prec > AGREEMENT  # else nothing agrees, and terms need not be measured

    def number(self, value: Fraction | int) -> Any:
        if self._is_precise:
            self.term_bits = max(self.term_bits, value.numerator.bit_length(), value.denominator.bit_length())
        return self._arb(value) if type(value) is int else self._arb(value.numerator) / value.denominator

    def symbol(self, symbol: str) -> Any:
        if symbol == "i":
            return self._acb(0, 1)
        if symbol == "π":
            return self._arb.pi()
        if symbol == "e":
            return self._arb.const_e()
        if symbol not in self._point:
            raise Undefined(f"no value for {symbol}")
        return self.number(self._point[symbol])

    def add(self, left: Any, right: Any) -> Any:
        return self._simplify(left + right)

    def multiply(self, left: Any, right: Any) -> Any:
        return self._simplify(left * right)

    def invert(self, value: Any) -> Any:
        return self._simplify(1 / value)

    def integer_power(self, base: Any, exponent: int) -> Any:
        return self._simplify(base**exponent)

    def power(self, base: Any, exponent: Any, exact: Fraction | int | None) -> Any:
        """The real root where there is one: the cube root of -8 is -2."""
        if base.is_zero() and _is_real(exponent) and exponent > 0:
            return base
        if exact is not None and exact.denominator % 2 and _is_real(base) and base < 0:
            root = (-base) ** exponent
            return -root if exact.numerator % 2 else root
        power = base**exponent
        return self._simplify(power if power.is_finite() else self._acb(base) ** exponent)

    def call(self, function: str, values: Sequence[Any]) -> Any:
        if not values or (function in _REAL and not all(map(_is_real, values))):
            raise Undefined(f"no values for {function}")
        first = values[0]
        if function in ("max", "min"):
            return reduce(type(first).max if function == "max" else type(first).min, values)
        if function in ("floor", "ceil"):
            return first.floor() if function == "floor" else first.ceil()
        if function in ("abs", "norm"):
            return abs(first)
        if function in _OF_INVERSE:
            return self.call(_OF_INVERSE[function], [1 / first])
        if function in ("log", "lg"):
            return self.call("ln", values) / self._arb(10).log()
        if function == "arccot":
            return self._arb.pi() / 2 - self.call("arctan", values)
        if function not in _FUNCTIONS:
            raise Undefined(f"no values for {function}")
        result = getattr(first, _FUNCTIONS[function])()
        if not result.is_finite():  # the logarithm of a negative number, the arcsine of what may be more than one
            result = getattr(self._acb(first), _FUNCTIONS[function])()
        return self._simplify(result)

    def _simplify(self, value: Any) -> Any:
        """A complex number without an imaginary part as a real one; its size goes into the spread."""
        if self._is_precise and not value.contains(0) and value.is_finite():
            self.term_bits = max(self.term_bits, abs(_top_bit(value)))
        return value.real if type(value) is self._acb and value.imag.is_zero() else value


def _is_real(value: Any) -> bool:
    return type(value) is _flint().arb


def _top_bit(value: Any) -> int:
    """The power of two just above the middle of a ball; a very small number for zero."""
    bits = []
    for part in (value.real, value.imag):
        mantissa, exponent = part.mid().man_exp()
        bits.append(int(exponent) + int(mantissa).bit_length() if mantissa else -(10**9))
    return max(bits)
