"""Elementary functions of decimals to any number of digits: exp and log come with Python, the circular ones are here.

Each result is right to `digits` significant digits or within 10^-digits; the context carries ten digits more than that.
"""

from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import cache

__all__ = ["GUARD", "arctangent", "context_of", "pi", "sine_cosine"]

GUARD = 10
_ONE, _TWO = Decimal(1), Decimal(2)


def context_of(digits: int) -> Context:
    """A context of its own for every calculation: contexts carry flags, and threads must not share them."""
    return Context(
        prec=digits + GUARD,
        rounding=ROUND_HALF_EVEN,
        Emin=-(10**6),
        Emax=10**6,
        traps=[DivisionByZero, InvalidOperation, Overflow],
    )


@cache
def pi(digits: int) -> Decimal:
    """π, by Machin's formula in whole numbers."""
    unit = 10 ** (digits + 2 * GUARD)
    scaled = 4 * (4 * _inverse_arctangent(5, unit) - _inverse_arctangent(239, unit))
    return Decimal(scaled).scaleb(-(digits + 2 * GUARD), Context(prec=digits + 2 * GUARD + 5))


def _inverse_arctangent(x: int, unit: int) -> int:
    power = total = unit // x
    n, sign = 3, -1
    while power:
        power //= x * x
        total += sign * (power // n)
        n, sign = n + 2, -sign
    return total


def sine_cosine(x: Decimal, digits: int) -> tuple[Decimal, Decimal]:
    """Sine and cosine of an angle of at most a few turns, by their series at an eighth of it."""
    ctx = context_of(digits + 5)
    small = ctx.divide(x, Decimal(8))
    square = ctx.minus(ctx.multiply(small, small))
    sine, term, n = small, small, 1
    cosine, even = _ONE, _ONE
    tiny = Decimal(1).scaleb(-(digits + GUARD))
    while term.copy_abs() > tiny or even.copy_abs() > tiny:
        even = ctx.divide(ctx.multiply(even, square), Decimal(n * (n + 1)))
        cosine = ctx.add(cosine, even)
        term = ctx.divide(ctx.multiply(term, square), Decimal((n + 1) * (n + 2)))
        sine = ctx.add(sine, term)
        n += 2
    for _ in range(3):
        doubled = ctx.multiply(_TWO, ctx.multiply(sine, cosine))
        cosine = ctx.subtract(_ONE, ctx.multiply(_TWO, ctx.multiply(sine, sine)))
        sine = doubled
    return sine, cosine


def arctangent(x: Decimal, digits: int) -> Decimal:
    """The arctangent, by its series after three halvings."""
    ctx = context_of(digits + 5)
    if x.copy_abs() > 1:
        half = ctx.divide(pi(digits + 5), _TWO)
        return ctx.subtract(half.copy_sign(x), arctangent(ctx.divide(_ONE, x), digits))
    for _ in range(3):
        x = ctx.divide(x, ctx.add(_ONE, ctx.sqrt(ctx.add(_ONE, ctx.multiply(x, x)))))
    square = ctx.minus(ctx.multiply(x, x))
    total, power, n = x, x, 1
    tiny = Decimal(1).scaleb(-(digits + GUARD))
    while power.copy_abs() > tiny:
        power = ctx.multiply(power, square)
        n += 2
        total = ctx.add(total, ctx.divide(power, Decimal(n)))
    return ctx.multiply(Decimal(8), total)
