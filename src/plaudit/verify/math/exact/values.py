"""Decide whether two expressions are the same number or function: three methods, from cheap and exact to expensive.

Rational numbers are compared as fractions, rational functions modulo a prime, the rest as balls at a few points. Balls
prove a difference; agreement to `AGREEMENT` bits everywhere, absolute and relative, counts as equal.

Rounded decimals may stand in the truth or in the answer: a truth of "30.52" is met by an exact 1587/52, as that rounds
to it, and an answer of "0.8660254037844386" meets √3/2, as so many digits are the output of a float.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from plaudit.verify.math.exact.enclosures import BITS, Comparison, Point, compare_at, sign_at
from plaudit.verify.math.exact.evaluation import Residues, Undefined, evaluate
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.parsing.tree import (
    Node,
    Op,
    call,
    nodes,
    number,
    operations,
    spend,
    substitute,
    symbols,
)
from plaudit.verify.numbers import last_place

COMPARISON = 20  # nodes that a comparison counts for, however small it is
MAX_POINTS = 5  # where expressions in whole numbers are compared

_SEEDS = tuple(blake2b(b"plaudit" + attempt, digest_size=16).digest() for attempt in (b"1", b"2"))
_VALUELESS = {Op.SERIES, Op.INDEX, Op.WORD, Op.INFINITY}  # what has no value though no unknown is left
_BENT = {"abs", "max", "min"}
_MEASURING = set("xyzt")  # letters that usually measure something
_WHOLE = {"factorial", "binomial", "floor", "ceil", "mod", "gcd", "lcm"}


def same_value(left: Node, right: Node) -> bool | None:
    """Whether two expressions are equal; None if undecided."""
    if left == right:
        return True
    spend(COMPARISON)
    left, right = fold(left), fold(right)
    if left == right:
        return True
    if left.value is not None and right.value is not None:
        return left.value == right.value
    names = sorted(symbols(left) | symbols(right))
    verdict = _at_whole_numbers(left, right, names) if names and counts_something(left, right) else None
    return _at_points(left, right, names) if verdict is None else verdict


def sign_of(node: Node, point: Point | None = None) -> int | None:
    """The sign of a real constant, or of a value with the unknowns at a point; None if undecided."""
    if point:
        node = substitute(node, {unknown: number(value) for unknown, value in point.items()})
    node = fold(node)
    if node.value is not None:
        return (node.value > 0) - (node.value < 0)
    return sign_at(node, {})


def _by_residues(left: Node, right: Node) -> bool | None:
    """Equal residues prove equality; different ones prove a difference of rational functions."""
    spend(len(nodes(left)) + len(nodes(right)))
    for seed in _SEEDS:
        domain = Residues(seed)
        try:
            one, other = evaluate(left, domain), evaluate(right, domain)
        except Undefined:
            continue
        return True if one == other else False if domain.is_proof else None
    return None


def counts_something(left: Node, right: Node) -> bool:
    """Whether unknowns are integers, because they occur in factorials, binomials or roundings."""
    calls = [node for side in (left, right) for node in nodes(side) if node.op in (Op.CALL, Op.SERIES)]
    return any(
        (node.leaf in _WHOLE and symbols(node)) or (node.op is Op.SERIES and symbols(Node(Op.ADD, node.args[1:3])))
        for node in calls
    )


def _at_whole_numbers(left: Node, right: Node, names: list[str]) -> bool | None:
    """Compare at whole numbers, exactly; five points where both have a value decide."""
    agreed = missed = 0
    verdict: bool | None
    for point in _whole_points(names):
        one, other = (fold(substitute(side, point)) for side in (left, right))
        if one.value is not None and other.value is not None:
            verdict = one.value == other.value
        elif symbols(one) or symbols(other) or not _VALUELESS.isdisjoint(operations(one, other)):
            return None
        else:
            verdict = compare_at(one, other, {}).agree
        if verdict is False:
            return False
        agreed += verdict is True
        missed += verdict is None
        if agreed == MAX_POINTS:
            between = {unknown: 3 + hash_to_fraction(unknown) / 2 for unknown in names}
            rounds = _rounds_an_unknown(left, right)
            return not rounds or compare_at(left, right, between, BITS[:1]) != Comparison(False, True)
        if missed > 4 and not agreed:
            return None
    return None


def _whole_points(names: list[str]) -> Iterator[dict[str, Node]]:
    """Small whole numbers, the later names now larger and now smaller than the earlier ones."""
    for round_, start in enumerate((3, 4, 9, 14, 25, 60, 5, 8, 12, 7, 10, 33)):
        steps = range(len(names)) if round_ % 2 else range(len(names) - 1, -1, -1)
        yield {names[index]: number(start + 4 * step + step * step) for step, index in enumerate(steps)}


def _at_points(left: Node, right: Node, names: list[str]) -> bool | None:
    """Compare at a few points; those where both sides are real count first, as formulas are meant for them.

    Equal residues are a proof only if the values at the first point agree: a multiple of the prime is not zero.
    """
    first = compare_at(left, right, next(_points(names)), BITS[:1])
    if first.agree is False and (first.is_real or not names):
        return False
    if (verdict := _by_residues(left, right)) is not None:
        return verdict
    if not names:
        return compare_at(left, right, {}, BITS[1:]).agree
    is_bent = any(each.leaf in _BENT for side in (left, right) for each in nodes(side))
    comparisons = []
    for point in _points(names):
        compared = compare_at(left, right, point, BITS[:2])
        if compared == Comparison(False, True):
            return False
        comparisons.append(compared)
    if is_bent:  # no few points show that two functions agree beyond their bends
        return None
    real = [compared_point for compared_point in comparisons if compared_point.is_real and compared_point.agree]
    decisive = real or [compared_point for compared_point in comparisons if compared_point.agree is not None]
    return all(compared_point.agree for compared_point in decisive) if len(decisive) > 1 else None


def _points(names: list[str]) -> Iterator[Point]:
    for round_, (low, width) in enumerate(((0, 1), (0, 1), (1, 2), (2, 5))):
        yield {symbol: _coordinate(symbol, round_, low, width) for symbol in names}
    yield {symbol: -2 * hash_to_fraction(f"{symbol} -") for symbol in names}


@lru_cache(maxsize=1024)  # formulas use the same few letters
def _coordinate(symbol: str, round_: int, low: int, width: int) -> Fraction:
    return low + width * hash_to_fraction(f"{symbol} {round_}")


def hash_to_fraction(text: str) -> Fraction:
    """A fraction between 0.05 and 0.95 that is the same for the same text."""
    return Fraction(
        500 + int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=4).digest()) % 9001, 10_000
    )


def _rounds_an_unknown(left: Node, right: Node) -> bool:
    """Whether a letter that is not usually an integer is rounded: ⌊x⌋, not ⌊n/2⌋."""
    calls = [each for side in (left, right) for each in nodes(side) if each.op is Op.CALL]
    return any(each.leaf in ("floor", "ceil") and symbols(each) & _MEASURING for each in calls)


MIN_DECIMALS = 2  # of a decimal that may be rounded
MIN_DIGITS = 10  # significant ones of a decimal that may stand for an exact number without a finite decimal


def rounds_to(truth: Node, answer: Node, min_decimals: int = MIN_DECIMALS) -> bool:
    """Whether the answer, a constant, rounds to the truth, a decimal of at least `min_decimals` decimals."""
    half = _half_step(truth, min_decimals)
    return half is not None and _is_within(half, truth, answer)


def is_computed(truth: Node, answer: Node) -> bool:
    """Whether the answer is a decimal of at least `MIN_DIGITS` digits that rounds a truth without a finite decimal."""
    value = fold(truth).value if _digits_of(answer) >= MIN_DIGITS else 0
    return (value is None or not _is_finite(value)) and rounds_to(answer, truth, 1)


def agree_as_shown(truth: Node, answer: Node, min_decimals: int = 1) -> bool:
    """Whether two constants agree to as many decimals as the less precise decimal of them shows."""
    steps = [_half_step(side, min_decimals) for side in (truth, answer)]
    return truth == answer or any(step is not None and _is_within(step, truth, answer) for step in steps)


def is_rounded(truth: str, value: Fraction | int, exact: Fraction | int) -> bool:
    """Whether the truth, a plain decimal, rounds a plain number."""
    place = last_place(truth)
    return place is not None and -place >= MIN_DECIMALS and 2 * abs(Fraction(exact) - value) * 10**-place <= 1


def _is_within(limit: Node, one: Node, other: Node) -> bool:
    """Whether two real constants differ by at most the limit."""
    distance = call("abs", Node(Op.ADD, (one, Node(Op.NEGATE, (other,)))))
    return sign_of(Node(Op.ADD, (limit, Node(Op.NEGATE, (distance,))))) in (0, 1)


def _digits_of(node: Node) -> int:
    """The number of significant digits of a decimal; 0 for other nodes."""
    if node.op is Op.NEGATE:
        return _digits_of(node.args[0])
    if node.op is not Op.NUMBER or "." not in node.leaf or not node.leaf[-1].isdecimal():
        return 0
    return len(node.leaf.lower().partition("e")[0].replace(".", "").lstrip("0"))


def _is_finite(value: Fraction | int) -> bool:
    """Whether a number has a finite decimal: its denominator divides a power of ten."""
    return pow(10, value.denominator.bit_length(), value.denominator) == 0


def _half_step(truth: Node, min_decimals: int) -> Node | None:
    """Half of the last digit that a decimal shows: of 2.50, of -0.33, of 1.25 × 10^-3, of 6.02e23."""
    if truth.op is Op.NEGATE:
        return _half_step(truth.args[0], min_decimals)
    if truth.op is Op.MULTIPLY and len(truth.args) == 2 and truth.args[1].op is Op.POWER:
        step = _half_step(truth.args[0], min_decimals)
        return None if step is None else Node(Op.MULTIPLY, (step, truth.args[1]))
    exponent = last_place(truth.leaf) if truth.op is Op.NUMBER else None
    if exponent is None or len(truth.leaf.lower().partition("e")[0].partition(".")[2]) < min_decimals:
        return None
    return number(Fraction(1, 2) * Fraction(10) ** exponent)
