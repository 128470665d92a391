"""What a test case expects of a number: a value, a range, a comparison, or an order between cases.

In text a range is `0.4..0.6`; `> 0.5` compares with a number and `> other case` with the reward of that case.
"""

import math
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Comparison", "Expectation", "NearValue", "Order", "Range", "parse_expectation"]

TOLERANCE = 1e-6
FORMS = "a number, a range [0.4, 0.6] (as text 0.4..0.6), a comparison '> 0.5', or an order '> other case'"

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


class Expectation(ABC):
    """A condition on one number; prints as it is written in a case table."""

    @abstractmethod
    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        """Whether `value` is as expected; `others` are the values of all cases by name."""

    def detail(self, others: Mapping[str, float | None]) -> str:
        """What a reader needs beside the expectation itself, such as the value compared with."""
        return ""


@dataclass(frozen=True, slots=True)
class NearValue(Expectation):
    """The number itself, within a tolerance."""

    value: float
    tolerance: float = TOLERANCE

    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        return abs(value - self.value) <= self.tolerance * (1.0 + 1e-9)  # 0.1 + 0.2 is within 0.3 of 0

    def __str__(self) -> str:
        return f"{self.value:g}" + (f" ± {self.tolerance:g}" if self.tolerance != TOLERANCE else "")


@dataclass(frozen=True, slots=True)
class Range(Expectation):
    """A range, both ends included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"the range [{self.low:g}, {self.high:g}] is empty; put the smaller number first")

    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        return self.low - TOLERANCE <= value <= self.high + TOLERANCE

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}"


@dataclass(frozen=True, slots=True)
class Comparison(Expectation):
    """More or less than a number."""

    sign: str
    bound: float

    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        return _SIGNS[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Order(Expectation):
    """More or less than another case of the same table."""

    sign: str
    other: str

    def is_met(self, value: float, others: Mapping[str, float | None]) -> bool:
        bound = others[self.other]
        return bound is not None and _SIGNS[self.sign](value, bound)

    def detail(self, others: Mapping[str, float | None]) -> str:
        bound = others[self.other]
        return "that case was not scored" if bound is None else f"that case got {bound:g}"

    def __str__(self) -> str:
        return f"{self.sign} {self.other!r}"


def parse_expectation(written: Any, tolerance: Any = None) -> Expectation:
    """The expectation that a cell of a case table stands for; raises ValueError in words."""
    read = _read(written)
    if tolerance is None:
        return read
    if not isinstance(read, NearValue):
        raise ValueError(f"a tolerance goes with an expected number, not with {read}")
    allowed = _number(tolerance)
    if allowed is None or allowed < 0:
        raise ValueError(f"tolerance must be a number from 0 up, got {tolerance!r}")
    return NearValue(read.value, allowed)


def _read(written: Any) -> Expectation:
    number = _number(written)
    if number is not None:
        return NearValue(number)
    if isinstance(written, str):
        return _read_text(written.strip())
    if isinstance(written, list) and len(written) == 2:
        low, high = (_number(end) for end in written)
        if low is not None and high is not None:
            return Range(low, high)
    raise ValueError(f"cannot read {written!r:.60}; write {FORMS}")


def _read_text(text: str) -> Expectation:
    compared = re.fullmatch(r"(>=|<=|>|<)\s*(.+)", text, re.DOTALL)
    if compared:
        sign, right = compared.groups()
        bound = _number(right)
        return Order(sign, right.strip()) if bound is None else Comparison(sign, bound)
    low, dots, high = text.partition("..")
    ends = (_number(low), _number(high))
    if dots and ends[0] is not None and ends[1] is not None:
        return Range(ends[0], ends[1])
    raise ValueError(f"cannot read {text!r:.60}; write {FORMS}")


def _number(written: Any) -> float | None:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    try:
        number = float(written)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
