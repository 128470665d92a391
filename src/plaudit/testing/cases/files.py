"""Read the rows of a case table from a YAML, JSON, JSON lines or CSV file.

Cells of a CSV file are text and an empty cell is no cell, but for `response`: the empty response is a response.
"""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from plaudit import jsonline
from plaudit.errors import CasesError, did_you_mean

_KEYS = ("reward", "cases")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its position (a line, or an index among the cases) and its cells by column name."""

    number: int
    line: int | None
    cells: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file's rows, and the reward it names for itself."""

    rows: list[Row]
    reward: str | None = None


def read_sheet(path: Path) -> Sheet:
    """The rows of a file; raises CasesError that names the file and the row."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise CasesError(
            f"{path}: case tables are {', '.join(_READERS)} files, not {path.suffix or 'without a suffix'!r}"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = did_you_mean(path.name, [entry.name for entry in path.parent.glob("*")])
        raise CasesError(f"{path}: no such file{near}") from None
    except UnicodeDecodeError as error:
        raise CasesError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    except OSError as error:
        raise CasesError(f"{path}: cannot be read: {error.strerror}") from None
    return reader(path, text)


def _read_yaml(path: Path, text: str) -> Sheet:
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        plain = None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or str(error)
        raise CasesError(
            f"{where}: not YAML: {problem}; put quotes around texts that begin with '>' or hold ': ' or '#'"
        ) from None
    return _parse_table(path, plain, _yaml_lines(root))


def _read_json(path: Path, text: str) -> Sheet:
    if not text.strip():
        return Sheet([])
    try:
        return _parse_table(path, jsonline.decode(text.encode()), [])
    except jsonline.InvalidJSON as error:
        raise CasesError(f"{path}: not JSON: {error}") from None


def _read_json_lines(path: Path, text: str) -> Sheet:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            plain = jsonline.decode(line.encode())
        except jsonline.InvalidJSON as error:
            raise CasesError(f"{path}:{number}: not a JSON line: {error}") from None
        rows.append(_parse_row(path, len(rows) + 1, number, plain))
    return Sheet(rows)


def _read_csv(path: Path, text: str) -> Sheet:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        names = reader.fieldnames or []
        if len(set(names)) != len(names):
            raise CasesError(f"{path}:1: a column name occurs twice in {names}; give each column its own name")
        line = reader.line_num + 1
        for cells in reader:
            rows.append(Row(len(rows) + 1, line, _parse_csv_cells(f"{path}:{line}", cells)))
            line = reader.line_num + 1
    except csv.Error as error:
        raise CasesError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    return Sheet(rows)


_READERS: dict[str, Callable[[Path, str], Sheet]] = {
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".csv": _read_csv,
}
SUFFIXES = tuple(_READERS)


class _Loader(yaml.SafeLoader):
    """Plain YAML in which a date stays text: a ground truth of 2024-05-01 is what the model writes."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the way PyYAML is configured
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _yaml_lines(root: yaml.Node | None) -> list[int]:
    """The line of every case in a YAML file."""
    if isinstance(root, yaml.MappingNode):
        root = next((value for key, value in root.value if key.value == "cases"), None)
    return [entry.start_mark.line + 1 for entry in root.value] if isinstance(root, yaml.SequenceNode) else []


def _parse_table(path: Path, plain: Any, lines: list[int]) -> Sheet:
    """A list of cases, or a mapping with `cases` and perhaps `reward`."""
    if plain is None:
        return Sheet([])
    table = {"cases": plain} if isinstance(plain, list) else plain
    if not isinstance(table, dict):
        raise CasesError(f"{path}: expected a list of cases, or a mapping with 'cases', got {type(plain).__name__}")
    for key in table:
        if key not in _KEYS:
            raise CasesError(f"{path}: unknown key {key!r}{did_you_mean(str(key), _KEYS)} (known: reward, cases)")
    cases, reward = table.get("cases") or [], table.get("reward")
    if not isinstance(cases, list):
        raise CasesError(f"{path}: 'cases' must be a list, got {type(cases).__name__}")
    if reward is not None and not isinstance(reward, str):
        raise CasesError(f"{path}: 'reward' must be a spec such as 'rewards.py:name', got {type(reward).__name__}")
    numbered = enumerate(cases, start=1)
    return Sheet([_parse_row(path, n, lines[n - 1] if lines else None, case) for n, case in numbered], reward)


def _parse_row(path: Path, number: int, line: int | None, plain: Any) -> Row:
    where = f"{path}, case {number}" if line is None else f"{path}:{line}"
    if not isinstance(plain, dict) or not all(isinstance(name, str) for name in plain):
        raise CasesError(f"{where}: a case is a mapping of column names to values, got {plain!r:.60}")
    return Row(number, line, plain)


def _parse_csv_cells(where: str, cells: dict[str | Any, Any]) -> dict[str, Any]:
    if None in cells:
        raise CasesError(f"{where}: more cells than columns; put quotes around texts that hold commas")
    filled = {name: text for name, text in cells.items() if text or (name == "response" and text is not None)}
    if "metadata" in filled:
        try:
            filled["metadata"] = jsonline.decode(filled["metadata"].encode())
        except jsonline.InvalidJSON as error:
            raise CasesError(f"{where}: metadata must be a JSON object: {error}") from None
    return filled
