"""Choose the comparison for two trees: relations, sets of numbers, collections, matrices, or single values.

The first form in the table that either side has decides; a form against another that it cannot be is not equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from plaudit.verify.math.comparison.lists import same_list, same_matrix
from plaudit.verify.math.comparison.regions import is_region, same_region
from plaudit.verify.math.comparison.relations import is_definition, same_relation, value_of
from plaudit.verify.math.comparison.scalars import same_scalar
from plaudit.verify.math.parsing.tree import Node, Op, operations, rewrite, symbols
from plaudit.verify.math.policy import MathPolicy, Names


class Method(StrEnum):
    """The method by which a truth and an answer were compared."""

    TEXT = "text"
    NUMBER = "number"
    ALGEBRA = "algebra"
    SET = "set"
    INTERVAL = "interval"
    MATRIX = "matrix"
    EQUATION = "equation"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Forms:
    """Compares trees under a policy."""

    policy: MathPolicy

    def same(self, truth: Node, answer: Node) -> bool | None:
        """Whether two trees mean the same; None if this is not decided."""
        return self.compare(truth, answer)[0]

    def compare(self, truth: Node, answer: Node) -> tuple[bool | None, Method]:
        """The same, with the way it was found out."""
        truth, answer = _without_remarks(truth), _without_remarks(answer)
        for applies, compare, method in _TABLE:
            if applies(truth) or applies(answer):
                return compare(self, truth, answer), method
        return self.scalars(truth, answer)

    def scalars(self, truth: Node, answer: Node) -> tuple[bool | None, Method]:
        verdict = same_scalar(truth, answer, self.policy)
        method = _METHODS.get(truth.op, Method.ALGEBRA) if truth.op is answer.op else Method.ALGEBRA
        return verdict, method

    def open_signs(self, truth: Node, answer: Node) -> bool | None:
        """Either sign: the same formula as it stands, or the same values written out."""
        return self.same(_expand_signs(truth), _expand_signs(answer))

    def relations(self, truth: Node, answer: Node) -> bool | None:
        return same_relation(truth, answer, self.same, named=self.policy.names is Names.STRICT)

    def regions(self, truth: Node, answer: Node) -> bool | None:
        """Sets of numbers; `D = (0, 1]` stands for its value, and what is no set is compared as relations."""
        truth, answer = (value_of(side) if is_definition(side) else side for side in (truth, answer))
        if self.policy.names is Names.STRICT and _are_of_two_unknowns(truth, answer):
            return False
        verdict = same_region(truth, answer)
        if verdict is None and Op.RELATION in (truth.op, answer.op):
            return self.relations(truth, answer)
        return verdict

    def collections(self, truth: Node, answer: Node) -> bool | None:
        return same_list(truth, answer, self.same, ordered=self.policy.ordered_lists)

    def matrices(self, truth: Node, answer: Node) -> bool | None:
        return same_matrix(truth, answer, self.same)


def _are_of_two_unknowns(truth: Node, answer: Node) -> bool:
    """Whether two conditions are about different unknowns, `x > 2` and `y > 2`; intervals and sets name none."""
    if truth.op not in _CONDITIONS or answer.op not in _CONDITIONS:
        return False
    one, other = symbols(truth), symbols(answer)
    return bool(one) and bool(other) and one.isdisjoint(other)


def _without_remarks(node: Node) -> Node:
    """A list without remarks about its unknowns, `k ∈ Z`."""
    if node.op is not Op.LIST:
        return node
    kept = tuple(item for item in node.args if not _is_remark(item)) or node.args
    return kept[0] if len(kept) == 1 else node._replace(args=kept)


def _is_remark(item: Node) -> bool:
    is_membership = item.op is Op.RELATION and item.leaf == "in"
    return is_membership and item.args[1].leaf.startswith("set ") and item.args[1].leaf != "set R"


def _has_open_sign(node: Node) -> bool:
    """Whether a tree contains a plus-minus sign."""
    return Op.PLUS_MINUS in operations(node)


def _expand_signs(node: Node) -> Node:
    """The tree with every item that has open signs written out as two; all signs of an item go together."""
    outer = node if node.op in (Op.LIST, Op.SET) else Node(Op.LIST, (node,), ",")
    return outer._replace(args=tuple(item for arg in outer.args for item in _two(arg)))


def _two(node: Node) -> list[Node]:
    return [_with_sign(node, upper=True), _with_sign(node, upper=False)] if _has_open_sign(node) else [node]


def _with_sign(node: Node, *, upper: bool) -> Node:
    def change(inner: Node) -> Node:
        if inner.op is not Op.PLUS_MINUS:
            return inner
        return inner.args[0] if (inner.leaf == "±") is upper else Node(Op.NEGATE, inner.args)

    return rewrite(node, change)


def _is_matrix(node: Node) -> bool:
    return node.op is not Op.LIST and node.op is not Op.RELATION and Op.MATRIX in operations(node)


_CONDITIONS = (Op.RELATION, Op.LIST)
_METHODS = {Op.NUMBER: Method.NUMBER, Op.WORD: Method.TEXT}
Applies = Callable[[Node], bool]
Compare = Callable[[Forms, Node, Node], bool | None]
_TABLE: tuple[tuple[Applies, Compare, Method], ...] = (
    (_has_open_sign, Forms.open_signs, Method.SET),
    (is_region, Forms.regions, Method.INTERVAL),
    (lambda node: node.op is Op.RELATION, Forms.relations, Method.EQUATION),
    (_is_matrix, Forms.matrices, Method.MATRIX),
    (lambda node: node.op in (Op.LIST, Op.SET, Op.TUPLE), Forms.collections, Method.SET),
)
