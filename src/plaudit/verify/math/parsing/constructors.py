"""What computer algebra and programs print: `Interval.open(0, 1)`, `Rational(1, 3)`, `Sum(k, (k, 1, n))`, `Ne(x, 2)`.

Each name says how a tree is made of the arguments that stand in its brackets.
"""

from collections.abc import Callable

from plaudit.verify.math.parsing.budget import Unreadable
from plaudit.verify.math.parsing.tree import Node, Op, call, name

__all__ = ["CONSTRUCTORS"]

Arguments = tuple[Node, ...]
_GROUPS = (Op.TUPLE, Op.SET, Op.LIST)


def _make(op: Op, count: int | None = None, leaf: str = "") -> Callable[[Arguments], Node]:
    """A node of the arguments as they stand, of which there must be so many."""

    def construct(arguments: Arguments) -> Node:
        if count is not None and len(arguments) != count:
            raise Unreadable(f"{op} needs {count} arguments, got {len(arguments)}")
        return Node(op, arguments, leaf)

    return construct


def _make_only(arguments: Arguments) -> Node:
    """`Integer(3)` and `float64(3.0)` are what they hold."""
    if len(arguments) != 1:
        raise Unreadable("a number of several parts")
    return arguments[0]


def _make_fraction(arguments: Arguments) -> Node:
    return arguments[0] if len(arguments) == 1 else _make(Op.DIVIDE, 2)(arguments)


def _make_series(kind: str) -> Callable[[Arguments], Node]:
    """`Sum(k**2, (k, 1, n))`."""

    def construct(arguments: Arguments) -> Node:
        if len(arguments) != 2 or arguments[1].op not in _GROUPS or len(arguments[1].args) != 3:
            raise Unreadable(f"a {kind} needs a body and (variable, low, high)")
        return Node(Op.SERIES, (*arguments[1].args, arguments[0]), kind)

    return construct


def _make_integral(arguments: Arguments) -> Node:
    body, over = arguments[0], arguments[-1]
    variable, *bounds = over.args if over.op in _GROUPS else (over,)
    return call("integral", *bounds, Node(Op.ADD, (body,)), variable)


def _make_derivative(arguments: Arguments) -> Node:
    """`Derivative(f(x), x)` and `Derivative(f(x), (x, 2))`."""
    if len(arguments) != 2:
        raise Unreadable("a derivative needs a body and a variable")
    over = arguments[1].args if arguments[1].op in _GROUPS else (arguments[1],)
    return call("derivative", arguments[0], *over)


def _make_limit(arguments: Arguments) -> Node:
    if len(arguments) < 3:
        raise Unreadable("a limit needs a body, a variable and an end")
    return call("lim", Node(Op.RELATION, arguments[1:3], "->"), arguments[0])


def _make_conjugate(arguments: Arguments) -> Node:
    only = _make_only(arguments)
    return name(f"overline {only.leaf}") if only.op is Op.NAME else call("overline", only)


CONSTRUCTORS: dict[str, Callable[[Arguments], Node]] = {
    "Matrix": _make(Op.TUPLE, leaf="[]"),
    "Sum": _make_series("sum"),
    "Product": _make_series("product"),
    "Integral": _make_integral,
    "Integrate": _make_integral,
    "Derivative": _make_derivative,
    "diff": _make_derivative,
    "Limit": _make_limit,
    "Rational": _make_fraction,
    "Fraction": _make_fraction,
    "Pow": _make(Op.POWER, 2),
    "Add": _make(Op.ADD),
    "Mul": _make(Op.MULTIPLY),
    "FiniteSet": _make(Op.SET),
    "Interval": _make(Op.TUPLE, 2, "[]"),
    "IntervalOpen": _make(Op.TUPLE, 2, "()"),
    "IntervalLopen": _make(Op.TUPLE, 2, "(]"),
    "IntervalRopen": _make(Op.TUPLE, 2, "[)"),
    "Union": _make(Op.UNION),
    "Intersection": _make(Op.INTERSECTION),
    "Complement": _make(Op.DIFFERENCE, 2),
    "And": _make(Op.LIST, leaf=","),
    "Or": _make(Op.LIST, leaf="or"),
    "conjugate": _make_conjugate,
    "Conjugate": _make_conjugate,
}
CONSTRUCTORS |= dict.fromkeys(("Integer", "Float", "Decimal", "float", "int"), _make_only)
CONSTRUCTORS |= dict.fromkeys(("Point", "Tuple"), _make(Op.TUPLE, leaf="()"))
CONSTRUCTORS |= {
    written: _make(Op.RELATION, 2, sign)
    for written, sign in {"Eq": "=", "Ne": "!=", "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">="}.items()
}
