r"""Text to tree: lists of relations between sets or values, `x < 1 \text{ or } x \ge 2`, `(1,2) \cup \{3\}`, `3:4`.

Text that is not mathematics raises Unreadable; it is then compared as text.
"""

from plaudit.verify.math.parsing.cursor import Cursor, Grammar
from plaudit.verify.math.parsing.expressions import factor, total
from plaudit.verify.math.parsing.notation import unify_notation
from plaudit.verify.math.parsing.tokens import RELATIONS, Kind, tokenize
from plaudit.verify.math.parsing.tree import MAX_ITEMS, MAX_LEVELS, Node, Op, OverBudget, Unreadable

_WITHIN = frozenset({",", ";", "and", "or"})
_OUTSIDE = _WITHIN | {"row"}  # within brackets rows belong to a matrix
_JOINING = (Kind.SIGN, Kind.COMMAND)  # what may stand between two sides
_SET_SIGNS = {"∪": Op.UNION, "∩": Op.INTERSECTION, "\\": Op.DIFFERENCE}
LONGEST_DESCRIBED = 20_000
_LEAVES = {Op.NUMBER, Op.NAME, Op.WORD}
_SIGNED = {Op.RELATION, Op.TUPLE, Op.UNIT}  # their leaf says which signs, brackets or unit


def parse(text: str) -> Node:
    """The tree of a unified text; raises Unreadable."""
    tokens = tokenize(text)
    cursor = Cursor(tokens, _GRAMMAR)
    node = _parse_items(cursor)
    if cursor.token.kind is not Kind.END:
        raise cursor.refuse()
    if len(tokens) > MAX_LEVELS:
        _check_levels(node)
    return node


def _check_levels(node: Node) -> None:
    level = [node]
    for _ in range(MAX_LEVELS):
        level = [inner for outer in level for inner in outer.args]
    if level:
        raise OverBudget(f"a formula of more than {MAX_LEVELS} levels")


def describe_parse(text: str) -> str:
    r"""The tree of a ground truth or an answer.

    >>> describe_parse(r"\frac{1}{2} + x")
    'add(divide(1, 2), x)'
    """
    if len(text) > LONGEST_DESCRIBED:
        return f"text of {len(text):,} characters"
    try:
        return _describe_node(parse(unify_notation(text)))
    except (Unreadable, RecursionError) as reason:
        return f"text, since it does not read as mathematics: {reason}"


def _parse_items(cursor: Cursor) -> Node:
    """Relations with commas, "and" or "or" between them."""
    signs = _WITHIN if cursor.depth else _OUTSIDE
    items = []
    if not _at_separator(cursor, signs):
        items.append(_parse_relation(cursor))
        if not _at_separator(cursor, signs):
            return items[0]
    parting = set()
    while True:
        while _at_separator(cursor, signs):
            parting.add(cursor.take().text)
        if cursor.token.kind in (Kind.END, Kind.CLOSE) and items:
            break
        items.append(_parse_relation(cursor))
        if len(items) > MAX_ITEMS:
            raise OverBudget(f"a list of more than {MAX_ITEMS} items")
        if not _at_separator(cursor, signs):
            break
    if len(items) == 1:
        return items[0]
    return Node(Op.LIST, tuple(items), "or" if parting <= {"or", ","} and "or" in parting else ",")


def _at_separator(cursor: Cursor, signs: frozenset[str]) -> bool:
    return cursor.token.kind is Kind.SIGN and cursor.token.text in signs


def _parse_relation(cursor: Cursor) -> Node:
    """Sides with relation signs between them; a label ("Minimum: 1") or a leading equals sign says nothing."""
    token = cursor.token
    if token.kind is Kind.WORD and cursor.following.kind is Kind.SIGN and cursor.following.text == ":":
        cursor.take()
        cursor.take()
    cursor.accept("=", "~", "=>")
    first = _parse_sets(cursor)
    if cursor.token.kind not in _JOINING:
        return first
    sides, signs = [first], list[str]()
    while cursor.token.kind is Kind.SIGN and cursor.token.text in RELATIONS:
        sign = cursor.take().text
        if sign == "=>" and signs:  # what follows from a relation is what is meant
            sides, signs = [_parse_sets(cursor)], []
            continue
        signs.append(sign)
        cursor.accept("=")
        sides.append(_parse_sets(cursor))
    if cursor.token.kind is Kind.COMMAND and cursor.token.text == "pmod":
        cursor.take()
        signs.append("mod")
        sides.append(cursor.grammar.factor(cursor))
    return sides[0] if not signs else Node(Op.RELATION, tuple(sides), " ".join(signs))


def _parse_sets(cursor: Cursor) -> Node:
    """Sets with union, intersection or difference signs between them."""
    left = _parse_ratio(cursor)
    while cursor.token.kind is Kind.SIGN and cursor.token.text in _SET_SIGNS:
        op = _SET_SIGNS[cursor.take().text]
        right = _parse_ratio(cursor)
        left = Node(op, (*left.args, right) if left.op is op is Op.UNION else (left, right))
    return left


def _parse_ratio(cursor: Cursor) -> Node:
    first = total(cursor)
    if not cursor.at(":"):
        return first
    parts = [first]
    while cursor.accept(":"):
        parts.append(total(cursor))
    return Node(Op.RATIO, tuple(parts))


_GRAMMAR = Grammar(_parse_items, total, factor)


def _describe_node(node: Node) -> str:
    if node.op in _LEAVES:
        return node.leaf or str(node.value)
    if not node.args:
        return node.leaf or str(node.op)
    name = f"{node.op} {node.leaf}" if node.op in _SIGNED and node.leaf else node.op
    return f"{node.leaf if node.op is Op.CALL else name}({', '.join(map(_describe_node, node.args))})"
