"""How a text was understood, as a line for people: the tree that was read, or why it counts as plain text."""

from plaudit.verify.math.parsing.budget import Unreadable
from plaudit.verify.math.parsing.notation import unified
from plaudit.verify.math.parsing.parser import read
from plaudit.verify.math.parsing.tree import Node, Op

__all__ = ["reading"]

LONGEST = 20_000
_LEAVES = {Op.NUMBER, Op.NAME, Op.WORD}
_SIGNED = {Op.RELATION, Op.TUPLE, Op.UNIT}  # their leaf says which signs, brackets or unit


def reading(text: str) -> str:
    r"""What a ground truth or an answer was read as.

    >>> reading(r"\frac{1}{2} + x")
    'add(divide(1, 2), x)'
    """
    if len(text) > LONGEST:
        return f"text of {len(text):,} characters"
    try:
        return _shown(read(unified(text)))
    except (Unreadable, RecursionError) as reason:
        return f"text, since it does not read as mathematics: {reason}"


def _shown(node: Node) -> str:
    if node.op in _LEAVES:
        return node.leaf or str(node.value)
    if not node.args:
        return node.leaf or str(node.op)
    name = f"{node.op} {node.leaf}" if node.op in _SIGNED and node.leaf else node.op
    return f"{node.leaf if node.op is Op.CALL else name}({', '.join(map(_shown, node.args))})"
