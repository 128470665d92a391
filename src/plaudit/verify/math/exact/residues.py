"""Arithmetic modulo a large prime, with unknowns at random points: rational functions that agree there are the same.

Functions (sines, roots, sums) are unknown but fixed: f of the same residue is the same. So equal residues mean equal
expressions; different residues mean different ones only where no function was met (`is_proof`).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from plaudit.verify.math.exact.evaluation import Undefined

__all__ = ["PRIME", "Residues"]

PRIME = 0x4CE9C22C566D5E1EF758703D02979053  # a safe prime, so that no small power of a number is one
MAX_NUMBER = 100  # bits; larger numbers may be multiples of the prime, and count as unknowns
MAX_EXPONENT = 64  # bits; larger ones may be multiples of an order


class Residues:
    """One choice of values for the unknowns, made from a seed that the compared texts give."""

    __slots__ = ("is_proof", "seed")

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self.is_proof = True

    def number(self, value: Fraction | int) -> int:
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_NUMBER:
            return self._unknown("number", value.numerator, value.denominator)
        below = value.denominator % PRIME
        if below == 1:
            return value.numerator % PRIME
        return value.numerator * self.invert(below) % PRIME

    def symbol(self, symbol: str) -> int:
        if symbol in _CONSTANTS:
            self.is_proof = False
        return _choose(self.seed, symbol)

    def add(self, left: int, right: int) -> int:
        return (left + right) % PRIME

    def multiply(self, left: int, right: int) -> int:
        return left * right % PRIME

    def invert(self, value: int) -> int:
        if value == 0:
            raise Undefined("division by zero")
        return pow(value, -1, PRIME)

    def integer_power(self, base: int, exponent: int) -> int:
        if exponent.bit_length() > MAX_EXPONENT:
            return self._unknown("power", base, exponent)
        return pow(base if exponent >= 0 else self.invert(base), abs(exponent), PRIME)

    def power(self, base: int, exponent: int, exact: Fraction | int | None) -> int:
        """Roots: b^(7/3) is b^2 times an unknown cube root of b."""
        if exact is None:
            return self._unknown("power", base, exponent)
        whole, part = divmod(exact, 1)
        return self.integer_power(base, int(whole)) * self._unknown("power", base, self.number(part)) % PRIME

    def call(self, function: str, values: Sequence[int]) -> int:
        return self._unknown(function, *(sorted(values) if function in _SYMMETRIC else values))

    def _unknown(self, function: str, *values: int) -> int:
        self.is_proof = False
        return _choose(self.seed, f"{function}({','.join(map(hex, values))})")


@lru_cache(maxsize=4096)  # formulas use the same few letters
def _choose(seed: bytes, what: str) -> int:
    return int.from_bytes(blake2b(what.encode("utf-8", "replace"), key=seed, digest_size=16).digest()) % PRIME


_SYMMETRIC = {"max", "min", "gcd", "lcm"}
_CONSTANTS = {"i", "e", "π", "±"}  # i² = -1 and the like are unknown here
