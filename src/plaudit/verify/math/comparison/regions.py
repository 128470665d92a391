r"""Sets of real numbers: intervals, inequalities, unions, `{x | x > 0}`, `x ≠ 5`; equal if they contain the same.

The ends of both sides are put in order; then the sets are compared at every end and between any two. Ends may hold
parameters (`kπ`): their order is taken at one point, their equality is exact.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key

from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import same_value, sign_of
from plaudit.verify.math.parsing.tokens import FLIPPED
from plaudit.verify.math.parsing.tree import Node, Op, Unreadable, name, nodes, number, substitute, symbols

_ORDER = {"<", ">", "<=", ">="}
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda position, end: position < end,
    ">": lambda position, end: position > end,
    "<=": lambda position, end: position <= end,
    ">=": lambda position, end: position >= end,
    "=": lambda position, end: position == end,
    "!=": lambda position, end: position != end,
}
MAX_ENDS = 60
_PARAMETER = Fraction(1234, 10_000)


def is_region(node: Node) -> bool:
    """Whether a tree can only be a set of numbers: an inequality, a union, half-open brackets, an end at infinity."""
    if node.op in (Op.UNION, Op.INTERSECTION, Op.DIFFERENCE, Op.BUILDER, Op.EMPTY):
        return True
    if node.op is Op.TUPLE and len(node.args) == 2:
        return node.leaf in ("[)", "(]") or any(_infinite(arg) for arg in node.args)
    if node.op is Op.RELATION:
        return bool(_ORDER & set(node.leaf.split())) or node.leaf in ("!=", "in")
    return node.op is Op.LIST and any(is_region(arg) for arg in node.args if arg.op is Op.RELATION)


def same_region(truth: Node, answer: Node) -> bool | None:
    """Whether two sets hold the same numbers; None if one is not understood."""
    try:
        one, other = _simplify(truth), _simplify(answer)
        if _unknowns(one) & _symbols_of_ends(other) or _unknowns(other) & _symbols_of_ends(one):
            return None
        line = _Line([*_ends(one), *_ends(other)])
        return _same_positions(one, other, line)
    except Unreadable:
        return None


def count_ends(node: Node) -> int:
    """At how many numbers membership in a set may change; 0 for what is no set of numbers."""
    try:
        ends = set(_ends(_simplify(node))) if is_region(node) or node.op is Op.TUPLE else ()
    except Unreadable:
        return 0
    return max(len(ends), len(node.args) if node.op is Op.LIST and ends else 0)


def _same_positions(one: Node, other: Node, line: "_Line") -> bool | None:
    """Whether both sets contain the same positions; None if that may hold only for the value of the parameters."""
    held = [_holds(one, position, line) for position in line.positions]
    if held != [_holds(other, position, line) for position in line.positions]:
        return False
    if not any(held) and Op.EMPTY not in (one.op, other.op):
        return None
    end_positions = [{line.position(end) for end in _ends(side)} for side in (one, other)]
    with_parameters = {line.position(end) for side in (one, other) for end in _ends(side) if symbols(end)}
    return True if with_parameters <= end_positions[0] & end_positions[1] else None


def _unknowns(node: Node) -> set[str]:
    return {inner.args[0].leaf for inner in nodes(node) if inner.op is Op.RELATION}


def _symbols_of_ends(node: Node) -> set[str]:
    return {symbol for end in _ends(node) for symbol in symbols(end)}


def _infinite(node: Node) -> bool:
    return node.op is Op.INFINITY or (node.op is Op.NEGATE and node.args[0].op is Op.INFINITY)


def _simplify(node: Node) -> Node:
    """The set with every inequality solved for its unknown: `name sign end`."""
    if node.op is Op.RELATION:
        return _solve(node)
    if node.op is Op.BUILDER:
        return _simplify(_with_domain(node.args[0], node.args[1]))
    if node.op is Op.LIST:
        return Node(Op.LIST, tuple(_simplify(arg) for arg in _share_left_sides(node.args)), node.leaf)
    if node.op in (Op.UNION, Op.INTERSECTION, Op.DIFFERENCE):
        return node._replace(args=tuple(_simplify(arg) for arg in node.args))
    if node.op is Op.TUPLE and len(node.args) == 2:
        return node
    if node.op in (Op.SET, Op.EMPTY) or (node.op is Op.NAME and node.leaf == "set R"):
        return node
    raise Unreadable("not a set of numbers")


def _with_domain(element: Node, rule: Node) -> Node:
    """`{x ∈ S | rule}` is the rule within S."""
    if element.op is Op.RELATION and element.leaf == "in":
        return Node(Op.INTERSECTION, (element.args[1], rule))
    return rule


def _share_left_sides(items: tuple[Node, ...]) -> list[Node]:
    """`x ≠ -1, 4` excludes both: a bare item after a relation shares its left side and sign."""
    completed: list[Node] = []
    for item in items:
        if (
            item.op is not Op.RELATION
            and completed
            and completed[-1].op is Op.RELATION
            and len(completed[-1].args) == 2
        ):
            item = completed[-1]._replace(args=(completed[-1].args[0], item))
        completed.append(item)
    return completed


def _solve(node: Node) -> Node:
    signs = node.leaf.split()
    if signs == ["in"]:
        return _simplify(node.args[1])
    if not set(signs) <= _HOLDS.keys():
        raise Unreadable("not an inequality")
    parts = [_solve_pair(left, sign, right) for left, sign, right in zip(node.args, signs, node.args[1:], strict=False)]
    if len({name for part in parts for name in _unknowns(part)}) > 1:
        raise Unreadable("several unknowns")
    return parts[0] if len(parts) == 1 else Node(Op.INTERSECTION, tuple(parts))


def _solve_pair(left: Node, sign: str, right: Node) -> Node:
    left, right = _unknown(left), _unknown(right)
    if left.op is Op.NAME and left.leaf not in symbols(right):
        return Node(Op.RELATION, (left, right), sign)
    if right.op is Op.NAME and right.leaf not in symbols(left):
        return Node(Op.RELATION, (right, left), FLIPPED[sign])
    unknowns = symbols(left) | symbols(right)
    if len(unknowns) != 1:
        raise Unreadable("several unknowns")
    return _solve_linear(Node(Op.ADD, (left, Node(Op.NEGATE, (right,)))), sign, unknowns.pop())


def _unknown(node: Node) -> Node:
    """A function of something, `f(x)`, is an unknown like any other."""
    return name(node.leaf) if node.op is Op.CALL and node.leaf.endswith("()") else node


def _solve_linear(difference: Node, sign: str, unknown: str) -> Node:
    """`a·x + b < 0` with constants a and b."""
    at = [fold(substitute(difference, {unknown: number(value)})) for value in range(3)]
    slope = Node(Op.ADD, (at[1], Node(Op.NEGATE, (at[0],))))
    later = Node(Op.ADD, (at[2], Node(Op.NEGATE, (at[1],))))
    direction = sign_of(slope)
    if not direction or not same_value(slope, later):
        raise Unreadable("not linear")
    end = Node(Op.NEGATE, (Node(Op.DIVIDE, (at[0], slope)),))
    return Node(Op.RELATION, (name(unknown), end), sign if direction > 0 else FLIPPED[sign])


def _ends(node: Node) -> list[Node]:
    """The numbers at which membership may change."""
    if node.op is Op.RELATION:
        return [] if _infinite(node.args[1]) else [node.args[1]]
    if node.op is Op.TUPLE or node.op is Op.SET:
        return [arg for arg in node.args if not _infinite(arg)]
    return [end for arg in node.args for end in _ends(arg)]


class _Line:
    """Ends in order; position 2i+1 is that of the equal ends i, and the even positions lie between."""

    def __init__(self, ends: list[Node]) -> None:
        if len(ends) > MAX_ENDS:
            raise Unreadable("too many ends")
        count, last = 0, None
        self._at: dict[Node, int] = {}
        for end in sorted(ends, key=cmp_to_key(_order)):
            if last is None or _order(last, end) or same_value(last, end) is not True:
                count, last = count + 1, end
            self._at[end] = 2 * count - 1
        self.positions = range(2 * count + 1)

    def position(self, node: Node) -> int:
        if node.op is Op.INFINITY:
            return len(self.positions)
        return -1 if _infinite(node) else self._at[node]


def _order(one: Node, other: Node) -> int:
    """-1, 0 or 1 as one end is below, at or above another, with all parameters at one value."""
    difference = Node(Op.ADD, (one, Node(Op.NEGATE, (other,))))
    sign = sign_of(difference, dict.fromkeys(symbols(difference), _PARAMETER))
    if sign is None:
        raise Unreadable("an end that is not real")
    return sign


def _holds(node: Node, position: int, line: _Line) -> bool:
    """Whether a simplified set contains a position."""
    if node.op is Op.RELATION:
        return _HOLDS[node.leaf](position, line.position(node.args[1]))
    if node.op is Op.TUPLE:
        low, high = (line.position(arg) for arg in node.args)
        above = position >= low if node.leaf[0] == "[" else position > low
        return above and (position <= high if node.leaf[1] == "]" else position < high)
    if node.op is Op.SET:
        return any(position == line.position(arg) for arg in node.args)
    if node.op is Op.LIST:
        return _holds_list(node, position, line)
    if node.op is Op.DIFFERENCE:
        return _holds(node.args[0], position, line) and not _holds(node.args[1], position, line)
    if node.op is Op.NAME:
        return True
    combine = all if node.op is Op.INTERSECTION else any
    return combine(_holds(arg, position, line) for arg in node.args)


def _holds_list(node: Node, position: int, line: _Line) -> bool:
    """Conditions in a list all hold, unless they contradict each other: then each is a case."""
    together = node.leaf != "or" and any(all(_holds(arg, other, line) for arg in node.args) for other in line.positions)
    return (all if together else any)(_holds(arg, position, line) for arg in node.args)
