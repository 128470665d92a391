"""The expression tree of an answer: numbers, symbols, operations, and the forms around them (lists, relations, sets).

A tree keeps the notation: "2+2" is a sum and "0.50" keeps its zero. Values come from `folding` and `values`.

The bounds say how much work one decision may cost: beyond them an input is undecided, never slow. Work is counted in
nodes that are read, substituted or evaluated, so that a verdict is the same on every machine. The two exceptions do not
leave the package: `decide` turns them into a decision with a reason.
"""

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, cast

MAX_LENGTH = 20_000  # characters of one answer
MAX_NODES = 6_000  # of one tree
MAX_DEPTH = 40  # brackets within brackets
MAX_LEVELS = 150  # of one tree, so that no walk over it runs out of stack
MAX_BITS = 24_000  # of a number that is worked out
MAX_TERMS = 300  # of a sum or product that is written out
MAX_ITEMS = 2_000  # of a list
MAX_WORK = 200_000  # nodes that one decision evaluates


class Unreadable(ValueError):
    """Text that does not read as mathematics."""


class OverBudget(Unreadable):
    """Text that would take too long to read or to work out."""


class _Work(threading.local):
    left = MAX_WORK


_work = _Work()


def start_work() -> None:
    """Give the next decision its budget."""
    _work.left = MAX_WORK


def spend(nodes: int) -> None:
    """Pay for work before it is done; raises OverBudget where too little is left."""
    _work.left -= nodes
    if _work.left < 0:
        raise OverBudget(f"more than {MAX_WORK:,} steps")


class Op(str):
    """The operation of a node; no Enum, whose members take four times as long to look up."""

    __slots__ = ()

    NUMBER = NAME = WORD = INFINITY = EMPTY = DOTS = ADD = NEGATE = MULTIPLY = DIVIDE = POWER = cast("Op", "")
    CALL = INDEX = SERIES = PLUS_MINUS = PERCENT = DEGREE = UNIT = BASED = RATIO = LIST = TUPLE = SET = cast("Op", "")
    BUILDER = UNION = INTERSECTION = DIFFERENCE = RELATION = MATRIX = ROW = cast("Op", "")


for _op in [name for name in vars(Op) if name.isupper()]:
    setattr(Op, _op, Op(_op.lower().replace("_", "-")))


class Node(NamedTuple):
    """One node; a named tuple because thousands are built per second and compared by what they hold.

    `leaf` is a name, a word, brackets ("[)"), relation signs or the digits as written; `value` is that of a number.
    """

    op: Op
    args: tuple["Node", ...] = ()
    leaf: str = ""
    value: Fraction | int | None = None


_new = tuple.__new__  # without the detour that a named tuple takes over its defaults


def number(value: Fraction | int, written: str = "") -> Node:
    """A number, with the digits it was written in; a whole one is kept as an int, which calculates faster."""
    if type(value) is not int and value.denominator == 1:
        value = value.numerator
    return _new(Node, (Op.NUMBER, (), written, value))


def name(text: str) -> Node:
    """A symbol."""
    return _new(Node, (Op.NAME, (), text, None))


def call(function: str, *args: Node) -> Node:
    """A function of arguments."""
    return Node(Op.CALL, args, function)


def is_number(node: Node) -> bool:
    """Whether the node is a literal number."""
    return node.op is Op.NUMBER


def nodes(node: Node) -> list[Node]:
    """The node and everything below it."""
    waiting = [node]
    for node in waiting:
        waiting += node.args
    return waiting


def operations(*trees: Node) -> set[Op]:
    """All operations in the trees, for quick tests."""
    return {inner.op for tree in trees for inner in nodes(tree)}


def symbols(node: Node) -> set[str]:
    """The names of unknowns and functions in a tree, without e, i, π and bound variables."""
    everything = nodes(node)
    names = {inner.leaf for inner in everything if inner.op is Op.NAME or inner.leaf.endswith("()")} - CONSTANTS
    bound = {inner.args[0].leaf for inner in everything if inner.op is Op.SERIES}
    return names - bound if bound else names


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with `change` applied to every node, from the leaves up."""
    if node.args:
        node = _new(Node, (node.op, tuple([rewrite(arg, change) for arg in node.args]), node.leaf, node.value))
    return change(node)


def substitute(node: Node, values: dict[str, Node]) -> Node:
    """The tree with names replaced."""
    return rewrite(node, lambda inner: values.get(inner.leaf, inner) if inner.op is Op.NAME else inner)


CONSTANTS = {"e", "i", "π"}
