"""Field accuracy: which leaves of expected data are in the data of an answer, and key paths that must be there.

Leaves are the values that are neither objects nor lists, and empty objects and lists. The fields are the leaves of both
sides together, so that further fields cost as missing ones do.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.verify.assignment import assign
from plaudit.verify.patterns import compile_late

MOST_FIELDS = 20_000
MOST_UNORDERED = 60  # items of lists that are paired in any order
MOST_PAIRS = 200_000  # of leaves, in all such lists
_PATH = compile_late(r"(?:[^.\[\]]++|\[(?:\d+|\*)\])(?:\.[^.\[\]]++|\[(?:\d+|\*)\])*+")
_PART = compile_late(r"\[(\d+|\*)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Field:
    """A leaf of the expected data, of the data, or of both; its path has no list indices where order does not count."""

    path: str
    is_right: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """How values are compared: lists in order or not, numbers within a tolerance, values that are all text."""

    ordered: bool = True
    tolerance: float = 0.0
    untyped: bool = False

    def equal(self, expected: Any, value: Any) -> bool:
        """Whether two leaves are equal: numbers by value, booleans only with booleans, text exactly."""
        if self.untyped and isinstance(value, str):
            return self._equal_text(expected, value.strip())
        if isinstance(expected, bool) or isinstance(value, bool):
            return expected is value
        if isinstance(expected, int | float) and isinstance(value, int | float):
            return expected == value or self._is_close(expected, value)
        return type(expected) is type(value) and bool(expected == value)

    def _equal_text(self, expected: Any, text: str) -> bool:
        if expected is None:
            return text in ("", "null")
        if isinstance(expected, bool):
            return text.lower() == str(expected).lower()
        if isinstance(expected, int | float):
            try:
                return self.equal(expected, float(text) if not text.lstrip("+-").isdecimal() else int(text))
            except ValueError:
                return False
        return bool(isinstance(expected, str) and expected.strip() == text)

    def _is_close(self, expected: float, value: float) -> bool:
        try:
            return math.isclose(expected, value, rel_tol=self.tolerance, abs_tol=0.0)
        except OverflowError:
            return False


def count_leaves(data: Any) -> int:
    """The number of leaves of the data."""
    return sum(1 for _ in _leaves(data, ""))


def compare_fields(expected: Any, data: Any, how: Comparison, path: str = "") -> list[Field]:
    """The fields of both sides, right where both have the same value."""
    if isinstance(expected, dict) and isinstance(data, dict) and (expected or data):
        fields = list[Field]()
        for key in dict.fromkeys((*expected, *data)):
            inner = f"{path}.{key}" if path else str(key)
            if key in expected and key in data:
                fields += compare_fields(expected[key], data[key], how, inner)
            else:
                fields += [Field(leaf, False) for leaf in _leaves(expected.get(key, data.get(key)), inner)]
        return fields
    if isinstance(expected, list) and isinstance(data, list) and (expected or data):
        return _compare_lists(expected, data, how, path)
    if _is_leaf(expected) and _is_leaf(data):
        return [Field(path, how.equal(expected, data))]
    return [Field(leaf, False) for leaf in dict.fromkeys((*_leaves(expected, path), *_leaves(data, path)))]


def _compare_lists(expected: list[Any], data: list[Any], how: Comparison, path: str) -> list[Field]:
    pairs: list[int | None] = [index if index < len(data) else None for index in range(len(expected))]
    if not how.ordered and max(len(expected), len(data)) <= MOST_UNORDERED:
        pairs = assign([[_alikeness(one, other, how) for other in data] for one in expected])
    fields = list[Field]()
    for index, (one, pair) in enumerate(zip(expected, pairs, strict=True)):
        inner = f"{path}[{index}]"
        if pair is None:
            fields += [Field(leaf, False) for leaf in _leaves(one, inner)]
        else:
            fields += compare_fields(one, data[pair], how, inner)
    further = sorted(set(range(len(data))) - set(pairs))
    return fields + [Field(leaf, False) for number in further for leaf in _leaves(data[number], f"{path}[+{number}]")]


def _alikeness(expected: Any, data: Any, how: Comparison) -> float:
    fields = compare_fields(expected, data, how)
    return sum(field.is_right for field in fields) - 1e-6 * len(fields)


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, dict | list) or not value


def _leaves(value: Any, path: str) -> Iterator[str]:
    if _is_leaf(value):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")


def read_path(path: str) -> list[str] | None:
    """The parts of a path such as `authors[0].name`, `$.a.b`, `rows[*].id` or `csv::name`; None for other texts."""
    column = path.removeprefix("csv::")
    if column != path:
        return ["*", column] if column else None
    plain = path.removeprefix("$").removeprefix(".")
    return [match[1] or match[2] for match in _PART.finditer(plain)] if _PATH.fullmatch(plain) else None


def has_path(data: Any, parts: list[str]) -> bool:
    """Whether data has a value at a path; `*` stands for any key or index."""
    if not parts:
        return True
    first, rest = parts[0], parts[1:]
    if isinstance(data, Mapping):
        values = list(data.values()) if first == "*" else [data[first]] if first in data else []
        if first == "0" and not values:  # XML has no list of one element
            return has_path(data, rest)
        return any(has_path(value, rest) for value in values)
    if isinstance(data, list):
        if first == "*":
            return any(has_path(value, rest) for value in data)
        return first.isdecimal() and int(first) < len(data) and has_path(data[int(first)], rest)
    return first == "0" and not rest and data is not None and data != ""
