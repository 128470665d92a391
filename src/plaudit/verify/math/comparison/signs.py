"""Open signs: `3 ± 2` stands for two values, `(1, ±2)` for two points, `x = ±y` for two equations."""

from plaudit.verify.math.parsing.tree import Node, Op, operations, rewritten

__all__ = ["expanded", "has_open_sign"]


def has_open_sign(node: Node) -> bool:
    """Whether a plus-minus sign stands anywhere in a tree."""
    return Op.PLUS_MINUS in operations(node)


def expanded(node: Node) -> Node:
    """The tree with every item that has open signs written out as two; all signs of an item go together."""
    if not has_open_sign(node):
        return node
    if node.op in (Op.LIST, Op.SET):
        items = [item for arg in node.args for item in _two(arg)]
        return node._replace(args=tuple(items))
    return Node(Op.LIST, tuple(_two(node)), ",")


def _two(node: Node) -> list[Node]:
    return [_with_sign(node, upper=True), _with_sign(node, upper=False)] if has_open_sign(node) else [node]


def _with_sign(node: Node, *, upper: bool) -> Node:
    def change(found: Node) -> Node:
        if found.op is not Op.PLUS_MINUS:
            return found
        return found.args[0] if (found.leaf == "±") is upper else Node(Op.NEGATE, found.args)

    return rewritten(node, change)
