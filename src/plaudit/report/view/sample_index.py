"""Which samples of a run meet a query, and where in its file each of them lies: an index on disk, in SQLite.

The texts stay in the rollouts file; the index has a row of short values per sample. One thread writes, any thread
reads, each with a connection of its own.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.errors import RolloutsError
from plaudit.report.page.sample_data import FIRST_COLUMNS, Value

__all__ = ["Place", "Query", "SampleIndex"]

MAX_COLUMNS = 300
PAGE_BYTES = 1 << 15  # a condition reads every page: fewer calls than with small ones
MAX_CHOICES, MAX_CELLS = 200, 64  # as many as the page shows
_SIGNS = {"=": "=", "!=": "!=", ">=": ">=", "<=": "<=", ">": ">", "<": "<"}
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions (column, sign, value), a text to search for, and the column to sort by."""

    where: tuple[tuple[str, str, str], ...] = ()
    search: str = ""
    sort: str = "sample"
    down: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample lies in its file."""

    sample: int
    start: int
    size: int


class SampleIndex:
    """An index of samples at a path; columns are added as samples bring them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: dict[str, str] = {}
        self._writer = sqlite3.connect(path, check_same_thread=False)
        self._writer.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute("PRAGMA synchronous = OFF")  # it is made anew at every start
        self._writer.execute("CREATE TABLE samples (sample INTEGER PRIMARY KEY, start INTEGER, size INTEGER)")
        for name in FIRST_COLUMNS:
            self._add_column(name)
        covered = (self._columns[name] for name in ("group_number", "reward", "score", "training_step"))
        self._writer.execute(f"CREATE INDEX by_group ON samples ({', '.join(covered)})")
        self._writer.commit()

    def add(self, place: Place, values: Mapping[str, Value]) -> None:
        """Take one sample; `commit` makes it visible to readers."""
        for name in values:
            if name not in self._columns and len(self._columns) < MAX_COLUMNS:
                self._add_column(name)
        known = [(self._columns[name], value) for name, value in values.items() if name in self._columns]
        names, marks = ", ".join(column for column, _ in known), ", ?" * len(known)
        self._writer.execute(
            f"INSERT INTO samples (sample, start, size, {names}) VALUES (?, ?, ?{marks})",
            (place.sample, place.start, place.size, *(_storable(value) for _, value in known)),
        )

    def commit(self) -> None:
        """Make what was added visible."""
        self._writer.commit()

    def clear(self) -> None:
        """Forget every sample."""
        self._writer.execute("DELETE FROM samples")
        self._writer.commit()

    def close(self) -> None:
        """Close the writer's connection."""
        self._writer.close()

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self._columns)

    def count(self, query: Query) -> int:
        """How many samples meet the conditions."""
        condition, values = self._condition(query)
        with self._read() as reader:
            found: int = reader.execute(f"SELECT count(*) FROM samples WHERE {condition}", values).fetchone()[0]
        return found

    def places(self, query: Query, offset: int, limit: int) -> list[Place]:
        """The places of samples that meet the conditions, in order."""
        condition, values = self._condition(query)
        statement = f"SELECT sample, start, size FROM samples WHERE {condition} {self._order(query)} LIMIT ? OFFSET ?"
        with self._read() as reader:
            return [Place(*row) for row in reader.execute(statement, (*values, limit, offset))]

    def values(self, samples: Sequence[int], names: Sequence[str]) -> dict[int, dict[str, Value]]:
        """The values of some columns of some samples."""
        known = [name for name in names if name in self._columns]
        columns = ", ".join(["sample", *(self._columns[name] for name in known)])
        marks = ", ".join("?" * len(samples))
        with self._read() as reader:
            rows = reader.execute(f"SELECT {columns} FROM samples WHERE sample IN ({marks})", tuple(samples)).fetchall()
        return {row[0]: dict(zip(known, row[1:], strict=True)) for row in rows}

    def groups(self, query: Query, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
        """How many groups have samples that meet the conditions, and some of them in order with their samples."""
        condition, values = self._condition(query)
        group, reward, score, step, status = (
            self._columns[name] for name in ("group_number", "reward", "score", "training_step", "status")
        )
        keys = {"sample": group, "reward": "mean", "score": "score", "training_step": "step"}
        order = f"{keys.get(query.sort, group)} {'DESC' if query.down else 'ASC'} NULLS LAST, {group}"
        summary = (
            f"SELECT {group}, count(*), avg({reward}) AS mean, max({reward}) - min({reward}), avg({score}) AS score, "
            f"min({step}) AS step FROM samples WHERE {condition} GROUP BY {group} ORDER BY {order} LIMIT ? OFFSET ?"
        )
        cells = (
            f"SELECT sample, {reward}, {status} FROM samples WHERE {group} = ? AND {condition} "
            f"ORDER BY sample LIMIT {MAX_CELLS}"
        )
        with self._read() as reader:
            total = reader.execute(f"SELECT count(DISTINCT {group}) FROM samples WHERE {condition}", values).fetchone()[
                0
            ]
            found = reader.execute(summary, (*values, limit, offset)).fetchall()
            names = ("group", "count", "mean", "spread", "score", "step")
            listed = [
                {**dict(zip(names, row, strict=True)), "cells": reader.execute(cells, (row[0], *values)).fetchall()}
                for row in found
            ]
        return total, listed

    def choices(self, name: str) -> list[str]:
        """The different values of a column; none where there are many."""
        if name not in self._columns:
            return []
        column = self._columns[name]
        statement = f"SELECT DISTINCT {column} FROM samples WHERE {column} IS NOT NULL LIMIT {MAX_CHOICES + 1}"
        with self._read() as reader:
            found = [row[0] for row in reader.execute(statement)]
        return (
            []
            if len(found) > MAX_CHOICES
            else sorted(f"{value:g}" if isinstance(value, float) else str(value) for value in found)
        )

    def _add_column(self, name: str) -> None:
        column = f"c{len(self._columns)}"
        self._writer.execute(f"ALTER TABLE samples ADD COLUMN {column}")
        self._columns[name] = column

    def _condition(self, query: Query) -> tuple[str, tuple[Value, ...]]:
        """The conditions as SQL with its parameters; names of columns come from our own table, never from the query."""
        parts, values = ["1"], list[Value]()
        for name, sign, wanted in query.where:
            column = "sample" if name == "sample" else self._columns.get(name)
            if column is None:  # no sample has it
                parts.append("1" if sign == "!=" else "0")
                continue
            part, given = _compare(column, sign, wanted)
            parts.append(part)
            values += given
        return " AND ".join(parts), tuple(values)

    def _order(self, query: Query) -> str:
        column = self._columns.get(query.sort)
        if column is None:
            return f"ORDER BY sample {'DESC' if query.down and query.sort == 'sample' else 'ASC'}"
        return f"ORDER BY {column} {'DESC' if query.down else 'ASC'} NULLS LAST, sample"

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path)) as reader:
            reader.execute("PRAGMA query_only = ON")
            yield reader


def _compare(column: str, sign: str, wanted: str) -> tuple[str, list[Value]]:
    """A comparison: as numbers where both are, else as texts; what is not there meets only `!=`."""
    if sign == "~":
        pattern = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return f"coalesce(CAST({column} AS TEXT) LIKE ? ESCAPE '\\', 0)", [f"%{pattern}%"]
    if sign not in _SIGNS:
        raise RolloutsError(f"unknown comparison {sign!r}; known: {', '.join([*_SIGNS, '~'])}")
    number = _number(wanted)
    if number is None:
        return f"coalesce(CAST({column} AS TEXT) {_SIGNS[sign]} ?, {int(sign == '!=')})", [wanted]
    reach = 1e-9 * max(1.0, abs(number))
    equal = f"({column} BETWEEN ? AND ? OR {column} = ?)"
    by_sign: dict[str, tuple[str, list[Value]]] = {
        "=": (equal, [number - reach, number + reach, wanted]),
        "!=": (f"NOT coalesce({equal}, 0)", [number - reach, number + reach, wanted]),
    }
    if sign in by_sign:
        return by_sign[sign]
    numbers, texts = f"{column} {sign} ?", f"{column} {sign} ?"  # to SQLite, every number is below every text
    if sign.startswith(">"):
        return f"({numbers} AND {column} < '' OR {texts})", [number, wanted]
    return f"({numbers} OR {column} >= '' AND {texts})", [number, wanted]


def _storable(value: Value) -> Value:
    """A value as SQLite can hold it: whole numbers of 64 bits, texts without lone surrogates."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _number(text: str) -> float | None:
    """The number that a text is, as the page reads it too: no underscores, no infinities."""
    return float(text) if _NUMBER.fullmatch(text) else None
