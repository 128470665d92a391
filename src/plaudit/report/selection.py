"""Which samples to look at: conditions on their columns, and how many.

A column is a field, a column of the data or a key of the metadata; dots lead into nested values. The page of a report
has the same conditions (`page/assets/query.js`), and the same cases test both.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plaudit.errors import RolloutsError, did_you_mean
from plaudit.rollouts import Rollout
from plaudit.trajectory import Trajectory

ABSENT = object()
"""The value of a column that a sample does not have."""
_CONDITION = re.compile(r"\s*([^=!<>~\s]+)\s*(==|=|!=|>=|<=|>|<|~)\s*(.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of one column with a value, as numbers if both are numbers, else as texts.

    Numbers that differ only by rounding are equal: `n=0.3` holds for 0.1 + 0.2. A text such as "12" is a number,
    "1_000" is not. `~` holds if the text contains the value, in any case. A sample without the column meets only `!=`.
    """

    column: str
    sign: str
    value: str

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """The text form of the condition: `task=math`, `level >= 3`, `model != gpt2`."""
        match = _CONDITION.fullmatch(text)
        if match is None:
            raise RolloutsError(f"a condition is COLUMN=VALUE, !=, <, <=, >, >= or ~, such as level>=3; got {text!r}")
        return cls(*match.groups())

    def holds(self, trajectory: Trajectory) -> bool:
        """Whether a sample meets the condition."""
        return self.compare(column_of(trajectory, self.column))

    def compare(self, value: Any) -> bool:
        """Whether a value of the column meets the condition."""
        if value is ABSENT or value is None:
            return self.sign == "!="
        if self.sign == "~":
            return self.value.lower() in _text(value).lower()
        number, bound = _number(value), _number(self.value)
        if number is None or bound is None:
            return _COMPARISONS[self.sign](_text(value), self.value)
        is_equal = abs(number - bound) <= 1e-9 * max(1.0, abs(bound))
        return _COMPARISONS[self.sign](bound if is_equal else number, bound)

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The samples that meet every condition, up to a number of them."""

    conditions: Sequence[Condition] = ()
    limit: int | None = None

    def select(self, rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
        """The rollouts that are selected; raises RolloutsError when none is."""
        return islice(self._select_meeting(rollouts), self.limit)

    def _select_meeting(self, rollouts: Iterable[Rollout]) -> Iterator[Rollout]:
        selected, seen, known = 0, set[str](), dict[str, None]()
        for rollout in rollouts:
            if self.conditions:
                known.update(dict.fromkeys(known_columns(rollout.trajectory)))
                columns = (condition.column for condition in self.conditions)
                seen.update(column for column in columns if column_of(rollout.trajectory, column) is not ABSENT)
            if all(condition.holds(rollout.trajectory) for condition in self.conditions):
                selected += 1
                yield rollout
        if not selected:
            absent = [one.column for one in self.conditions if one.column not in seen]
            why = f": no sample has the column {absent[0]!r}{did_you_mean(absent[0], known)}" if absent else ""
            raise RolloutsError(f"no sample meets {' and '.join(map(str, self.conditions))}{why}")


def column_of(trajectory: Trajectory, name: str) -> Any:
    """The value of a column of a sample, ABSENT if it has none of that name."""
    sources: tuple[Mapping[str, Any], ...] = (_fields(trajectory), trajectory.columns, trajectory.metadata)
    for source in sources:
        if name in source:
            return source[name]
    first, dot, rest = name.partition(".")
    value = column_of(trajectory, first) if dot else ABSENT
    for key in rest.split(".") if dot else ():
        value = value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT
    return value


def known_columns(trajectory: Trajectory) -> list[str]:
    """The names by which columns of a sample can be found."""
    return [*_fields(trajectory), *trajectory.columns, *trajectory.metadata]


def no_such_column(name: str, known: Iterable[str], what: str = "column") -> RolloutsError:
    """The error for a column that none of the samples has."""
    columns = list(known)
    return RolloutsError(
        f"no sample has the {what} {name!r}{did_you_mean(name, columns)} (columns: {', '.join(columns)})"
    )


def _fields(trajectory: Trajectory) -> dict[str, Any]:
    values = {name: getattr(trajectory, name) for name in trajectory.FIELDS}
    return {name: value for name, value in values.items() if value is not None and value != {} and value != []}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not (isinstance(value, int | float) or _NUMBER.fullmatch(str(value))):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
