"""Rounded decimals, in the truth or in the answer; whole numbers are never rounded.

A truth of "30.52" is met by an exact 1587/52, as that rounds to it. An answer of "0.8660254037844386" meets √3/2, as so
many digits are the output of a float; if a finite decimal exists, only float error is accepted.
"""

from fractions import Fraction

from plaudit.verify.math.exact.folding import fold
from plaudit.verify.math.exact.values import sign_of
from plaudit.verify.math.parsing.tree import Node, Op, call, number
from plaudit.verify.numbers import last_place

__all__ = ["agree_as_shown", "is_computed", "is_rounded", "rounds_to"]

_FLOAT_DIGITS = 15
_NOISE = number(Fraction(10) ** (1 - _FLOAT_DIGITS))


def rounds_to(truth: Node, answer: Node, min_decimals: int) -> bool:
    """Whether the answer, a constant, rounds to the truth, a decimal of at least `min_decimals` decimals."""
    half = _half_step(truth, min_decimals)
    return half is not None and _is_within(half, truth, answer)


def is_computed(truth: Node, answer: Node, digits: int) -> bool:
    """Whether the answer is a decimal of at least `digits` significant digits that all agree with an exact truth."""
    written = _digits_of(answer)
    if written < digits or _digits_of(truth) > _FLOAT_DIGITS - 3:
        return False
    value = fold(truth).value
    if value is not None and _is_finite(value) and written < _FLOAT_DIGITS:
        return False
    if written < _FLOAT_DIGITS:
        return rounds_to(answer, truth, 1)
    return _is_within(Node(Op.MULTIPLY, (_NOISE, call("abs", truth))), truth, answer)


def agree_as_shown(truth: Node, answer: Node) -> bool:
    """Whether two constants agree to as many decimals as the less precise decimal of them shows."""
    steps = [step for step in (_half_step(truth, 1), _half_step(answer, 1)) if step is not None]
    return any(_is_within(step, truth, answer) for step in steps)


def is_rounded(truth: str, value: Fraction | int, exact: Fraction | int, min_decimals: int) -> bool:
    """The same for a truth that is a plain decimal and an answer that is a plain number."""
    exponent = last_place(truth)
    return exponent is not None and -exponent >= min_decimals and 2 * abs(Fraction(exact) - value) * 10**-exponent <= 1


def _is_within(limit: Node, one: Node, other: Node) -> bool:
    """Whether two real constants differ by at most the limit."""
    distance = call("abs", Node(Op.ADD, (one, Node(Op.NEGATE, (other,)))))
    return sign_of(Node(Op.ADD, (limit, Node(Op.NEGATE, (distance,))))) in (0, 1)


def _digits_of(node: Node) -> int:
    """How many significant digits a decimal shows; none for what is no decimal."""
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
