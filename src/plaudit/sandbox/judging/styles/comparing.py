"""Compare what a program gave with what was expected, as plain data and as text.

Lengths are compared before contents, everywhere: pairing up what is there would let a short output pass.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

_INTEGER = re.compile(r"[+-]?[0-9]+")


def same_value(result: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Whether a returned value is the expected one; data that came through JSON has lists for tuples.

    `tolerance` is absolute, and relative unless an integer is expected, whose distance is computed exactly; two
    integers are equal or not.
    """
    if tolerance is not None:
        return _close(_to_lists(result), _to_lists(expected), tolerance)
    return bool(result == expected or _to_lists(result) == _to_lists(expected))


def same_text(compare: str, output: str, expected: str, tolerance: float) -> bool:
    """Whether an output is the expected one, by the comparison of that name."""
    return TEXT_COMPARISONS[compare](output, expected, tolerance)


def _lines(output: str, expected: str, _: float) -> bool:
    return _lines_of(output) == _lines_of(expected)


def _tokens(output: str, expected: str, _: float) -> bool:
    return output.split() == expected.split()


def _floats(output: str, expected: str, tolerance: float) -> bool:
    ours, theirs = output.split(), expected.split()
    return len(ours) == len(theirs) and all(
        one == other or _same_number(one, other, tolerance) for one, other in zip(ours, theirs, strict=True)
    )


TEXT_COMPARISONS: dict[str, Callable[[str, str, float], bool]] = {"lines": _lines, "tokens": _tokens, "floats": _floats}


def _same_number(one: str, other: str, tolerance: float) -> bool:
    """Whether two tokens are finite numbers that are near each other; two integers have to be equal."""
    numbers = _number(one), _number(other)
    if None in numbers or not all(map(math.isfinite, numbers)):  # type: ignore[arg-type]
        return False
    if _INTEGER.fullmatch(other):
        difference = abs(Decimal(one) - Decimal(other))
        return difference <= (0 if _INTEGER.fullmatch(one) else tolerance)
    return math.isclose(*numbers, rel_tol=tolerance, abs_tol=tolerance)  # type: ignore[arg-type]


def _lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _number(token: str) -> float | None:
    """A token as a number; underscores and the like, which only Python reads, make it none."""
    try:
        return float(token) if token.isascii() and "_" not in token else None
    except ValueError:
        return None


def _to_lists(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_to_lists(item) for item in value]
    if isinstance(value, dict):
        by_text = {str(key) if type(key) in (int, float) else key: _to_lists(item) for key, item in value.items()}
        return by_text if len(by_text) == len(value) else value
    return value


def _close(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_close(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key], tolerance) for key in one)
    if _is_number(one) and _is_number(other):
        if one != one or other != other:
            return bool(one != one and other != other)  # NaN where NaN is expected
        if one == other:
            return True
        if isinstance(other, int):
            is_near = isinstance(one, float) and math.isfinite(one)
            return is_near and abs(Fraction(one) - other) <= tolerance
        try:
            return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
        except OverflowError:  # an integer beyond the range of floats
            return False
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
