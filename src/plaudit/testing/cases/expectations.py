"""Expectations of test cases for a number: a value, a range, a comparison, or an order between cases.

In text a range is `0.4..0.6`; `> 0.5` compares with a number and `> other case` with the reward of that case.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TOLERANCE = 1e-6
FORMS = "a number, a range [0.4, 0.6] (as text 0.4..0.6), a comparison '> 0.5', or an order '> other case'"

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expectation:
    """A condition on one number; `text` is how a case table has it.

    An order compares with the value of the case `other`: `test` gets both, and None if that case was not scored.
    """

    text: str
    test: Callable[[float, float | None], bool] = field(compare=False, repr=False)
    other: str | None = None

    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        """Whether `value` is as expected; `others` are the values of all cases by name."""
        return self.test(value, None if self.other is None else others[self.other])

    def detail(self, others: Mapping[str, float | None]) -> str:
        """The value that the expectation compares with, for messages."""
        if self.other is None:
            return ""
        bound = others[self.other]
        return "that case was not scored" if bound is None else f"that case got {bound:g}"

    def __str__(self) -> str:
        return self.text


def near(value: float, tolerance: float = TOLERANCE) -> Expectation:
    """The number itself, within a tolerance."""
    text = f"{value:g}" + (f" ± {tolerance:g}" if tolerance != TOLERANCE else "")
    allowed = tolerance * (1.0 + 1e-9)  # 0.1 + 0.2 is within 0.3 of 0
    return Expectation(text, lambda number, _: abs(number - value) <= allowed)


def within(low: float, high: float) -> Expectation:
    """A range, both ends included."""
    if low > high:
        raise ValueError(f"the range [{low:g}, {high:g}] is empty; put the smaller number first")
    return Expectation(f"{low:g}..{high:g}", lambda number, _: low - TOLERANCE <= number <= high + TOLERANCE)


def compared(sign: str, bound: float) -> Expectation:
    """More or less than a number."""
    return Expectation(f"{sign} {bound:g}", lambda number, _: _SIGNS[sign](number, bound))


def ordered(sign: str, other: str) -> Expectation:
    """More or less than another case of the same table."""
    compare = _SIGNS[sign]
    return Expectation(f"{sign} {other!r}", lambda number, bound: bound is not None and compare(number, bound), other)


def parse_expectation(written: Any, tolerance: Any = None) -> Expectation:
    """The expectation in a cell of a case table; raises ValueError with a message."""
    number = _number(written)
    if number is None:
        expectation = _read_text(written.strip()) if isinstance(written, str) else _read_range(written, written)
        if tolerance is not None:
            raise ValueError(f"a tolerance goes with an expected number, not with {expectation}")
        return expectation
    allowed = TOLERANCE if tolerance is None else _number(tolerance)
    if allowed is None or allowed < 0:
        raise ValueError(f"tolerance must be a number from 0 up, got {tolerance!r}")
    return near(number, allowed)


def _read_range(ends: Any, written: Any) -> Expectation:
    numbers = [_number(end) for end in ends] if isinstance(ends, list) else []
    match numbers:
        case [float(low), float(high)]:
            return within(low, high)
    raise ValueError(f"cannot read {written!r:.60}; write {FORMS}")


def _read_text(text: str) -> Expectation:
    comparison = re.fullmatch(r"(>=|<=|>|<)\s*(.+)", text, re.DOTALL)
    if comparison:
        sign, right = comparison.groups()
        bound = _number(right)
        return ordered(sign, right.strip()) if bound is None else compared(sign, bound)
    low, dots, high = text.partition("..")
    return _read_range([low, high] if dots else None, text)


def _number(written: Any) -> float | None:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    try:
        number = float(written)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
