"""Rounded decimals: a truth of "30.52" is met by an exact 1587/52, as that rounds to it; whole numbers are never rounded."""

from decimal import Context, Decimal
from fractions import Fraction

from plaudit.verify.math.tree import Node, Op
from plaudit.verify.math.values import enclosure

__all__ = ["rounds_to"]

_WIDE = Context(prec=60)


def rounds_to(truth: Node, answer: Node, min_decimals: int) -> bool:
    """Whether the answer, a constant, rounds to the truth, a decimal of at least `min_decimals` decimals."""
    half = _half_step(truth, min_decimals)
    if half is None:
        return False
    exact, rounded = enclosure(answer), enclosure(truth)
    if exact is None or rounded is None or not exact.is_real or not rounded.is_real:
        return False
    limit = _WIDE.divide(Decimal(half.numerator), Decimal(half.denominator))
    return _WIDE.subtract(exact.real, rounded.real).copy_abs() <= _WIDE.add(limit, exact.radius)


def _half_step(truth: Node, min_decimals: int) -> Fraction | None:
    """Half of the last digit that a decimal shows: of 2.50, of -0.33, of 1.25 × 10^-3, of 6.02e23."""
    if truth.op is Op.NEGATE:
        return _half_step(truth.args[0], min_decimals)
    if truth.op is Op.MULTIPLY and len(truth.args) == 2 and truth.args[1].op is Op.POWER:
        step = _half_step(truth.args[0], min_decimals)
        scale = enclosure(truth.args[1], 20)
        return step * Fraction(scale.real) if step is not None and scale is not None and scale.real > 0 else None
    if truth.op is not Op.NUMBER or not truth.leaf.replace(".", "").replace("e", "").replace("-", "").isdigit():
        return None
    mantissa, _, exponent = truth.leaf.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return Fraction(1, 2) * Fraction(10) ** (int(exponent or 0) - decimals) if decimals >= min_decimals else None
