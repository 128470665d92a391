"""Rollouts in CSV, for spreadsheets: one column per key, nested values as JSON text.

Cells are read as text, and an empty cell counts as missing, except prompt and response. The output of a reward is in
`reward_output` as JSON; columns such as `reward_output.reward` repeat it for people and are ignored when reading.
"""

import csv
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from plaudit import jsonline
from plaudit.columns import FOREIGN_NAMES
from plaudit.errors import RolloutsError
from plaudit.trajectory import OUTPUT_KEY

NESTED = ("prompt", "metadata", "tokens", "steps", OUTPUT_KEY)
"""Columns that may hold JSON; others are text even where they look like it."""
TEXTS = ("prompt", "response")
FOR_PEOPLE = ("reward", "score", "status", "reason")


class CsvSource:
    """The rows of a CSV file, with the numbers of their lines."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.torn = False
        self._texts = {name for field in TEXTS for name in (field, *FOREIGN_NAMES[field])}

    def keep_empty(self, columns: Iterable[str]) -> None:
        """Read empty cells of these columns as empty texts: the empty response is a response."""
        self._texts.update(columns)

    def raw_rows(self) -> Iterator[tuple[int, dict[Any, Any]]]:
        csv.field_size_limit(sys.maxsize)  # a response may be long
        try:
            with open(self.name, encoding="utf-8-sig", newline="") as file:
                reader = csv.DictReader(file, strict=True)
                names = reader.fieldnames or []
                if len(set(names)) != len(names):
                    raise RolloutsError(f"{self.name}:1: a column name occurs twice in {names}")
                line = reader.line_num + 1
                for row in reader:
                    yield line, row
                    line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise RolloutsError(f"{self.name}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
        except csv.Error as error:
            raise RolloutsError(f"{self.name}:{line}: not CSV: {error}") from None
        except OSError as error:
            raise RolloutsError(f"cannot read {self.name}: {error.strerror}") from error

    def decode(self, raw: dict[Any, Any]) -> dict[str, Any]:
        if None in raw:
            raise RolloutsError("more cells than columns; put quotes around texts that hold commas")
        if None in raw.values():
            raise RolloutsError("fewer cells than columns")
        filled = {name: text for name, text in raw.items() if text or name in self._texts}
        return {name: _decode_cell(name, text) for name, text in filled.items() if not _is_for_people(name)}


def write_csv(rows: Callable[[], Iterator[dict[str, Any]]], path: str) -> None:
    """Write the rows that `rows()` gives, in two passes: one to learn the columns, one to write."""
    names = dict.fromkeys(name for row in rows() for name in _flatten(row))
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(names), restval="")
            writer.writeheader()
            for row in rows():
                writer.writerow({name: _encode_cell(value) for name, value in _flatten(row).items()})
            file.flush()
            os.fsync(file.fileno())
    except UnicodeEncodeError:
        raise RolloutsError("a text holds lone surrogates, which CSV cannot; write .jsonl instead") from None


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the figures of its output in columns of their own, before the output itself."""
    output = row.get(OUTPUT_KEY)
    if not isinstance(output, dict):
        return row
    rest = {name: value for name, value in row.items() if name != OUTPUT_KEY}
    figures = {f"{OUTPUT_KEY}.{name}": output[name] for name in FOR_PEOPLE if output.get(name) is not None}
    return {**rest, **figures, OUTPUT_KEY: output}


def _is_for_people(name: str) -> bool:
    return name.startswith(f"{OUTPUT_KEY}.")


def _encode_cell(value: Any) -> str:
    return value if isinstance(value, str) else jsonline.encode(value).decode()


def _decode_cell(name: str, text: str) -> Any:
    if name == "training_step" and text.isdecimal():
        return int(text)
    if name not in NESTED or not text.startswith(("{", "[")):
        return text
    try:
        return jsonline.decode(text.encode(errors="surrogatepass"))
    except jsonline.InvalidJSON as error:
        if name == "prompt":  # a prompt may well begin with a bracket
            return text
        raise RolloutsError(f"{name} must be JSON: {error}") from None
