"""The value of a tree in a domain: residues modulo a prime, or balls around complex numbers.

Expects a folded tree, so that rational exponents are numbers by the time they are looked at.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol, TypeVar

from plaudit.verify.math.parsing.tree import Node, Op, call, name, number, substitute

__all__ = ["REWRITES", "Domain", "Undefined", "Unvalued", "evaluate"]

V = TypeVar("V")


class Undefined(ArithmeticError):
    """An expression without a value here: a division by zero, or a function the domain does not know."""


class Unvalued(Undefined):
    """An expression without a value anywhere, as it holds a function or a word that has none."""


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


def _symbol(node: Node, domain: Domain[V]) -> V:
    return domain.symbol(node.leaf)


def _word(node: Node, domain: Domain[V]) -> V:
    return domain.symbol(f"word {node.leaf}")


def _add(node: Node, domain: Domain[V]) -> V:
    return reduce(domain.add, (evaluate(arg, domain) for arg in node.args))


def _negate(node: Node, domain: Domain[V]) -> V:
    return domain.multiply(domain.number(-1), evaluate(node.args[0], domain))


def _multiply(node: Node, domain: Domain[V]) -> V:
    return reduce(domain.multiply, (evaluate(arg, domain) for arg in node.args))


def _divide(node: Node, domain: Domain[V]) -> V:
    return domain.multiply(evaluate(node.args[0], domain), domain.invert(evaluate(node.args[1], domain)))


def _power(node: Node, domain: Domain[V]) -> V:
    """Powers are taken apart, b^(n-1) = b^n / b and b^(2n) = (b^n)^2, so that equal ones meet."""
    base, exponent = node.args
    if exponent.value is not None:
        whole = exponent.value
        if whole.denominator == 1:
            return domain.integer_power(evaluate(base, domain), whole.numerator)
        return domain.power(evaluate(base, domain), domain.number(whole), whole)
    if exponent.op is Op.ADD:
        return _multiply(Node(Op.MULTIPLY, tuple(Node(Op.POWER, (base, part)) for part in exponent.args)), domain)
    if exponent.op is Op.NEGATE:
        return domain.invert(_power(Node(Op.POWER, (base, exponent.args[0])), domain))
    if exponent.op is Op.MULTIPLY and exponent.args[0].value is not None and exponent.args[0].value.denominator == 1:
        rest = exponent.args[1:]
        inner = rest[0] if len(rest) == 1 else Node(Op.MULTIPLY, rest)
        return domain.integer_power(_power(Node(Op.POWER, (base, inner)), domain), exponent.args[0].value.numerator)
    return domain.power(evaluate(base, domain), evaluate(exponent, domain), None)


def _call(node: Node, domain: Domain[V]) -> V:
    rewrite = REWRITES.get(node.leaf)
    if rewrite and len(node.args) == 1:
        return evaluate(rewrite(node.args[0]), domain)
    return domain.call(node.leaf, [evaluate(arg, domain) for arg in node.args])


def _index(node: Node, domain: Domain[V]) -> V:
    return domain.call("index", [evaluate(arg, domain) for arg in node.args])


def _series(node: Node, domain: Domain[V]) -> V:
    """A sum that cannot be written out, as an unknown function of its bounds and body; its variable has no name."""
    variable, low, high, body = node.args
    body = substitute(body, {variable.leaf: name("bound")})
    return domain.call(node.leaf, [evaluate(part, domain) for part in (low, high, body)])


def _form(node: Node, domain: Domain[V]) -> V:
    """A tuple, a relation and the like: an unknown function of its parts, the same for the same parts."""
    return domain.call(f"{node.op} {node.leaf}", [evaluate(arg, domain) for arg in node.args])


def _degree(node: Node, domain: Domain[V]) -> V:
    return evaluate(Node(Op.MULTIPLY, (node.args[0], name("π"), number(Fraction(1, 180)))), domain)


def _unit(node: Node, domain: Domain[V]) -> V:
    return evaluate(node.args[0], domain)


def _percent(node: Node, domain: Domain[V]) -> V:
    return domain.multiply(evaluate(node.args[0], domain), domain.number(Fraction(1, 100)))


def _infinity(_: Node, domain: Domain[V]) -> V:
    return domain.symbol("∞")


def _dots(_: Node, domain: Domain[V]) -> V:
    return domain.symbol("…")


def _plus_minus(node: Node, domain: Domain[V]) -> V:
    """A sign left open is an unknown factor, and its opposite the negative of that."""
    sign = domain.symbol("±")
    if node.leaf == "∓":
        sign = domain.multiply(sign, domain.number(-1))
    return domain.multiply(sign, evaluate(node.args[0], domain))


def _over(above: str, below: str) -> Callable[[Node], Node]:
    return lambda arg: Node(Op.DIVIDE, (call(above, arg) if above else number(1), call(below, arg)))


def _root_of_square(arg: Node, shift: int) -> Node:
    """√(x² + 1) or √(x² - 1)."""
    square = Node(Op.POWER, (arg, number(2)))
    return Node(Op.POWER, (Node(Op.ADD, (square, number(shift))), number(Fraction(1, 2))))


def _half_log(above: Node, below: Node) -> Node:
    return Node(Op.MULTIPLY, (number(Fraction(1, 2)), call("ln", Node(Op.DIVIDE, (above, below)))))


def _one_plus(arg: Node) -> Node:
    return Node(Op.ADD, (number(1), arg))


def _one_minus(arg: Node) -> Node:
    return Node(Op.ADD, (number(1), Node(Op.NEGATE, (arg,))))


REWRITES: dict[str, Callable[[Node], Node]] = {
    "tan": _over("sin", "cos"),
    "cot": _over("cos", "sin"),
    "sec": _over("", "cos"),
    "csc": _over("", "sin"),
    "lg": lambda arg: call("log", arg),
    "coth": _over("cosh", "sinh"),
    "sech": _over("", "cosh"),
    "csch": _over("", "sinh"),
    "arcsec": lambda arg: call("arccos", Node(Op.DIVIDE, (number(1), arg))),
    "arccsc": lambda arg: call("arcsin", Node(Op.DIVIDE, (number(1), arg))),
    "arcsinh": lambda arg: call("ln", Node(Op.ADD, (arg, _root_of_square(arg, 1)))),
    "arccosh": lambda arg: call("ln", Node(Op.ADD, (arg, _root_of_square(arg, -1)))),
    "arctanh": lambda arg: _half_log(_one_plus(arg), _one_minus(arg)),
    "arccoth": lambda arg: _half_log(_one_plus(arg), Node(Op.ADD, (arg, number(-1)))),
}
"""Functions in terms of others, whatever the domain."""

_RULES: dict[Op, Callable[..., Any]] = {
    Op.NAME: _symbol,
    Op.WORD: _word,
    Op.ADD: _add,
    Op.NEGATE: _negate,
    Op.MULTIPLY: _multiply,
    Op.DIVIDE: _divide,
    Op.POWER: _power,
    Op.CALL: _call,
    Op.INDEX: _index,
    Op.SERIES: _series,
    Op.DEGREE: _degree,
    Op.UNIT: _unit,
    Op.PERCENT: _percent,
    Op.INFINITY: _infinity,
    Op.DOTS: _dots,
    Op.PLUS_MINUS: _plus_minus,
}
