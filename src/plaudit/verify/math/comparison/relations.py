"""Equations and other relations: `x = 5` names its value, `2x+4y = 6` is `x+2y = 3`, and `a < b` is `b > a`."""

from plaudit.verify.math.comparison.lists import Same, all_of
from plaudit.verify.math.exact.evaluation import PRIME, Residues, Undefined, evaluate
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import same_value
from plaudit.verify.math.parsing.tokens import FLIPPED
from plaudit.verify.math.parsing.tree import Node, Op, name, number, operations, substitute, symbols


def is_definition(node: Node) -> bool:
    """Whether a relation gives something a value: `x = 5`, `f(x) = x²`, `|AB| = 1`, `S:T = 7:32`; not `x² = 4`."""
    return node.op is Op.RELATION and set(node.leaf.split()) <= {"=", "~"} and _is_named(node.args[0])


def value_of(node: Node) -> Node:
    """The value of a chain: its end, or its last exact side if approximations follow."""
    signs = node.leaf.split()
    sides = node.args[1:]
    exact = [side for side, sign in zip(sides, signs, strict=True) if sign == "="]
    return exact[-1] if exact else sides[-1]


def same_relation(truth: Node, answer: Node, same: Same, *, named: bool) -> bool | None:
    """Compare where at least one side is a relation that is no inequality in one unknown.

    `named` tells the unknowns of two definitions apart: `x = 2` is then not `y = 2`.
    """
    if truth.op is answer.op:
        return _two_relations(truth, answer, same, named=named)
    relation, other = (truth, answer) if truth.op is Op.RELATION else (answer, truth)
    signs = set(relation.leaf.split())
    if signs <= {"=", "~"}:
        if relation is answer and _comes_to(relation, other, same):
            return True
        return _against_value(relation, other, same)
    return False


def _comes_to(chain: Node, value: Node, same: Same) -> bool:
    """Whether a chain ends in a value: `p(q(2)) = p(3) = -7`, `x + y = 22`.

    One equation in one unknown is not a value, and neither is a chain that equates two different constants.
    """
    first = chain.args[0]
    unknowns = [symbol for symbol in symbols(first) if not symbol.endswith("()")]
    is_equation = len(chain.args) == 2 and symbols(first) == set(unknowns) and len(unknowns) == 1
    is_equation = is_equation and first.op in _ALGEBRAIC
    if not symbols(first) or is_definition(chain):
        return False
    if symbols(value) & symbols(first) and first.leaf != "integral":
        return all(same(value, side) is True for side in chain.args)
    return not is_equation and same(value, value_of(chain)) is True and is_true(chain, same)


_ALGEBRAIC = (Op.ADD, Op.MULTIPLY, Op.POWER, Op.NEGATE, Op.DIVIDE)


def is_true(chain: Node, same: Same) -> bool:
    """Whether no two constants that a chain equates are different numbers: `5 = 4` and `x = 15 = y = 14` are false."""
    last = None
    for sign, side in zip(["=", *chain.leaf.split()], chain.args, strict=False):
        last = last if sign == "=" else None
        if _is_constant(side):
            if last and same(last, side) is False and same(side, last) is False:  # rounded numbers are not different
                return False
            last = side
    return True


def _is_constant(node: Node) -> bool:
    return not symbols(node) and Op.WORD not in operations(node)


def _is_named(node: Node) -> bool:
    if node.op in (Op.NAME, Op.INDEX, Op.WORD):
        return True
    if node.op is Op.CALL:
        return node.leaf.endswith("()") or (
            node.leaf in ("abs", "norm", "prime", "star", "det", "dim", "derivative") and bool(symbols(node))
        )
    if node.op is Op.MULTIPLY and len(node.args) == 2 and node.args[0].leaf in ("Delta", "delta", "∂"):
        return _is_named(node.args[1])
    if node.op in (Op.RATIO, Op.TUPLE) or (node.op is Op.MULTIPLY and _is_segment(node)):
        return all(_is_named(arg) for arg in node.args)
    return node.op is Op.DIVIDE and all(_is_named(arg) for arg in node.args) and node.args[0].op is not Op.NAME


def _is_segment(node: Node) -> bool:
    """`AB`: capitals side by side name a length, a word in italics, a product of points; `m∠A` is an angle."""
    if node.args[0].leaf == "m" and node.args[-1].leaf.startswith("angle "):
        return True
    return all(arg.op is Op.NAME and arg.leaf.isupper() for arg in node.args)


def _against_value(relation: Node, value: Node, same: Same) -> bool | None:
    if is_definition(relation):
        if not is_true(relation, same):
            return False
        return same(value_of(relation), value)
    return (
        not symbols(relation) and is_true(relation, same) and any(same(side, value) is True for side in relation.args)
    )


def _two_relations(truth: Node, answer: Node, same: Same, *, named: bool) -> bool | None:
    for statement, other in ((answer, truth), (truth, answer)):
        if not symbols(statement):
            return _with_statement(statement, other, same)
    if is_definition(truth) and is_definition(answer):
        if named and _name_different_unknowns(truth, answer):
            return False
        verdict = _two_definitions(truth, answer, same)
        if verdict is not False or truth.args[0] == answer.args[0] or truth.leaf != "=" or answer.leaf != "=":
            return verdict
    if truth.leaf == answer.leaf == "=":
        return same_equation(truth, answer)
    return _side_by_side(truth, answer, same) or None


def _with_statement(statement: Node, other: Node, same: Same) -> bool | None:
    """A relation of constants beside another: true, and the same sides or the same result."""
    if not is_true(statement, same):
        return False
    verdict = _side_by_side(statement, other, same)
    signs = set(statement.leaf.split()) | set(other.leaf.split())
    if verdict is True or not signs <= {"=", "~"} or statement.leaf == other.leaf != "=":
        return verdict
    return is_true(other, same) and same(value_of(statement), value_of(other))


def _two_definitions(truth: Node, answer: Node, same: Same) -> bool | None:
    """Two names may differ, f(z) = z is f(x) = x; names that stand in the other's value are told apart."""
    left, right = truth.args[0], answer.args[0]
    one, other = value_of(truth), value_of(answer)
    if left.op is right.op and left.op in (Op.CALL, Op.INDEX) and len(left.args) == len(right.args):
        other = substitute(other, _renamed_arguments(left, right))
    elif left.op is Op.TUPLE and right.op is Op.TUPLE and left != right:
        return None
    return same(one, other)


def _renamed_arguments(left: Node, right: Node) -> dict[str, Node]:
    """The arguments of the right as the left names them; a name that the left uses up becomes another's."""
    pairs = [(a, b) for a, b in zip(left.args, right.args, strict=True) if a.op is b.op is Op.NAME and a != b]
    return {a.leaf: name(f"other {a.leaf}") for a, _ in pairs} | {b.leaf: a for a, b in pairs}


def _name_different_unknowns(truth: Node, answer: Node) -> bool:
    """Whether two definitions give values to two unknowns: `x = 2` and `y = 2`, but not `y = x` and `x = y`.

    A capital names a quantity, and an area may be S or A.
    """
    left, right = truth.args[0], answer.args[0]
    if left.op is not Op.NAME or right.op is not Op.NAME or left == right:
        return False
    is_quantity = left.leaf[0].isupper() or right.leaf[0].isupper()
    return not is_quantity and left.leaf not in symbols(answer) and right.leaf not in symbols(truth)


def _side_by_side(truth: Node, answer: Node, same: Same) -> bool | None:
    """Chains of the same signs, or of the opposite ones read backwards."""
    signs, others = truth.leaf.split(), answer.leaf.split()
    if len(signs) != len(others):
        return False
    if signs == others:
        verdict = all_of(same(one, other) for one, other in zip(truth.args, answer.args, strict=True))
        if verdict is not False:
            return verdict
    if [FLIPPED.get(sign) for sign in reversed(others)] == signs:
        backwards = answer.args[::-1]
        return all_of(same(one, other) for one, other in zip(truth.args, backwards, strict=True))
    return False


def same_equation(truth: Node, answer: Node) -> bool | None:
    """Whether one equation is a constant multiple of the other."""
    one, other = (_difference(side) for side in (truth, answer))
    ratios = set()
    for attempt in range(3):
        domain = Residues(b"equation%d" % attempt)
        try:
            above, below = evaluate(one, domain), evaluate(other, domain)
            ratios.add(above * domain.invert(below) % PRIME)
        except Undefined:
            return same_value(one, number(0)) if same_value(other, number(0)) else False
    if len(ratios) == 1:
        return True
    return False if domain.is_proof else None


def _difference(node: Node) -> Node:
    left, right = node.args[0], node.args[-1]
    return fold(Node(Op.ADD, (left, Node(Op.NEGATE, (right,)))))
