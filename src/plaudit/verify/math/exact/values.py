"""Are two expressions the same number or the same function? Three ways, from cheap and exact to dear.

Rational numbers are compared as fractions, rational functions modulo a prime, the rest as balls at a few places. Balls
prove a difference; agreement to `AGREEMENT` digits everywhere, absolute and relative, counts as equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

from plaudit.verify.math.exact.balls import ARITHMETIC_ERRORS, Ball, Balls
from plaudit.verify.math.exact.evaluation import Undefined, Unvalued, evaluate
from plaudit.verify.math.exact.floats import Bounded, Places, are_apart, bound, bound_number, is_real
from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.residues import Residues
from plaudit.verify.math.parsing.tree import Node, Op, nodes, number, operations, rewrite, substitute, symbols

__all__ = ["counts_something", "enclosure", "fingerprint", "same_value", "share", "sign_of"]

DIGITS = (50, 200, 800)
AGREEMENT = 30
MAX_PLACES = 5  # where expressions in whole numbers are compared
ORDINARY = 5  # powers of ten that values may be from one without being called small or large
MAX_KINKS = 6  # points where an expression bends, of one unknown
MAX_COST = 400  # nodes of an expression that is evaluated to hundreds of digits
_SEED = b"plaudit"
_SEEDS = tuple(blake2b(_SEED + attempt, digest_size=16).digest() for attempt in (b"1", b"2"))
_MARKED = {Op.UNIT, Op.PERCENT, Op.DEGREE, Op.PLUS_MINUS, Op.WORD, Op.BASED, Op.RATIO, Op.RELATION}
_VALUELESS = {Op.SERIES, Op.INDEX, Op.WORD, Op.INFINITY}  # what has no value though no unknown is left
_BENT = {"abs", "max", "min"}
_MEASURING = set("xyzt")  # letters that usually measure something
_WHOLE = {"factorial", "multifactorial", "binomial", "floor", "ceil", "mod", "gcd", "lcm"}


def same_value(left: Node, right: Node) -> bool | None:
    """Whether two expressions are equal; None where that is not found out."""
    if left == right:
        return True
    if _are_apart(left, right):
        return False
    left, right = fold(left), fold(right)
    if left == right:
        return True
    if left.value is not None and right.value is not None:
        return left.value == right.value
    verdict = _by_residues(left, right)
    if verdict is None and counts_something(left, right):
        verdict = _at_whole_numbers(left, right)
        if verdict and _rounds_an_unknown(left, right):
            between = _place_by_floats(left, right, _place_between_whole_numbers)
            verdict = not (between and between.is_real)
    if verdict is None:
        verdict = _by_balls(left, right)
    if verdict is None and "lim" in (left.leaf, right.leaf):
        verdict = _is_limit(left, right) if left.leaf == "lim" else _is_limit(right, left)
    if verdict is not True and _has_applications(left, right):
        return same_value(_read_as_products(left), _read_as_products(right)) or verdict
    return verdict


def fingerprint(node: Node) -> int | None:
    """A number that equal rational functions share, for finding equal items in long lists; None where marks count."""
    if not _MARKED.isdisjoint(operations(node)):
        return None
    try:
        return evaluate(fold(node), Residues(_SEED))
    except Undefined:
        return None


def enclosure(node: Node, digits: int = DIGITS[0]) -> Ball | None:
    """Where a constant lies, or None for one that has unknowns or no value."""
    try:
        return evaluate(fold(node), Balls(digits, {}))
    except ARITHMETIC_ERRORS:
        return None


def sign_of(node: Node) -> int | None:
    """The sign of a real constant: -1, 0 or 1; None where it is not found out."""
    node = fold(node)
    if node.value is not None:
        return (node.value > 0) - (node.value < 0)
    ball = enclosure(node)
    if ball is None or not ball.is_real:
        return None
    if ball.real.copy_abs() > ball.radius:
        return 1 if ball.real > 0 else -1
    return 0 if ball.radius < Decimal(1).scaleb(-AGREEMENT) else None


def _by_residues(left: Node, right: Node) -> bool | None:
    """Equal residues prove equality; different ones prove a difference of rational functions."""
    for seed in _SEEDS:
        domain = Residues(seed)
        try:
            one, other = evaluate(left, domain), evaluate(right, domain)
        except Undefined:
            continue
        if one == other:
            return True
        return False if domain.is_proof else None
    return None


def counts_something(left: Node, right: Node) -> bool:
    """Whether unknowns count something: they stand in factorials, binomials or roundings."""
    found = [node for side in (left, right) for node in nodes(side) if node.op in (Op.CALL, Op.SERIES)]
    return any(
        (node.leaf in _WHOLE and symbols(node)) or (node.op is Op.SERIES and symbols(Node(Op.ADD, node.args[1:3])))
        for node in found
    )


def _at_whole_numbers(left: Node, right: Node) -> bool | None:
    """Compare at whole numbers, exactly; five places where both have a value decide."""
    names = _names(left, right)
    agreed = missed = 0
    verdict: bool | None
    for place in _whole_places(names):
        one, other = (fold(substitute(side, place)) for side in (left, right))
        if one.value is not None and other.value is not None:
            verdict = one.value == other.value
        elif symbols(one) or symbols(other) or not _VALUELESS.isdisjoint(operations(one, other)):
            return None
        else:
            verdict = _as_constants(one, other)
        if verdict is False:
            return False
        agreed += verdict is True
        missed += verdict is None
        if agreed == MAX_PLACES:
            return True
        if missed > 4 and not agreed:
            return None
    return None


def _whole_places(names: list[str]) -> Iterator[dict[str, Node]]:
    """Small whole numbers, the later names now larger and now smaller than the earlier ones."""
    for round_, start in enumerate((3, 4, 9, 14, 25, 60, 5, 8, 12, 7, 10, 33)):
        steps = range(len(names)) if round_ % 2 else range(len(names) - 1, -1, -1)
        yield {names[index]: number(start + 4 * step + step * step) for step, index in enumerate(steps)}


@dataclass(frozen=True, slots=True)
class _Place:
    """Values for the unknowns, with what comes of comparing there."""

    agrees: bool | None
    is_real: bool


_NOWHERE = _Place(None, False)  # of expressions that have no value at any place


def _by_balls(left: Node, right: Node) -> bool | None:
    """Compare at a few places; those where both sides are real count first, as formulas are meant for them."""
    if sum(1 for side in (left, right) for _ in nodes(side)) > MAX_COST:
        return None
    names = _names(left, right)
    if not names:
        return _as_constants(left, right)
    found = []
    for values in [*_places(names), *_kinks(left, right, names)]:
        place = _place_by_floats(left, right, _floats_at(values)) or _place(left, right, values, DIGITS[:2])
        if place is _NOWHERE:
            return None
        if place.agrees is False and place.is_real:
            return False
        found.append(place)
    real = [place for place in found if place.is_real and place.agrees]
    decisive = real or [place for place in found if place.agrees is not None]
    if len(decisive) < 2:
        return None
    return all(place.agrees for place in decisive)


def _names(left: Node, right: Node) -> list[str]:
    return sorted(symbols(left) | symbols(right))


def _are_apart(left: Node, right: Node) -> bool:
    """Whether floats prove a difference at once; a place where values are not real proves it for constants alone."""
    for places in (_first_place, _later_place):
        try:
            one, other = bound(left, places), bound(right, places)
        except Unvalued:
            return False
        except Undefined:
            continue
        if is_real(one) and is_real(other):
            return are_apart(one, other)
        if are_apart(one, other) and not _names(left, right):
            return True
    return False


def _place_by_floats(left: Node, right: Node, places: Places) -> _Place | None:
    """The comparison at a place where floats prove a difference, else None."""
    try:
        one, other = bound(left, places), bound(right, places)
    except Undefined:
        return None
    if not are_apart(one, other):
        return None
    real = is_real(one), is_real(other)
    return _Place(False, real == (True, True)) if False in real or None not in real else None


@lru_cache(maxsize=1024)  # formulas use the same few letters
def _first_place(unknown: str) -> Bounded:
    return bound_number(_coordinate(unknown, 0, 0, 1))


@lru_cache(maxsize=1024)
def _later_place(unknown: str) -> Bounded:
    return bound_number(_coordinate(unknown, 3, 2, 5))


def _floats_at(values: dict[str, Fraction]) -> Places:
    return {found: bound_number(value) for found, value in values.items()}.get


def _places(names: list[str]) -> Iterator[dict[str, Fraction]]:
    for round_, (low, width) in enumerate(((0, 1), (0, 1), (1, 2), (2, 5))):
        yield {found: _coordinate(found, round_, low, width) for found in names}
    yield {found: -2 * share(f"{found} -") for found in names}


@lru_cache(maxsize=1024)  # formulas use the same few letters
def _coordinate(symbol: str, round_: int, low: int, width: int) -> Fraction:
    return low + width * share(f"{symbol} {round_}")


def share(text: str) -> Fraction:
    """A fraction between 0.05 and 0.95 that is the same for the same text."""
    return Fraction(
        500 + int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=4).digest()) % 9001, 10_000
    )


def _as_constants(left: Node, right: Node) -> bool | None:
    return (_place_by_floats(left, right, _floats_at({})) or _place(left, right, {}, DIGITS)).agrees


def _place(left: Node, right: Node, values: dict[str, Fraction], precisions: Sequence[int]) -> _Place:
    """Compare with more and more digits until the balls part or agree closely."""
    agrees, is_real = None, False
    for digits in precisions:
        try:
            balls = Balls(digits, values)
            one, other = evaluate(left, balls), evaluate(right, balls)
            agrees, is_real = _agree(one, other, balls.spread), one.is_real and other.is_real
        except Unvalued:
            return _NOWHERE
        except ARITHMETIC_ERRORS:
            break
        if agrees is not None:
            break
    return _Place(agrees, is_real)


def _agree(left: Ball, right: Ball, spread: int) -> bool | None:
    """False for balls apart, True for tiny ones that overlap, None for wide ones.

    The smaller or larger the values on the way, the tinier: √2 + 10^-200 is not √2.
    """
    if left.is_apart_from(right):
        return False
    size = max(left.real.copy_abs(), left.imaginary.copy_abs())
    agreement = AGREEMENT + 2 * max(0, spread - ORDINARY)
    close = Decimal(1).scaleb(min(size.adjusted(), 0) - agreement if size else -agreement)
    return True if max(left.radius, right.radius) < close else None


def _kinks(left: Node, right: Node, names: list[str]) -> list[dict[str, Fraction]]:
    """Places at, between and beyond the points where absolute values, maxima and minima bend.

    For every unknown, with the others where `_places` puts them first; arguments that are not linear count by the
    places on both sides of zero alone.
    """
    bent = [found for side in (left, right) for found in nodes(side) if found.leaf in _BENT and found.op is Op.CALL]
    if not bent:
        return []
    usual = next(_places(names))
    places = [{found: sign * 1000 * usual[found] for found in names} for sign in (1, -1)]
    for unknown in names:
        ends = sorted({end for found in bent for end in _ends_of(found, unknown, usual)})[:MAX_KINKS]
        marks = [ends[0] - 1, *ends, ends[-1] + 1] if ends else [Fraction(-3)]
        middles = [(low + high) / 2 for low, high in pairwise(marks)]
        places += [{**usual, unknown: place} for place in (*marks, *middles)]
    return places


def _ends_of(bent: Node, unknown: str, usual: dict[str, Fraction]) -> list[Fraction]:
    """Where an absolute value, or the difference of the arguments of a maximum, is zero, if it is linear."""
    first, *rest = bent.args
    differences = [Node(Op.ADD, (first, Node(Op.NEGATE, (other,)))) for other in rest] or [first]
    others = {found: number(value) for found, value in usual.items() if found != unknown}
    ends = []
    for difference in differences:
        at = [fold(substitute(difference, {**others, unknown: number(place)})).value for place in range(3)]
        if at[0] is None or at[1] is None or at[2] is None or at[0] == at[1] or at[2] - at[1] != at[1] - at[0]:
            continue
        ends.append(Fraction(at[0]) / Fraction(at[0] - at[1]))
    return ends


def _rounds_an_unknown(left: Node, right: Node) -> bool:
    """Whether a letter that does not usually count something is rounded: ⌊x⌋, not ⌊n/2⌋."""
    calls = [found for side in (left, right) for found in nodes(side) if found.op is Op.CALL]
    return any(found.leaf in ("floor", "ceil") and symbols(found) & _MEASURING for found in calls)


def _place_between_whole_numbers(unknown: str) -> Bounded:
    return bound_number(3 + share(unknown) / 2)


def _is_limit(limit: Node, value: Node) -> bool | None:
    """Whether a function comes as close to a constant as its argument to its end; no proof, but no near miss either."""
    approach, body = limit.args[0], limit.args[-1]
    if approach.leaf != "->" or approach.args[0].op is not Op.NAME or symbols(value) or symbols(approach.args[1]):
        return None
    unknown, end = approach.args[0].leaf, approach.args[1]
    for digits in (20, 40):
        step = Fraction(1, 10**digits)
        place = number(10**digits) if end.op is Op.INFINITY else Node(Op.ADD, (end, number(step)))
        difference = Node(Op.ADD, (substitute(body, {unknown: place}), Node(Op.NEGATE, (value,))))
        ball = enclosure(difference, DIGITS[1])
        if ball is None or ball.real.copy_abs() > Decimal(1).scaleb(-digits // 3):
            return None
    return True


def _has_applications(left: Node, right: Node) -> bool:
    """Whether a letter before a bracket was read as a function, where it may be a factor: "R(r+1)"."""
    calls = [found for side in (left, right) for found in nodes(side) if found.op is Op.CALL]
    return any(_is_application(found) for found in calls)


def _is_application(node: Node) -> bool:
    """Whether a letter before a bracket may be a factor; before a number, as in "I(0)", it hardly is."""
    if node.op is not Op.CALL or not node.leaf.endswith("()") or len(node.args) != 1:
        return False
    return node.leaf[0] not in "fgh(" and node.args[0].value is None


def _read_as_products(node: Node) -> Node:
    def change(found: Node) -> Node:
        if not _is_application(found):
            return found
        return Node(Op.MULTIPLY, (Node(Op.NAME, (), found.leaf.removesuffix("()")), *found.args))

    return rewrite(node, change)
