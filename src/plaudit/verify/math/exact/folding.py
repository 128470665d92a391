"""Work out what is rational: "2+2" becomes 4 and 1/2^99 a fraction, exactly and within bounds.

What is not rational, or too large to write out, stays as it is for `values` to compare.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from plaudit.verify.math.parsing.budget import MAX_BITS, MAX_TERMS
from plaudit.verify.math.parsing.tree import Node, Op, is_number, number, substitute

__all__ = ["fold"]

MAX_FACTORIAL = 2_500
MAX_ROOT = 64
MAX_RADICAND = 4_000  # bits


def fold(node: Node) -> Node:
    """The tree with every rational part worked out."""
    if not node.args:
        return node
    if node.op is Op.SERIES:
        return _series(node)
    args = tuple([fold(arg) if arg.args else arg for arg in node.args])
    rule = _FOLDS.get(node.op)
    return rule(node, args) if rule else _with_args(node, args)


def _with_args(node: Node, args: tuple[Node, ...]) -> Node:
    return Node(node.op, args, node.leaf, node.value)  # several times as fast as _replace


def _add(node: Node, args: tuple[Node, ...]) -> Node:
    """Terms with the numbers among them added up into one, at the end."""
    flat = [term for arg in args for term in (arg.args if arg.op is Op.ADD else (arg,))]
    rest = [term for term in flat if not is_number(term)]
    value: Fraction | int = sum(term.value for term in flat if term.value is not None)
    if _too_large(value):
        return _with_args(node, args)
    if not rest:
        return number(value)
    return Node(Op.ADD, (*rest, number(value))) if value or len(rest) > 1 else rest[0]


def _negate(_: Node, args: tuple[Node, ...]) -> Node:
    value = args[0].value
    return number(-value) if value is not None else Node(Op.NEGATE, args)


def _multiply(node: Node, args: tuple[Node, ...]) -> Node:
    flat = [term for arg in args for term in (arg.args if arg.op is Op.MULTIPLY else (arg,))]
    rest = [term for term in flat if not is_number(term)]
    value: Fraction | int = 1
    for term in flat:
        if term.value is not None:
            value *= term.value
            if _too_large(value):
                return _with_args(node, args)
    if not rest:
        return number(value)
    return Node(Op.MULTIPLY, (number(value), *rest)) if value != 1 or len(rest) > 1 else rest[0]


def _divide(node: Node, args: tuple[Node, ...]) -> Node:
    above, below = args[0].value, args[1].value
    if above is not None and below:
        both_whole = type(above) is int and type(below) is int
        return number(Fraction(above, below) if both_whole else above / Fraction(below))
    return _with_args(node, args)


def _power(node: Node, args: tuple[Node, ...]) -> Node:
    base, exponent = args[0].value, args[1].value
    if base is None or exponent is None:
        return _with_args(node, args) if exponent != 1 else args[0]
    value = _integer_power(base, exponent.numerator)
    if value is not None and exponent.denominator != 1:
        value = _exact_root(value, exponent.denominator)
    return number(value) if value is not None else _with_args(node, args)


def _integer_power(base: Fraction | int, exponent: int) -> Fraction | int | None:
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size * abs(exponent) > MAX_BITS and abs(base) not in (0, 1):
        return None
    if exponent < 0:
        return Fraction(base) ** exponent if base else None
    return base**exponent


def _exact_root(value: Fraction | int, degree: int) -> Fraction | int | None:
    """The real root where it is rational; an even root of a negative number is not."""
    if degree > MAX_ROOT or value.numerator.bit_length() > MAX_RADICAND or (value < 0 and degree % 2 == 0):
        return None
    parts = [_whole_root(abs(part), degree) for part in (value.numerator, value.denominator)]
    if parts[0] is None or parts[1] is None:
        return None
    root = Fraction(parts[0], parts[1])
    return -root if value < 0 else root


def _whole_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(value)
        return root if root * root == value else None
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low if low**degree == value else None


def _call(node: Node, args: tuple[Node, ...]) -> Node:
    function = _FUNCTIONS.get(node.leaf)
    values = [arg.value for arg in args if arg.value is not None]
    value = function(values) if function and len(values) == len(args) else None
    return number(value) if value is not None else _with_args(node, args)


def _of_whole_number(function: Callable[[int], int]) -> Callable[[Sequence[Fraction | int]], Fraction | int | None]:
    """A function of one whole number that grows as fast as a factorial."""

    def apply(values: Sequence[Fraction | int]) -> Fraction | int | None:
        (value,) = values
        if value.denominator != 1 or not 0 <= value <= MAX_FACTORIAL:
            return None
        return Fraction(function(int(value)))

    return apply


def _multifactorial(values: Sequence[Fraction | int]) -> Fraction | int | None:
    count, step = values
    if count.denominator != 1 or not 0 <= count <= MAX_FACTORIAL:
        return None
    return math.prod(range(int(count), 0, -int(step)))


def _binomial(values: Sequence[Fraction | int]) -> Fraction | int | None:
    if len(values) != 2 or any(value.denominator != 1 or not 0 <= value <= 10**9 for value in values):
        return None
    above, below = int(values[0]), int(values[1])
    if min(below, above - below) * above.bit_length() > MAX_BITS:
        return None
    return Fraction(math.comb(above, below))


def _modulo(values: Sequence[Fraction | int]) -> Fraction | int | None:
    return Fraction(values[0]) % values[1] if len(values) == 2 and values[1] else None


def _of_fractions(
    above: Callable[..., int], below: Callable[..., int]
) -> Callable[[Sequence[Fraction | int]], Fraction | int | None]:
    """A function of whole numbers that fractions share, by their numerators and denominators."""

    def apply(values: Sequence[Fraction | int]) -> Fraction | int | None:
        if not values:
            return None
        return Fraction(above(*(value.numerator for value in values)), below(*(value.denominator for value in values)))

    return apply


def _of_one(
    function: Callable[[Fraction | int], Fraction | int],
) -> Callable[[Sequence[Fraction | int]], Fraction | int | None]:
    return lambda values: Fraction(function(values[0])) if len(values) == 1 else None


_FUNCTIONS: dict[str, Callable[[Sequence[Fraction | int]], Fraction | int | None]] = {
    "factorial": _of_whole_number(math.factorial),
    "multifactorial": _multifactorial,
    "binomial": _binomial,
    "mod": _modulo,
    "floor": _of_one(math.floor),
    "ceil": _of_one(math.ceil),
    "abs": _of_one(lambda value: -value if value < 0 else value),
    "max": lambda values: max(values) if values else None,
    "min": lambda values: min(values) if values else None,
    "gcd": _of_fractions(math.gcd, math.lcm),
    "lcm": _of_fractions(math.lcm, math.gcd),
}


def _series(node: Node) -> Node:
    """A sum or product over few enough whole numbers, written out."""
    variable, low, high, body = node.args[0], fold(node.args[1]), fold(node.args[2]), node.args[3]
    first, last = low.value, high.value
    if high.op is Op.INFINITY and first is not None and node.leaf == "sum":
        total = _geometric(variable, first, body)
        if total is not None:
            return number(total)
    whole = first is not None and last is not None and first.denominator == last.denominator == 1
    if first is None or last is None or not whole or last - first > MAX_TERMS or node.leaf not in _SERIES:
        return Node(Op.SERIES, (variable, low, high, fold(body)), node.leaf)
    terms = tuple(substitute(body, {variable.leaf: number(value)}) for value in range(int(first), int(last) + 1))
    return fold(Node(_SERIES[node.leaf], terms)) if terms else number(0 if node.leaf == "sum" else 1)


def _geometric(variable: Node, first: Fraction | int, body: Node) -> Fraction | None:
    """The sum of infinitely many terms, each the same share of the one before."""
    terms = [fold(substitute(body, {variable.leaf: number(first + step)})).value for step in range(4)]
    known = [Fraction(term) for term in terms if term is not None]
    if len(known) < 4 or not all(known):
        return None
    ratios = {after / before for before, after in pairwise(known)}
    ratio = ratios.pop()
    return known[0] / (1 - ratio) if not ratios and abs(ratio) < 1 else None


_SERIES = {"sum": Op.ADD, "product": Op.MULTIPLY}


def _too_large(value: Fraction | int) -> bool:
    return value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS


_FOLDS: dict[Op, Callable[[Node, tuple[Node, ...]], Node]] = {
    Op.ADD: _add,
    Op.NEGATE: _negate,
    Op.MULTIPLY: _multiply,
    Op.DIVIDE: _divide,
    Op.POWER: _power,
    Op.CALL: _call,
}
