"""Rollouts in Parquet: one column per key, nested values as JSON text, so that nothing is lost on the way.

A schema note says which columns are JSON text and marks the file as ours: there, an empty cell means that the row has
no such key. In everybody else's files structs and lists are read as they are, and an empty cell is None.
"""

import base64
import datetime
import math
import os
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit import jsonline
from plaudit.errors import RolloutsError, require

NOTE = b"plaudit.json_columns"
ROWS_READ = 256
ROWS_WRITTEN, BYTES_WRITTEN = 4096, 32 << 20
INT64 = range(-(2**63), 2**63)


class ParquetSource:
    """The rows of a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.torn = False
        self._arrow = require("pyarrow", extra="parquet", purpose="reading Parquet")
        self._parquet = require("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
        self._json: frozenset[str] | None = None

    def raw_rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        try:
            with self._parquet.ParquetFile(self.name) as file:
                self._json = _json_columns(file.schema_arrow.metadata or {})
                for batch in file.iter_batches(batch_size=ROWS_READ):
                    for row in batch.to_pylist():
                        number += 1
                        yield number, row
        except (self._arrow.ArrowException, OSError) as error:
            raise RolloutsError(f"{self.name}: not readable as Parquet after row {number}: {error}") from error

    def decode(self, raw: dict[str, Any]) -> Any:
        if self._json is None:
            return {name: _plain(value) for name, value in raw.items()}
        return {
            name: jsonline.decode(value.encode()) if name in self._json else value
            for name, value in raw.items()
            if value is not None
        }


def write_parquet(rows: Callable[[], Iterator[dict[str, Any]]], path: str) -> None:
    """Write the rows that `rows()` gives, in two passes: one to learn the columns, one to write."""
    arrow = require("pyarrow", extra="parquet", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing Parquet")
    kinds = _kinds(rows())
    schema = _schema(arrow, kinds)
    with open(path, "wb") as file:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            for part in _parts(rows(), kinds):
                writer.write_table(arrow.Table.from_pylist(part, schema=schema))
        file.flush()
        os.fsync(file.fileno())


def arrow_table(rows: Sequence[dict[str, Any]]) -> Any:
    """The rows as a `pyarrow.Table`, with the columns that a Parquet file of them has."""
    arrow = require("pyarrow", extra="parquet", purpose="a table of rollouts in Arrow")
    kinds = _kinds(iter(rows))
    schema = _schema(arrow, kinds)
    parts = [arrow.Table.from_pylist(part, schema=schema) for part in _parts(iter(rows), kinds)]
    return arrow.concat_tables(parts) if parts else schema.empty_table()


def _schema(arrow: ModuleType, kinds: dict[str, str]) -> Any:
    types = {"text": arrow.string(), "flag": arrow.bool_(), "whole": arrow.int64(), "number": arrow.float64()}
    fields = [(name, types.get(kind, arrow.string())) for name, kind in kinds.items()]
    json_columns = [name for name, kind in kinds.items() if kind == "json"]
    return arrow.schema(fields, metadata={NOTE: jsonline.encode(json_columns)})


def _json_columns(notes: dict[bytes, bytes]) -> frozenset[str] | None:
    return frozenset(jsonline.decode(notes[NOTE])) if NOTE in notes else None


def _kinds(rows: Iterator[dict[str, Any]]) -> dict[str, str]:
    """The storage type of each column: its one plain type, or JSON text where types are mixed, nested or null."""
    kinds: dict[str, str] = {"prompt": "text", "response": "text"}
    for row in rows:
        for name, value in row.items():
            kind = _kind(value)
            if kinds.setdefault(name, kind) != kind:
                kinds[name] = "json"
    for name in kinds:
        if _kind(name) != "text":
            raise RolloutsError(f"a Parquet column cannot be called {name!r}; write .jsonl instead")
    return kinds


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "flag"
        case int() if value in INT64:
            return "whole"
        case float():
            return "number"
        case str() if _is_unicode(value):
            return "text"
    return "json"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates go through JSON's escapes
        return False
    return True


def _parts(rows: Iterator[dict[str, Any]], kinds: dict[str, str]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        part.append({name: _cell(value, kinds[name]) for name, value in row.items()})
        size += sum(len(value) for value in part[-1].values() if isinstance(value, str))
        if len(part) >= ROWS_WRITTEN or size >= BYTES_WRITTEN:
            yield part
            part, size = [], 0
    if part:
        yield part


def _cell(value: Any, kind: str) -> Any:
    return jsonline.encode(value).decode() if kind == "json" else value


_PLAIN: dict[type, Callable[[Any], Any]] = {
    dict: lambda value: {name: _plain(item) for name, item in value.items()},
    list: lambda value: [_plain(item) for item in value],
    tuple: lambda value: [_plain(item) for item in value],
    float: lambda value: value if math.isfinite(value) else None,  # how pandas writes an empty cell
    bytes: lambda value: base64.b64encode(value).decode(),
    Decimal: str,
    datetime.datetime: lambda value: value.isoformat(),
    datetime.date: lambda value: value.isoformat(),
    datetime.time: lambda value: value.isoformat(),
    datetime.timedelta: lambda value: value.total_seconds(),
}


def _plain(value: Any) -> Any:
    """A Parquet value as JSON can hold it: times in ISO form, decimals as text, bytes in base64."""
    make = _PLAIN.get(type(value))
    return value if make is None else make(value)
