"""Results of queries: are these the same rows, in an order that the gold query allows?

Rows are compared as multisets, columns by position. Python's equality is that of the values: 1 = 1.0, '1' is not 1,
NULL is NULL, texts and blobs differ. Numbers of which one is a float are equal within a tolerance.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query."""

    columns: list[str]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class RankedRows:
    """All rows of a query without its LIMIT, by rank, and how many its OFFSET leaves out."""

    rows: list[Row]
    ranks: list[Any]
    offset: int

    def allow(self, rows: Sequence[Row], tolerance: float) -> bool:
        """Whether rows are in an order of the ranks: in the places of each rank are only rows of that rank."""
        end = self.offset + len(rows)
        if end > len(self.rows):
            return False
        for _, indices in groupby(range(len(self.rows)), key=self.ranks.__getitem__):
            group = list(indices)
            inside = rows[max(0, group[0] - self.offset) : max(0, min(group[-1] + 1, end) - self.offset)]
            if inside and unmatched_rows(inside, [self.rows[index] for index in group], tolerance):
                return False
        return True


def same_rows(rows: Sequence[Row], others: Sequence[Row], tolerance: float) -> bool:
    """Whether both have the same rows, each as often, in any order."""
    return len(rows) == len(others) and not unmatched_rows(rows, others, tolerance)


def unmatched_rows(rows: Sequence[Row], others: Sequence[Row], tolerance: float) -> list[Row]:
    """The rows without a partner among the others, matched one to one."""
    counted, other_counted = Counter(rows), Counter(others)
    left = counted - other_counted
    if not left:
        return []
    shapes: dict[Row, list[tuple[float, Row]]] = defaultdict(list)
    for row in (other_counted - counted).elements():
        shapes[_shape(row)].append((_first_number(row), row))
    for partners in shapes.values():
        partners.sort(key=lambda partner: partner[0])
    return [row for row in left.elements() if not _take_partner(row, shapes.get(_shape(row), []), tolerance)]


def describe_difference(rows: Sequence[Row], expected: Sequence[Row], tolerance: float) -> str:
    """The first difference between rows that are not the same, in words."""
    if len(rows) != len(expected):
        return f"{_count(len(rows))} where {len(expected)} are expected"
    unmatched = unmatched_rows(rows, expected, tolerance)
    if unmatched:
        return f"{_count(len(unmatched))} not expected, such as {unmatched[0]!r:.100}"
    return "the right rows in the wrong order"


def _count(number: int) -> str:
    return f"{number} row{'' if number == 1 else 's'}"


def _take_partner(row: Row, partners: list[tuple[float, Row]], tolerance: float) -> bool:
    """Remove the first partner that is equal within the tolerance; partners are sorted by their first number."""
    first = _first_number(row)
    margin = 2 * tolerance * max(1.0, abs(first)) if math.isfinite(first) else 0.0
    for index in range(bisect_left(partners, first - margin, key=lambda partner: partner[0]), len(partners)):
        number, other = partners[index]
        if number > first + margin:
            return False
        if all(_equal(value, expected, tolerance) for value, expected in zip(row, other, strict=True)):
            del partners[index]
            return True
    return False


def _equal(value: Any, expected: Any, tolerance: float) -> bool:
    if value == expected:
        return True
    is_close = isinstance(value, float) or isinstance(expected, float)
    return is_close and math.isclose(value, expected, rel_tol=tolerance, abs_tol=tolerance)


def _shape(row: Row) -> Row:
    """The row with its numbers left out."""
    return tuple(int if isinstance(value, int | float) else value for value in row)


def _first_number(row: Row) -> float:
    return next((float(value) for value in row if isinstance(value, int | float)), 0.0)
