"""Complex numbers known up to a radius: every operation returns a disc that holds the true result.

Two discs apart prove two values different. Discs that overlap though their radius is tiny pass for equal in `values`.
"""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_UP, Context, Decimal, DecimalException
from fractions import Fraction
from typing import NamedTuple

from plaudit.verify.math.exact.elementary import arctangent, context_of, pi, sine_cosine
from plaudit.verify.math.exact.evaluation import Undefined, Unvalued

__all__ = ["ARITHMETIC_ERRORS", "Ball", "Balls"]

_WIDE = Context(prec=2000, Emin=-(10**7), Emax=10**7)
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)
MAX_POWER = 100_000
_LESS = Decimal("0.999")  # makes up for rounding a divisor up


class Ball(NamedTuple):
    """A disc in the complex plane; `imaginary` is exactly zero for a real number.

    Decimals are never combined by operators here: those round to the digits of the thread's own context.
    """

    real: Decimal
    imaginary: Decimal
    radius: Decimal

    @property
    def is_real(self) -> bool:
        return self.imaginary == 0

    def is_apart_from(self, other: "Ball") -> bool:
        """Whether no number lies in both."""
        radius = _WIDE.add(self.radius, other.radius)
        pairs = ((self.real, other.real), (self.imaginary, other.imaginary))
        return any(_WIDE.subtract(one, another).copy_abs() > radius for one, another in pairs)


class Balls:
    """Arithmetic to a number of digits, with the unknowns at given places.

    `spread` says how many powers of ten the values on the way were from one: terms that small may hide in a result.
    """

    __slots__ = ("_ctx", "_ulp", "_up", "digits", "places", "spread")

    def __init__(self, digits: int, places: dict[str, Fraction]) -> None:
        self.digits, self.places, self.spread = digits, places, 0
        self._ctx = context_of(digits)
        self._up = Context(prec=8, rounding=ROUND_UP, Emin=-(10**6), Emax=10**6)
        self._ulp = Decimal(10) ** -digits

    def number(self, value: Fraction | int) -> Ball:
        above = Decimal(value.numerator)
        if value.denominator == 1 and above.adjusted() < self.digits:
            return Ball(above, ZERO, ZERO)
        below = Decimal(value.denominator)
        self.spread = max(self.spread, above.adjusted(), below.adjusted())
        return self._round(self._ctx.divide(above, below), ZERO, ZERO)

    def symbol(self, symbol: str) -> Ball:
        if symbol == "i":
            return Ball(ZERO, ONE, ZERO)
        if symbol == "π":
            return self._round(self._ctx.plus(pi(self.digits)), ZERO, ZERO)
        if symbol == "e":
            return self._round(self._ctx.exp(ONE), ZERO, ZERO)
        if symbol not in self.places:
            raise Unvalued(f"no value for {symbol}")
        return self.number(self.places[symbol])

    def add(self, left: Ball, right: Ball) -> Ball:
        ctx = self._ctx
        radius = self._up.add(left.radius, right.radius)
        return self._round(ctx.add(left.real, right.real), ctx.add(left.imaginary, right.imaginary), radius)

    def multiply(self, left: Ball, right: Ball) -> Ball:
        ctx, up = self._ctx, self._up
        radius = up.add(
            up.multiply(self._size(left), right.radius),
            up.multiply(left.radius, up.add(self._size(right), right.radius)),
        )
        if left.is_real and right.is_real:
            return self._round(ctx.multiply(left.real, right.real), ZERO, radius)
        real = ctx.subtract(ctx.multiply(left.real, right.real), ctx.multiply(left.imaginary, right.imaginary))
        imaginary = ctx.add(ctx.multiply(left.real, right.imaginary), ctx.multiply(left.imaginary, right.real))
        lost = up.multiply(up.multiply(self._size(left), self._size(right)), self._ulp)
        return self._round(real, imaginary, up.add(radius, lost))

    def invert(self, value: Ball) -> Ball:
        ctx, up = self._ctx, self._up
        size = self._distance(value)
        left = self._ctx.subtract(size, value.radius)
        if left <= 0:
            raise Undefined("division by what may be zero")
        square = ctx.add(ctx.multiply(value.real, value.real), ctx.multiply(value.imaginary, value.imaginary))
        radius = up.divide(value.radius, up.multiply(up.multiply(left, size), _LESS))
        return self._round(ctx.divide(value.real, square), ctx.minus(ctx.divide(value.imaginary, square)), radius)

    def integer_power(self, base: Ball, exponent: int) -> Ball:
        if abs(exponent) > MAX_POWER:
            return self.power(base, self.number(Fraction(exponent)), None)
        result, square, left = Ball(ONE, ZERO, ZERO), base, abs(exponent)
        while left:
            if left & 1:
                result = self.multiply(result, square)
            left >>= 1
            if left:
                square = self.multiply(square, square)
        return self.invert(result) if exponent < 0 else result

    def power(self, base: Ball, exponent: Ball, exact: Fraction | int | None) -> Ball:
        """The real root where there is one: the cube root of -8 is -2."""
        if base.real == 0 and base.imaginary == 0 and base.radius == 0 and exponent.real > 0:
            return base
        if exact is not None and exact.denominator % 2 and base.is_real and base.real < 0:
            root = self._exp(self.multiply(exponent, self._log(self._negative(base))))
            return self._negative(root) if exact.numerator % 2 else root
        return self._exp(self.multiply(exponent, self._log(base)))

    def call(self, function: str, values: Sequence[Ball]) -> Ball:
        if function in ("max", "min") and values and all(value.is_real for value in values):
            chosen = (max if function == "max" else min)(value.real for value in values)
            return Ball(chosen, ZERO, max(value.radius for value in values))
        known = _FUNCTIONS.get(function)
        if known is None or len(values) != 1:
            raise (Undefined if function in ("max", "min") else Unvalued)(f"no values for {function}")
        return known(self, values[0])

    def _round(self, real: Decimal, imaginary: Decimal, radius: Decimal) -> Ball:
        """A result with the error of rounding it added to its radius."""
        up = self._up
        size = up.add(up.abs(real), up.abs(imaginary)) if imaginary else up.abs(real)
        if size > radius:
            self.spread = max(self.spread, abs(size.adjusted()))
        return Ball(real, imaginary, up.add(radius, up.multiply(size, self._ulp)) if size else radius)

    def _size(self, value: Ball) -> Decimal:
        return self._up.add(self._up.abs(value.real), self._up.abs(value.imaginary))

    def _distance(self, value: Ball) -> Decimal:
        """How far the middle is from zero, rounded down a little."""
        if value.is_real:
            return value.real.copy_abs()
        ctx = self._ctx
        square = ctx.add(ctx.multiply(value.real, value.real), ctx.multiply(value.imaginary, value.imaginary))
        return ctx.sqrt(square)

    def _negative(self, value: Ball) -> Ball:
        return Ball(value.real.copy_negate(), value.imaginary.copy_negate(), value.radius)

    def _exp(self, value: Ball) -> Ball:
        ctx, up = self._ctx, self._up
        if value.radius > 1:
            raise Undefined("too wide for a power")
        size = ctx.exp(value.real)
        if not size:
            raise Undefined("a power too small to be told from zero")
        radius = up.multiply(up.abs(size), up.multiply(value.radius, TWO))
        if value.is_real:
            return self._round(size, ZERO, radius)
        sine, cosine, lost = self._sine_cosine(value.imaginary)
        radius = up.add(radius, up.multiply(up.abs(size), up.add(lost, self._ulp)))
        return self._round(ctx.multiply(size, cosine), ctx.multiply(size, sine), radius)

    def _log(self, value: Ball) -> Ball:
        ctx, up = self._ctx, self._up
        size = self._distance(value)
        if size <= value.radius:
            raise Undefined("logarithm of what may be zero")
        radius = up.divide(value.radius, up.multiply(ctx.subtract(size, value.radius), _LESS))
        if value.is_real and value.real > 0:
            return self._round(ctx.ln(value.real), ZERO, radius)
        if value.is_real:
            return self._round(ctx.ln(value.real.copy_negate()), ctx.plus(pi(self.digits)), radius)
        if value.real < 0 and value.imaginary.copy_abs() <= value.radius:
            raise Undefined("logarithm at its cut")
        return self._round(ctx.ln(size), self._angle(value), up.add(radius, self._ulp))

    def _angle(self, value: Ball) -> Decimal:
        ctx = self._ctx
        if value.real == 0:
            return ctx.divide(pi(self.digits), TWO).copy_sign(value.imaginary)
        angle = arctangent(ctx.divide(value.imaginary, value.real), self.digits)
        return angle if value.real > 0 else ctx.add(angle, pi(self.digits).copy_sign(value.imaginary))

    def _sine_cosine(self, angle: Decimal) -> tuple[Decimal, Decimal, Decimal]:
        """Sine and cosine of any angle, and the error from taking whole turns off it."""
        ctx = self._ctx
        turn = ctx.multiply(TWO, pi(self.digits))
        turns = ctx.to_integral_value(ctx.divide(angle, turn))
        lost = self._up.multiply(self._up.add(self._up.abs(angle), ONE), self._ulp)
        if lost > Decimal("1e-9"):
            raise Undefined("an angle of too many turns")
        sine, cosine = sine_cosine(ctx.subtract(angle, ctx.multiply(turns, turn)), self.digits)
        return sine, cosine, lost

    def _circular(self, value: Ball) -> tuple[Ball, Ball]:
        """Sine and cosine."""
        if value.is_real:
            sine, cosine, lost = self._sine_cosine(value.real)
            radius = self._up.add(self._up.add(value.radius, lost), self._ulp)
            return Ball(sine, ZERO, radius), Ball(cosine, ZERO, radius)
        turned = self._exp(self.multiply(Ball(ZERO, ONE, ZERO), value))
        back = self.invert(turned)
        half = Ball(Decimal("0.5"), ZERO, ZERO)
        difference = self.multiply(half, self.add(turned, self._negative(back)))
        return self.multiply(difference, Ball(ZERO, -ONE, ZERO)), self.multiply(half, self.add(turned, back))

    def _sin(self, value: Ball) -> Ball:
        return self._circular(value)[0]

    def _cos(self, value: Ball) -> Ball:
        return self._circular(value)[1]

    def _hyperbolic(self, value: Ball, sign: int) -> Ball:
        up = self._exp(value)
        down = self.multiply(self.number(Fraction(sign)), self.invert(up))
        return self.multiply(Ball(Decimal("0.5"), ZERO, ZERO), self.add(up, down))

    def _sinh(self, value: Ball) -> Ball:
        return self._hyperbolic(value, -1)

    def _cosh(self, value: Ball) -> Ball:
        return self._hyperbolic(value, 1)

    def _tanh(self, value: Ball) -> Ball:
        return self.multiply(self._sinh(value), self.invert(self._cosh(value)))

    def _arctan(self, value: Ball) -> Ball:
        if not value.is_real:
            raise Undefined("arctangent of a complex number")
        return self._round(arctangent(value.real, self.digits), ZERO, self._up.add(value.radius, self._ulp))

    def _arcsin(self, value: Ball) -> Ball:
        if not value.is_real or value.real.copy_abs() > 1:
            raise Undefined("arcsine beyond one")
        other = self.add(Ball(ONE, ZERO, ZERO), self._negative(self.multiply(value, value)))
        if other.real <= other.radius:
            lost = self._up.sqrt(self._up.multiply(Decimal(4), other.radius))
            return self._round(self._ctx.divide(pi(self.digits), TWO).copy_sign(value.real), ZERO, lost)
        half = self.number(Fraction(1, 2))
        return self._arctan(self.multiply(value, self.invert(self.power(other, half, None))))

    def _arccos(self, value: Ball) -> Ball:
        quarter = self.multiply(self.number(Fraction(1, 2)), self.symbol("π"))
        return self.add(quarter, self._negative(self._arcsin(value)))

    def _arccot(self, value: Ball) -> Ball:
        quarter = self.multiply(self.number(Fraction(1, 2)), self.symbol("π"))
        return self.add(quarter, self._negative(self._arctan(value)))

    def _log10(self, value: Ball) -> Ball:
        return self.multiply(self._log(value), self.invert(self._log(self.number(Fraction(10)))))

    def _abs(self, value: Ball) -> Ball:
        return Ball(
            self._distance(value), ZERO, self._up.add(value.radius, self._up.multiply(self._ulp, self._size(value)))
        )

    def _floor(self, value: Ball) -> Ball:
        low, high = (
            self._ctx.add(value.real, side).to_integral_value(rounding=ROUND_FLOOR)
            for side in (value.radius.copy_negate(), value.radius)
        )
        if not value.is_real or low != high:
            raise Undefined("rounding what may be a whole number")
        return Ball(low, ZERO, ZERO)

    def _ceil(self, value: Ball) -> Ball:
        return self._negative(self._floor(self._negative(value)))


_FUNCTIONS = {
    "sin": Balls._sin,
    "cos": Balls._cos,
    "sinh": Balls._sinh,
    "cosh": Balls._cosh,
    "tanh": Balls._tanh,
    "arcsin": Balls._arcsin,
    "arccos": Balls._arccos,
    "arctan": Balls._arctan,
    "arccot": Balls._arccot,
    "ln": Balls._log,
    "log": Balls._log10,
    "abs": Balls._abs,
    "norm": Balls._abs,
    "floor": Balls._floor,
    "ceil": Balls._ceil,
}

ARITHMETIC_ERRORS = (DecimalException, Undefined)
