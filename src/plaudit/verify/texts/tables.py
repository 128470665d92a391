"""How many cells of a table are right? The F1 of cells, rows and columns in any order."""

import csv
import html
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.final_answer import normal_words
from plaudit.verify.fences import find_fences
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import need_truth
from plaudit.verify.tags import find_blocks
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_CELLS = 20_000
MOST_ROWS_MATCHED = 200
LONGEST_TEXT = 500_000
_RULE = compile_late(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_EMPHASIS = compile_late(r"\*+|`|__")
_HTML_ROW = compile_late(r"<tr\b[^<>]*>(.*?)(?:</tr>|(?=<tr\b)|\Z)", re.IGNORECASE | re.DOTALL)
_HTML_CELL = compile_late(r"<t[hd]\b[^<>]*>(.*?)(?:</t[hd]>|(?=<t[hd]\b)|\Z)", re.IGNORECASE | re.DOTALL)
_HTML_TAG = compile_late(r"<[^<>]*>")
_BAR = compile_late(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Table:
    """The names of columns, and rows as columns with comparable cells."""

    columns: tuple[str, ...]
    rows: tuple[frozenset[tuple[str, str]], ...]

    @property
    def cells(self) -> int:
        """The number of cells of the rows."""
        return len(self.columns) * len(self.rows)


@dataclass(frozen=True, repr=False)
class TableF1(Verifier[Table]):
    """The F1 of the cells of a table against those of the ground truth; rows and columns may have any order."""

    kind: ClassVar[str] = "table_f1"

    def read(self, sample: Trajectory) -> Table:
        truth = need_truth(sample, "table")
        table = read_table(truth) if isinstance(truth, str) else _of_data(truth)
        if table is None or not table.rows:
            raise InvalidTrajectory(f"the ground truth is a table with a header and rows, got {truth!r:.60}")
        return table

    def judge(self, task: Table, answer: Answer) -> Verdict:
        table = read_table(answer.text)
        if table is None or not table.rows:
            return Verdict(0.0, "not one table with a header and rows")
        shared = _shared_cells(table, task)
        score = 2 * shared / (table.cells + task.cells)
        details = {"precision": shared / table.cells, "recall": shared / task.cells}
        return Verdict(score, f"{shared} of {task.cells} cells, {table.cells} given", details=details)


def read_table(text: str) -> Table | None:
    """The only table of a text; None where there is none, or several."""
    if len(text) > LONGEST_TEXT:
        return None
    tables = [_build(table[0], table[1:]) for table in find_markdown_tables(text)]
    tables += [_of_html(element.text) for element in find_blocks(text, "table")]
    if tables:
        return tables[0] if len(tables) == 1 else None
    blocks = find_fences(text).closed
    if len(blocks) > 1:
        return None
    whole = (blocks[0].text if blocks else text).strip()
    return _of_json(whole) if whole[:1] in ("[", "{") else _of_csv(whole)


def find_markdown_tables(text: str) -> list[list[list[str]]]:
    """The markdown tables of a text as rows of cells, the header first."""
    lines = text.split("\n")
    tables = []
    for number in range(1, len(lines)):
        if "|" in lines[number - 1] and "-" in lines[number] and _RULE.fullmatch(lines[number]):
            end = number + 1
            while end < len(lines) and "|" in lines[end]:
                end += 1
            tables.append([_bar_cells(line) for line in [lines[number - 1], *lines[number + 1 : end]]])
    return tables


def _bar_cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|") for cell in _BAR.split(line.strip().removeprefix("|").removesuffix("|"))]


def _of_html(text: str) -> Table | None:
    """The rows of an HTML table, of which the first is the header; merged cells make no table here."""
    rows = [
        [html.unescape(_HTML_TAG.sub("", cell)) for cell in _HTML_CELL.findall(row)] for row in _HTML_ROW.findall(text)
    ]
    return _build(rows[0], rows[1:]) if rows else None


def _of_csv(text: str) -> Table | None:
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((mark for mark in "\t;," if lines and mark in lines[0]), None)
    if separator is None:
        return None
    try:
        listed = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return None
    return _build(listed[0], listed[1:])


def _of_json(text: str) -> Table | None:
    try:
        return _of_data(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _of_data(data: Any) -> Table | None:
    if not isinstance(data, list) or not data:
        return None
    if all(isinstance(row, Mapping) for row in data):
        columns = list(dict.fromkeys(str(name) for row in data for name in row))
        return _build(columns, [[row.get(name) for name in columns] for row in data])
    if all(isinstance(row, list) for row in data):
        return _build(data[0], data[1:])
    return None


def _build(header: list[Any], rows: list[list[Any]]) -> Table | None:
    """A table of rows that are as long as the header, with columns of different names; else None."""
    columns = [" ".join(normal_words(_EMPHASIS.sub("", str(name)))) for name in header]
    if not columns or not all(columns) or len(set(columns)) != len(columns) or len(columns) * len(rows) > MOST_CELLS:
        return None
    if any(len(row) != len(columns) or any(isinstance(cell, list | dict) for cell in row) for row in rows):
        return None
    return Table(tuple(columns), tuple(frozenset(zip(columns, map(_comparable, row), strict=True)) for row in rows))


def _comparable(cell: Any) -> str:
    """A cell for comparison: numbers by value, texts in their normal form; nothing is the empty text."""
    text = "" if cell is None else _EMPHASIS.sub("", str(cell))
    plain = " ".join(normal_words(text))
    try:
        number = float(plain)
    except ValueError:
        return plain
    return repr(number) if math.isfinite(number) else plain


def _shared_cells(table: Table, other: Table) -> int:
    """Equal cells when rows are matched one to one: equal rows first, then the most alike."""
    equal = Counter(table.rows) & Counter(other.rows)
    shared = sum(len(row) * count for row, count in equal.items())
    left = list((Counter(table.rows) - equal).elements())[:MOST_ROWS_MATCHED]
    right = list((Counter(other.rows) - equal).elements())[:MOST_ROWS_MATCHED]
    pairs = [(len(one & two), i, j) for i, one in enumerate(left) for j, two in enumerate(right)]
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    for alike, i, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if i not in taken_left and j not in taken_right:
            shared += alike
            taken_left.add(i)
            taken_right.add(j)
    return shared
