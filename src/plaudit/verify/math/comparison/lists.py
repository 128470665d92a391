"""Collections: tuples and matrices item by item, lists and sets in any order, "x = 1, y = 2" by name."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.parsing.tree import Node, Op, nodes, number

Same = Callable[[Node, Node], bool | None]
MAX_PAIRS = 400  # comparisons of items that are not the same when worked out
_COLLECTIONS = (Op.LIST, Op.SET, Op.TUPLE)


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """False at the first that is False, else None if one is None, else True."""
    result: bool | None = True
    for verdict in verdicts:
        if verdict is False:
            return False
        if verdict is None:
            result = None
    return result


def same_list(truth: Node, answer: Node, same: Same, *, ordered: bool) -> bool | None:
    """Compare collections; one against a single value is not equal."""
    if truth.op not in _COLLECTIONS and answer.op is Op.LIST and answer.leaf == "or":
        return all_of(same(truth, item) for item in answer.args)  # "1/4 or 25 %" states one value twice
    if truth.op not in _COLLECTIONS or answer.op not in _COLLECTIONS:
        elements = _only_element(truth), _only_element(answer)
        return same(*elements) if elements != (truth, answer) else False
    if Op.TUPLE in (truth.op, answer.op):
        return _same_tuple(truth, answer, same)
    one, other = truth.args, answer.args
    if truth.leaf != answer.leaf and all(item.op is Op.NAME for item in (*one, *other)):
        return False  # "p and q" is not "p or q", where "1 and 2" may be "1 or 2"
    if ordered or any(inner.op is Op.DOTS for item in (*one, *other) for inner in nodes(item)):
        return _in_order(one, other, same)
    if truth.op is Op.LIST and answer.op is Op.LIST and (_distinct_names(one) > 1) != (_distinct_names(other) > 1):
        return _in_order(one, other, same)
    return same_items(one, other, same)


def _only_element(node: Node) -> Node:
    """The element of a set that has but one."""
    return node.args[0] if node.op is Op.SET and len(node.args) == 1 and node.args[0].op is not Op.SET else node


def same_items(truth: Sequence[Node], answer: Sequence[Node], same: Same) -> bool | None:
    """Whether two lists hold the same items in any order; an answer may repeat what the truth says once."""
    left, right = _without_matches(truth, answer)
    if len(left) * len(right) > MAX_PAIRS:
        return None
    missing = (_is_among(item, right, same) for item in left)
    extra = (_is_among(item, truth, lambda extra, item: same(item, extra)) for item in right)
    return all_of([*missing, *extra])


def _is_among(item: Node, others: Sequence[Node], same: Same) -> bool | None:
    """Whether one of the others equals an item; None if that is undecided."""
    verdicts = [same(item, other) for other in others]
    return True if True in verdicts else None if None in verdicts else False


def _without_matches(truth: Sequence[Node], answer: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Both lists without the items that are the same when they are worked out, which is quick for long lists."""
    ours, theirs = ([_worked_out(item) for item in items] for items in (truth, answer))
    common = Counter(ours) & Counter(theirs)
    return _without(truth, ours, common), _without(answer, theirs, common)


def _worked_out(item: Node) -> Node:
    item = fold(item)
    return item if item.value is None else number(item.value)


def _without(items: Sequence[Node], keys: Sequence[Node], common: Counter[Node]) -> list[Node]:
    rest, seen = list[Node](), Counter[Node]()
    for item, key in zip(items, keys, strict=True):
        seen[key] += 1
        if seen[key] > common[key]:
            rest.append(item)
    return rest


def _in_order(one: Sequence[Node], other: Sequence[Node], same: Same) -> bool | None:
    if len(one) != len(other):
        return False
    return all_of(same(left, right) for left, right in zip(one, other, strict=True))


def _same_tuple(truth: Node, answer: Node, same: Same) -> bool | None:
    """Points item by item; of two items the brackets count, as they may be an interval's."""
    if len(truth.args) == 2 and truth.leaf != answer.leaf and Op.LIST not in (truth.op, answer.op):
        return False
    return _in_order(_by_letter(truth), _by_letter(answer), same)


def _by_letter(node: Node) -> Sequence[Node]:
    """The items, those of a list that gives each a letter in the order of the alphabet: "y = 2, x = 1" is (1, 2)."""
    letters = _names(node.args) if node.op is Op.LIST else None
    if letters is None or len(set(letters)) != len(letters):
        return node.args
    return [item for _, item in sorted(zip(letters, node.args, strict=True), key=lambda pair: pair[0])]


def _names(items: Sequence[Node]) -> list[str] | None:
    """The names that items are given, where each is an equation with a name on its left."""
    if not all(item.op is Op.RELATION and item.leaf == "=" and item.args[0].op is Op.NAME for item in items):
        return None
    return [item.args[0].leaf for item in items]


def _distinct_names(items: Sequence[Node]) -> int:
    return len(set(_names(items) or ()))


def same_matrix(truth: Node, answer: Node, same: Same) -> bool | None:
    """Compare two matrices cell by cell; a single row or column is also a tuple."""
    one, other = _rows(truth), _rows(answer)
    if one is None or other is None:
        return None
    sizes, others = [len(row) for row in one], [len(row) for row in other]
    if sizes != others and (Op.TUPLE not in (truth.op, answer.op) or sum(sizes) != sum(others)):
        return False
    return _in_order([cell for row in one for cell in row], [cell for row in other for cell in row], same)


def _rows(node: Node) -> list[tuple[Node, ...]] | None:
    """The rows of a matrix or a multiple of one, of a tuple of tuples, or of a tuple as a column; else None."""
    if node.op is Op.MULTIPLY and node.args[-1].op is Op.MATRIX:
        return [tuple(Node(Op.MULTIPLY, (*node.args[:-1], cell)) for cell in row.args) for row in node.args[-1].args]
    if node.op is Op.MATRIX or (node.op is Op.TUPLE and all(arg.op is Op.TUPLE for arg in node.args)):
        return [row.args for row in node.args]
    return [(arg,) for arg in node.args] if node.op is Op.TUPLE else None
