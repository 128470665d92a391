"""How an endpoint may be called.

The numbers hold for one process: a reward on four worker processes calls its endpoint four times as often.
"""

import math
from dataclasses import dataclass, fields
from typing import TypeGuard

from plaudit.errors import InvalidSettings

__all__ = ["EndpointPolicy"]

_COUNTS = ("concurrency", "tries", "breaker_after")
_MAY_BE_ZERO = ("first_wait_s", "longest_wait_s", "breaker_rest_s")


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """Limits, patience and the point of giving up, for one endpoint."""

    concurrency: int = 32
    """How many calls may be under way at once."""
    per_second: float | None = None
    """How many calls may begin in a second, evenly spaced; None sets no limit."""
    tries: int = 4
    """How often a sample is sent before it is given up."""
    first_wait_s: float = 0.5
    """The most that is waited after the first failure; it doubles with each further one, and chance takes a part."""
    longest_wait_s: float = 30.0
    """The most that is ever waited between two tries, even where Retry-After asks for more."""
    attempt_s: float = 60.0
    """How long one try may take."""
    breaker_after: int = 10
    """After so many failures in a row, over all samples, nothing is sent for a while."""
    breaker_rest_s: float = 30.0
    """How long that while is; then one sample is sent to see whether the endpoint is back."""

    def __post_init__(self) -> None:
        for field in fields(self):
            self._check(field.name, getattr(self, field.name))
        if self.first_wait_s > self.longest_wait_s:
            raise InvalidSettings(
                f"need first_wait_s <= longest_wait_s, got {self.first_wait_s:g} and {self.longest_wait_s:g}"
            )

    def _check(self, name: str, value: float | None) -> None:
        if name in _COUNTS:
            valid, expected = type(value) is int and value >= 1, "a whole number of at least 1"
        elif name in _MAY_BE_ZERO:
            valid, expected = _is_number(value) and value >= 0, "a number of at least 0"
        else:
            valid, expected = _is_number(value) and value > 0, "a number above 0"
        if not valid and not (name == "per_second" and value is None):
            raise InvalidSettings(f"{name} must be {expected}, got {value!r:.60}")


def _is_number(value: float | None) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
