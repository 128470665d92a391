"""Work out what is rational: "2+2" becomes 4 and 1/2^99 a fraction, exactly and within bounds.

What is not rational, or too large to write out, stays as it is for `values` to compare.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from plaudit.verify.math.parsing.tree import MAX_BITS, MAX_TERMS, Node, Op, is_number, nodes, number, spend, substitute

MAX_FACTORIAL = 2_500
MAX_ROOT = 64
MAX_RADICAND = 4_000  # bits
LONG = 1_000  # bits of a number whose arithmetic is paid for


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


def _result(node: Node, args: tuple[Node, ...], value: Fraction | int | None) -> Node:
    """The number that an operation gives, or the operation if there is none or it is too large."""
    return _with_args(node, args) if value is None or _is_too_large(value) else number(value)


def _is_too_large(value: Fraction | int) -> bool:
    """Whether a number is beyond the budget; long ones are paid for."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > LONG:
        spend(bits // 50)
    return bits > MAX_BITS


def _collect(operate: Callable[..., Fraction | int], neutral: int) -> Callable[[Node, tuple[Node, ...]], Node]:
    """Fold a sum or product: the numbers in it become one, at the end of a sum and in front of a product."""

    def apply(node: Node, args: tuple[Node, ...]) -> Node:
        flat = [term for arg in args for term in (arg.args if arg.op is node.op else (arg,))]
        rest = [term for term in flat if not is_number(term)]
        value: Fraction | int = neutral
        for term in flat:
            if term.value is not None:
                value = operate(value, term.value)
                if _is_too_large(value):
                    return _with_args(node, args)
        if not rest:
            return number(value)
        if value == neutral and len(rest) == 1:
            return rest[0]
        return Node(node.op, (*rest, number(value)) if node.op is Op.ADD else (number(value), *rest))

    return apply


def _negate(_: Node, args: tuple[Node, ...]) -> Node:
    value = args[0].value
    return number(-value) if value is not None else Node(Op.NEGATE, args)


def _divide(node: Node, args: tuple[Node, ...]) -> Node:
    above, below = args[0].value, args[1].value
    if above is None or not below:
        return _with_args(node, args)
    both_whole = type(above) is int and type(below) is int
    return _result(node, args, Fraction(above, below) if both_whole else above / Fraction(below))


def _power(node: Node, args: tuple[Node, ...]) -> Node:
    base, exponent = args[0].value, args[1].value
    if base is None or exponent is None:
        return _with_args(node, args) if exponent != 1 else args[0]
    value = _integer_power(base, exponent.numerator)
    if value is not None and exponent.denominator != 1:
        value = _exact_root(value, exponent.denominator)
    return _result(node, args, value)


def _integer_power(base: Fraction | int, exponent: int) -> Fraction | int | None:
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size * abs(exponent) > MAX_BITS and abs(base) not in (0, 1):
        return None
    if exponent < 0:
        return Fraction(base) ** exponent if base else None
    return base**exponent


def _exact_root(value: Fraction | int, degree: int) -> Fraction | int | None:
    """The real root where it is rational; an even root of a negative number is not."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if degree > MAX_ROOT or bits > MAX_RADICAND or (value < 0 and degree % 2 == 0):
        return None
    if bits > LONG:
        spend(bits)
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
    return _result(node, args, function(*values) if function and len(values) == len(args) else None)


def _factorial(count: Fraction | int) -> int | None:
    return math.factorial(int(count)) if count.denominator == 1 and 0 <= count <= MAX_FACTORIAL else None


def _binomial(above: Fraction | int, below: Fraction | int) -> int | None:
    if any(value.denominator != 1 or not 0 <= value <= 10**9 for value in (above, below)):
        return None
    if min(below, above - below) * above.numerator.bit_length() > MAX_BITS:
        return None
    return math.comb(int(above), int(below))


def _of_integers(function: Callable[..., int]) -> Callable[..., int | None]:
    return lambda *values: function(*values) if all(type(value) is int for value in values) else None


# The parser checks the number of arguments.
_FUNCTIONS: dict[str, Callable[..., Fraction | int | None]] = {
    "factorial": _factorial,
    "binomial": _binomial,
    "mod": lambda value, modulus: Fraction(value) % modulus if modulus else None,
    "floor": math.floor,
    "ceil": math.ceil,
    "abs": abs,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "gcd": _of_integers(math.gcd),
    "lcm": _of_integers(math.lcm),
}


def _series(node: Node) -> Node:
    """A sum or product over few enough whole numbers, written out; infinite ones have no value here."""
    variable, low, high, body = node.args[0], fold(node.args[1]), fold(node.args[2]), node.args[3]
    first, last = low.value, high.value
    whole = first is not None and last is not None and first.denominator == last.denominator == 1
    if first is None or last is None or not whole or last - first > MAX_TERMS or node.leaf not in _SERIES:
        return Node(Op.SERIES, (variable, low, high, fold(body)), node.leaf)
    spend(max(0, int(last - first) + 1) * len(nodes(body)))
    terms = tuple(substitute(body, {variable.leaf: number(value)}) for value in range(int(first), int(last) + 1))
    return fold(Node(_SERIES[node.leaf], terms)) if terms else number(0 if node.leaf == "sum" else 1)


_SERIES = {"sum": Op.ADD, "product": Op.MULTIPLY}


_FOLDS: dict[Op, Callable[[Node, tuple[Node, ...]], Node]] = {
    Op.ADD: _collect(operator.add, 0),
    Op.NEGATE: _negate,
    Op.MULTIPLY: _collect(operator.mul, 1),
    Op.DIVIDE: _divide,
    Op.POWER: _power,
    Op.CALL: _call,
}
