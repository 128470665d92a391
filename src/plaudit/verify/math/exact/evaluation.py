"""The value of a tree in a domain: residues modulo a prime, or balls around complex numbers.

Expects a folded tree, so that rational exponents are numbers by the time they are looked at. In residues the unknowns
are at random points, and functions (sines, roots, sums) are unknown but fixed: f of the same residue is the same. So
equal residues mean equal expressions; different ones mean different expressions where no function was met (`is_proof`).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from plaudit.verify.math.parsing.tree import Node, Op, name, number, substitute

V = TypeVar("V")


class Undefined(ArithmeticError):
    """An expression without a value here: a division by zero, or a function the domain does not know."""


class Domain(Protocol[V]):
    """Numbers to calculate with."""

    def number(self, value: Fraction | int) -> V: ...
    def symbol(self, symbol: str) -> V: ...
    def add(self, left: V, right: V) -> V: ...
    def multiply(self, left: V, right: V) -> V: ...
    def invert(self, value: V) -> V: ...
    def integer_power(self, base: V, exponent: int) -> V: ...
    def power(self, base: V, exponent: V, exact: Fraction | int | None) -> V: ...
    def call(self, function: str, values: Sequence[V]) -> V: ...


def evaluate(node: Node, domain: Domain[V]) -> V:
    """The value of a folded tree; raises Undefined where it has none."""
    if node.value is not None:
        return domain.number(node.value)
    value: V = _RULES.get(node.op, _form)(node, domain)
    return value


def _add(node: Node, domain: Domain[V]) -> V:
    return reduce(domain.add, [evaluate(arg, domain) for arg in node.args])


def _multiply(node: Node, domain: Domain[V]) -> V:
    return reduce(domain.multiply, [evaluate(arg, domain) for arg in node.args])


def _divide(node: Node, domain: Domain[V]) -> V:
    return domain.multiply(evaluate(node.args[0], domain), domain.invert(evaluate(node.args[1], domain)))


def _raise(base: V, exponent: Node, domain: Domain[V]) -> V:
    """Powers are taken apart, b^(n-1) = b^n / b and b^(2n) = (b^n)^2, so that equal ones meet."""
    if exponent.value is not None:
        whole = exponent.value
        if whole.denominator == 1:
            return domain.integer_power(base, whole.numerator)
        return domain.power(base, domain.number(whole), whole)
    if exponent.op is Op.ADD:
        return reduce(domain.multiply, [_raise(base, part, domain) for part in exponent.args])
    if exponent.op is Op.NEGATE:
        return domain.invert(_raise(base, exponent.args[0], domain))
    if exponent.op is Op.MULTIPLY and exponent.args[0].value is not None and exponent.args[0].value.denominator == 1:
        rest = exponent.args[1:]
        inner = rest[0] if len(rest) == 1 else Node(Op.MULTIPLY, rest)
        return domain.integer_power(_raise(base, inner, domain), exponent.args[0].value.numerator)
    return domain.power(base, evaluate(exponent, domain), None)


def _call(node: Node, domain: Domain[V]) -> V:
    return domain.call(node.leaf, [evaluate(arg, domain) for arg in node.args])


def _series(node: Node, domain: Domain[V]) -> V:
    """A sum that cannot be written out, as an unknown function of its bounds and body; its variable has no name."""
    variable, low, high, body = node.args
    body = substitute(body, {variable.leaf: name("bound")})
    return domain.call(node.leaf, [evaluate(part, domain) for part in (low, high, body)])


def _form(node: Node, domain: Domain[V]) -> V:
    """A tuple, a relation and the like: an unknown function of its parts, the same for the same parts."""
    return domain.call(f"{node.op} {node.leaf}", [evaluate(arg, domain) for arg in node.args])


def _plus_minus(node: Node, domain: Domain[V]) -> V:
    """A sign left open is an unknown factor, and its opposite the negative of that."""
    sign = domain.symbol("±")
    if node.leaf == "∓":
        sign = domain.multiply(sign, domain.number(-1))
    return domain.multiply(sign, evaluate(node.args[0], domain))


_DEGREE = number(Fraction(1, 180))
_RULES: dict[Op, Callable[..., Any]] = {
    Op.NAME: lambda node, domain: domain.symbol(node.leaf),
    Op.WORD: lambda node, domain: domain.symbol(f"word {node.leaf}"),
    Op.INFINITY: lambda _, domain: domain.symbol("∞"),
    Op.DOTS: lambda _, domain: domain.symbol("…"),
    Op.ADD: _add,
    Op.NEGATE: lambda node, domain: domain.multiply(domain.number(-1), evaluate(node.args[0], domain)),
    Op.MULTIPLY: _multiply,
    Op.DIVIDE: _divide,
    Op.POWER: lambda node, domain: _raise(evaluate(node.args[0], domain), node.args[1], domain),
    Op.CALL: _call,
    Op.SERIES: _series,
    Op.DEGREE: lambda node, domain: evaluate(Node(Op.MULTIPLY, (node.args[0], name("π"), _DEGREE)), domain),
    Op.UNIT: lambda node, domain: evaluate(node.args[0], domain),
    Op.PERCENT: lambda node, domain: domain.multiply(evaluate(node.args[0], domain), domain.number(Fraction(1, 100))),
    Op.PLUS_MINUS: _plus_minus,
}


PRIME = 0x4CE9C22C566D5E1EF758703D02979053  # a safe prime, so that no small power of a number is one
MAX_NUMBER = 100  # bits; larger numbers may be multiples of the prime, and count as unknowns
MAX_EXPONENT = 64  # bits; larger ones may be multiples of an order


class Residues:
    """One choice of values for the unknowns, made from a seed that the compared texts give."""

    __slots__ = ("is_proof", "seed")

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.is_proof = True

    def number(self, value: Fraction | int) -> int:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_NUMBER:
            return self._unknown("number", value.numerator, value.denominator)
        below = value.denominator % PRIME
        if below == 1:
            return value.numerator % PRIME
        return value.numerator * self.invert(below) % PRIME

    def symbol(self, symbol: str) -> int:
        if symbol in _CONSTANTS:
            self.is_proof = False
        return _choose(self.seed, symbol)

    def add(self, left: int, right: int) -> int:
        return (left + right) % PRIME

    def multiply(self, left: int, right: int) -> int:
        return left * right % PRIME

    def invert(self, value: int) -> int:
        if value == 0:
            raise Undefined("division by zero")
        return pow(value, -1, PRIME)

    def integer_power(self, base: int, exponent: int) -> int:
        if exponent.bit_length() > MAX_EXPONENT:
            return self._unknown("power", base, exponent)
        return pow(base if exponent >= 0 else self.invert(base), abs(exponent), PRIME)

    def power(self, base: int, exponent: int, exact: Fraction | int | None) -> int:
        """Roots: b^(7/3) is b^2 times an unknown cube root of b."""
        if exact is None:
            return self._unknown("power", base, exponent)
        whole, part = divmod(exact, 1)
        return self.integer_power(base, int(whole)) * self._unknown("power", base, self.number(part)) % PRIME

    def call(self, function: str, values: Sequence[int]) -> int:
        if function in ("abs", "norm"):  # the root of the square
            return self.power(values[0] * values[0] % PRIME, 0, Fraction(1, 2))
        return self._unknown(function, *(sorted(values) if function in _SYMMETRIC else values))

    def _unknown(self, function: str, *values: int) -> int:
        self.is_proof = False
        return _choose(self.seed, f"{function}({','.join(map(hex, values))})")


@lru_cache(maxsize=4096)  # formulas use the same few letters
def _choose(seed: bytes, what: str) -> int:
    return int.from_bytes(blake2b(what.encode("utf-8", "replace"), key=seed, digest_size=16).digest()) % PRIME


_SYMMETRIC = {"max", "min", "gcd", "lcm"}
_CONSTANTS = {"i", "e", "π", "±"}  # i² = -1 and the like are unknown here
