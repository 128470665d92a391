"""Rows in which every pair of values of two parameters occurs at least once; always the same rows."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any

Row = dict[str, Any]


def pairwise(parameters: Mapping[str, Sequence[Hashable]]) -> list[Row]:
    """Rows that cover all pairs. Where a value covers nothing new, the first of its parameter is taken."""
    names = list(parameters)
    missing = {
        ((one, first), (other, second)): None
        for one, other in combinations(names, 2)
        for first in parameters[one]
        for second in parameters[other]
    }
    rows: list[Row] = []
    while missing:
        row: Row = dict(next(iter(missing)))
        for name in names:
            if name not in row:
                row[name] = max(parameters[name], key=lambda value: len(_pairs({**row, name: value}) & missing.keys()))
        for pair in _pairs(row, names):
            missing.pop(pair, None)
        rows.append({name: row[name] for name in names})
    return rows


def spread(
    rows: Sequence[Row], values: Sequence[str], over: Sequence[str], allowed: Callable[[Row, str], bool], count: int
) -> list[list[str]]:
    """For each row, up to `count` of the values, so that each value meets all values of the parameters `over`.

    A value that few rows allow goes before one that many allow; one that meets nothing new is left out.
    """
    chances = {value: sum(allowed(row, value) for row in rows) for value in values}
    seen: set[tuple[str, Any, str]] = set()
    chosen: list[list[str]] = []
    for row in rows:
        new = {value: {(name, row[name], value) for name in over} - seen for value in values if allowed(row, value)}
        ranked = sorted(new, key=lambda value: (-len(new[value]), chances[value]))
        chosen.append([value for value in ranked[:count] if new[value]])
        seen.update(*(new[value] for value in chosen[-1]))
    return chosen


def _pairs(row: Row, names: Sequence[str] | None = None) -> set[tuple[Any, Any]]:
    order = [name for name in (names or row) if name in row]
    both = [((one, row[one]), (other, row[other])) for one, other in combinations(order, 2)]
    return {*both, *((second, first) for first, second in both)} if names is None else set(both)
