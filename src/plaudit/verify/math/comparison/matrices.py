"""Matrices: sums, products and multiples are evaluated, then compared cell by cell."""

from collections.abc import Callable
from itertools import chain

from plaudit.verify.math.comparison.lists import Same, all_of
from plaudit.verify.math.parsing.tree import Node, Op, nodes, operations, rewrite

__all__ = ["expand_determinants", "has_matrix", "same_matrix"]

Rows = list[list[Node]]
MAX_CELLS = 2_000
MAX_DETERMINANT = 5  # rows of a matrix whose determinant is written out


def has_matrix(node: Node) -> bool:
    """Whether a matrix stands anywhere in a tree."""
    return Op.MATRIX in operations(node)


def same_matrix(truth: Node, answer: Node, same: Same) -> bool | None:
    """Compare two matrices; a single row or column is also a tuple."""
    one, other = _rows(truth), _rows(answer)
    if one is None or other is None:
        return None
    sizes, others = [len(row) for row in one], [len(row) for row in other]
    if sizes != others and (Op.TUPLE not in (truth.op, answer.op) or sum(sizes) != sum(others)):
        return False
    pairs = zip(chain.from_iterable(one), chain.from_iterable(other), strict=True)
    return all_of(same(left, right) for left, right in pairs)


def _rows(node: Node) -> Rows | None:
    """The cells of an expression that is a matrix, or None."""
    if node.op is Op.MATRIX:
        return [list(row.args) for row in node.args]
    if node.op is Op.TUPLE:
        widths = {len(arg.args) if arg.op is Op.TUPLE else 0 for arg in node.args}
        if len(node.args) > 1 and len(widths) == 1 and 0 not in widths:
            return [list(row.args) for row in node.args]
        return [[arg] for arg in node.args]
    rule = _RULES.get(node.op)
    return rule(node) if rule and len(nodes(node)) <= MAX_CELLS else None


def expand_determinants(node: Node) -> Node:
    """The tree with every determinant of a small matrix written out."""
    return rewrite(node, _expand_determinant) if "det" in {inner.leaf for inner in nodes(node)} else node


def _expand_determinant(node: Node) -> Node:
    if node.op is not Op.CALL or node.leaf != "det" or len(node.args) != 1:
        return node
    rows = _rows(node.args[0])
    if rows is None or any(len(row) != len(rows) for row in rows) or len(rows) > MAX_DETERMINANT:
        return node
    return _determinant(rows)


def _determinant(rows: Rows) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for column, cell in enumerate(rows[0]):
        minor = _determinant([[*row[:column], *row[column + 1 :]] for row in rows[1:]])
        term = Node(Op.MULTIPLY, (cell, minor))
        terms.append(Node(Op.NEGATE, (term,)) if column % 2 else term)
    return Node(Op.ADD, tuple(terms))


def _add(node: Node) -> Rows | None:
    parts = [_rows(arg) for arg in node.args]
    first = parts[0]
    if first is None or any(part is None or _shape(part) != _shape(first) for part in parts):
        return None
    known = [part for part in parts if part is not None]
    return [
        [Node(Op.ADD, tuple(part[i][j] for part in known)) for j in range(len(first[0]))] for i in range(len(first))
    ]


def _negate(node: Node) -> Rows | None:
    rows = _rows(node.args[0])
    return None if rows is None else [[Node(Op.NEGATE, (cell,)) for cell in row] for row in rows]


def _multiply(node: Node) -> Rows | None:
    scale: list[Node] = []
    product: Rows | None = None
    for arg in node.args:
        if not has_matrix(arg):
            scale.append(arg)
            continue
        rows = _rows(arg)
        if rows is None:
            return None
        product = rows if product is None else _multiply_rows(product, rows)
        if product is None:
            return None
    if product is None or not scale:
        return product
    return [[Node(Op.MULTIPLY, (*scale, cell)) for cell in row] for row in product]


def _divide(node: Node) -> Rows | None:
    rows = None if has_matrix(node.args[1]) else _rows(node.args[0])
    return None if rows is None else [[Node(Op.DIVIDE, (cell, node.args[1])) for cell in row] for row in rows]


def _multiply_rows(left: Rows, right: Rows) -> Rows | None:
    if len(left[0]) != len(right) or len(left) * len(right) * len(right[0]) > MAX_CELLS:
        return None
    columns = list(zip(*right, strict=True))
    return [
        [
            Node(Op.ADD, tuple(Node(Op.MULTIPLY, (one, other)) for one, other in zip(row, column, strict=True)))
            for column in columns
        ]
        for row in left
    ]


def _shape(rows: Rows) -> tuple[int, int]:
    return len(rows), len(rows[0])


_RULES: dict[Op, Callable[[Node], Rows | None]] = {
    Op.ADD: _add,
    Op.NEGATE: _negate,
    Op.MULTIPLY: _multiply,
    Op.DIVIDE: _divide,
}
