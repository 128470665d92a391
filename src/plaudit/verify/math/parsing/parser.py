r"""Text to tree: lists of relations between sets or values, `x < 1 \text{ or } x \ge 2`, `(1,2) \cup \{3\}`, `3:4`.

What does not read as mathematics raises Unreadable; it is then compared as text.
"""

import re

from plaudit.verify.math.parsing.budget import MAX_ITEMS, OverBudget
from plaudit.verify.math.parsing.cursor import Cursor, Grammar
from plaudit.verify.math.parsing.expressions import factor, total
from plaudit.verify.math.parsing.tokens import Kind, Token, tokenized
from plaudit.verify.math.parsing.tree import Node, Op
from plaudit.verify.math.parsing.vocabulary import RELATIONS

__all__ = ["read"]

_WITHIN = frozenset({",", ";", "and", "or"})
_OUTSIDE = _WITHIN | {"row"}  # within brackets rows belong to a matrix
_DOUBLE = re.compile(r"[({\[]\s?[({\[]")
_JOINING = (Kind.SIGN, Kind.COMMAND)  # what may stand between two sides
_SET_SIGNS = {"∪": Op.UNION, "∩": Op.INTERSECTION, "\\": Op.DIFFERENCE}


def read(text: str, *, thousands: bool = True) -> Node:
    """The tree of a unified text; raises Unreadable."""
    tokens = tokenized(text, thousands=thousands)
    cursor = Cursor(_without_double_brackets(tokens) if _DOUBLE.search(text) else tokens, _GRAMMAR)
    node = _items(cursor)
    if cursor.token.kind is not Kind.END:
        raise cursor.refuse()
    return node


def _items(cursor: Cursor) -> Node:
    """Relations with commas, "and" or "or" between them."""
    signs = _WITHIN if cursor.depth else _OUTSIDE
    found = []
    if not _parts(cursor, signs):
        found.append(_relation(cursor))
        if not _parts(cursor, signs):
            return found[0]
    parting = set()
    while True:
        while _parts(cursor, signs):
            parting.add(cursor.take().text)
        if cursor.token.kind in (Kind.END, Kind.CLOSE) and found:
            break
        found.append(_relation(cursor))
        if len(found) > MAX_ITEMS:
            raise OverBudget(f"a list of more than {MAX_ITEMS} items")
        if not _parts(cursor, signs):
            break
    if len(found) == 1:
        return found[0]
    return Node(Op.LIST, tuple(found), "or" if parting <= {"or", ","} and "or" in parting else ",")


def _parts(cursor: Cursor, signs: frozenset[str]) -> bool:
    return cursor.token.kind is Kind.SIGN and cursor.token.text in signs


def _relation(cursor: Cursor) -> Node:
    """Sides with relation signs between them; a label ("Minimum: 1") or a leading equals sign says nothing."""
    token = cursor.token
    if token.kind is Kind.WORD and cursor.following.kind is Kind.SIGN and cursor.following.text == ":":
        cursor.take()
        cursor.take()
    cursor.accept("=", "~", "=>")
    first = _combined(cursor)
    if cursor.token.kind not in _JOINING:
        return first
    sides, signs = [first], []
    while cursor.token.kind is Kind.SIGN and cursor.token.text in RELATIONS:
        signs.append(cursor.take().text)
        cursor.accept("=")
        sides.append(_combined(cursor))
    if cursor.token.kind is Kind.COMMAND and cursor.token.text == "pmod":
        cursor.take()
        signs.append("mod")
        sides.append(cursor.grammar.factor(cursor))
    return sides[0] if not signs else Node(Op.RELATION, tuple(sides), " ".join(signs))


def _combined(cursor: Cursor) -> Node:
    """Sets with union, intersection or difference signs between them."""
    left = _ratio(cursor)
    while cursor.token.kind is Kind.SIGN and cursor.token.text in _SET_SIGNS:
        op = _SET_SIGNS[cursor.take().text]
        right = _ratio(cursor)
        left = Node(op, (*left.args, right) if left.op is op is Op.UNION else (left, right))
    return left


def _ratio(cursor: Cursor) -> Node:
    first = total(cursor)
    if not cursor.at(":"):
        return first
    parts = [first]
    while cursor.accept(":"):
        parts.append(total(cursor))
    return Node(Op.RATIO, tuple(parts))


_GRAMMAR = Grammar(_items, total, factor)


def _without_double_brackets(tokens: list[Token]) -> list[Token]:
    """`((1))` as `(1)`: however many pairs stand around the same thing, one is kept."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            opened.append(place)
        elif token.kind is Kind.CLOSE and opened:
            partners[opened.pop()] = place
    dropped = set()
    for opening, closing in partners.items():
        inner = partners.get(opening + 1)
        pair = tokens[opening].text + tokens[closing].text
        if (
            inner == closing - 1
            and pair in ("()", "[]", "{}")
            and tokens[opening + 1].text + tokens[inner].text in ("()", "[]", "{}")
        ):
            dropped |= {opening, closing} if pair != "[]" or tokens[opening + 1].text == "[" else {opening + 1, inner}
    return [token for place, token in enumerate(tokens) if place not in dropped] if dropped else tokens
