"""Versions of a file that are wrong: one value, line, row, member, operator or mode changed, or a change undone."""

import ast
import copy
import gzip
import io
import json
import math
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from plaudit.harbor.audit.hiding import read_members
from plaudit.harbor.audit.products import Product, Version
from plaudit.harbor.workspace import pack

MOST_MUTANTS, MOST_CUTS, MOST_OF_A_MEMBER, MOST_PLACES = 14, 10, 3, 4
_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_KEPT = (ast.Return, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
_QUIET = re.compile(r"\s*(?:#|set\s|echo\b.*>&2|cd\s|mkdir\s|export\s|trap\s|fi$|done$|else$|then$|esac$|\}|$)")
_NUMBER = re.compile(r"(?<![A-Za-z])\d+")
_COMMENT = re.compile(r"\s*(?:#|;|//|--|<!)")
_ORDERED = re.compile(
    r"\b(?:sort|rank|ascending|descending|alphabetical|chronological|in (?:the )?order of)", re.IGNORECASE
)
_UNORDERED = re.compile(r"\bany order|order[^.]*\b(?:free|not matter|irrelevant)", re.IGNORECASE)
_UNIQUE = re.compile(r"\b(?:unique|distinct|duplicates?|once|different)\b", re.IGNORECASE)
# Tokens of other languages, and what stands there in a mutant.
_TOKENS = {
    "==": "!=", "!=": "==", "<=": ">", ">=": "<", "&&": "||", "||": "&&", " < ": " >= ", " > ": " <= ", " + ": " - ",
    " - ": " + ", " * ": " + ", " / ": " * ", " % ": " * ", "+=": "-=", "++": "--", "SUM(": "MAX(", "COUNT(": "MAX(",
    "AVG(": "MAX(", "MAX(": "MIN(", "MIN(": "MAX(", " DESC": " ASC", " AND ": " OR ", " OR ": " AND ",
    " JOIN ": " LEFT JOIN ", "DISTINCT ": "", "true": "false", "false": "true", " -lt ": " -ge ",
    " -gt ": " -le ", " -le ": " -gt ", " -ge ": " -lt ", " -eq ": " -ne ", " -ne ": " -eq ",
}  # fmt: skip
_TOKEN = re.compile(
    "|".join(map(re.escape, sorted(_TOKENS, key=len, reverse=True))) + r"|(?<![\w.])\d+(?![\w.])", re.IGNORECASE
)


def mutants_of(product: Product, instruction: str, most: int = MOST_MUTANTS) -> list[Version]:
    """Versions that are wrong, spread evenly over the file."""
    makers: dict[str, Callable[[Product, str], Iterator[Version]]] = {
        "python": _python_mutants,
        "shell": _shell_mutants,
        "program": _program_mutants,
        "json": _json_mutants,
        "text": _text_mutants,
        "sqlite": _sqlite_mutants,
        "archive": _archive_mutants,
    }
    if product.language not in makers:
        return []
    unique: dict[bytes, Version] = {}
    for each in makers[product.language](product, instruction):
        if each.content.strip() != product.content.strip():
            unique.setdefault(each.content, each)
    cuts = [each for each in unique.values() if each.is_cut]
    return [*_spread([each for each in unique.values() if not each.is_cut], most), *_spread(cuts, min(most, MOST_CUTS))]


def _program_mutants(product: Product, instruction: str) -> Iterator[Version]:
    """An operator or number changed in a language that is not parsed."""
    text = product.content.decode(errors="replace")
    for match in _TOKEN.finditer(text):
        other = str(int(match[0]) + 1) if match[0].isdecimal() else _TOKENS.get(match[0].upper(), _TOKENS.get(match[0]))
        if other is not None:
            line = text.count("\n", 0, match.start()) + 1
            content = f"{text[: match.start()]}{other}{text[match.end() :]}".encode()
            yield Version(f"line {line}: {match[0].strip()} became {other.strip() or 'nothing'}", content)


def _text_mutants(product: Product, instruction: str) -> Iterator[Version]:
    text = product.content.decode(errors="replace")
    numbers = list(_NUMBER.finditer(text))
    for match in _spread(numbers):
        content = f"{text[: match.start()]}{int(match[0]) + 1}{text[match.end() :]}".encode()
        yield Version(f"the number {match[0]} changed", content)
    if re.fullmatch(r"\s*-?\d+\s*", text):
        yield Version("a digit added", f"{text.strip()}7\n".encode())
    if re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
        yield Version("the number became nan", b"nan\n")
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and not text.lstrip().startswith("<"):  # words of markup are no data
        yield from _line_mutants(lines, instruction)
    if not numbers and len(lines) == 1:
        yield Version("the text reversed", text.strip()[::-1].encode() + b"\n", text)


def _line_mutants(lines: list[str], instruction: str) -> Iterator[Version]:
    """A cell, a word or a line changed; an order or a uniqueness lost that the instruction asks for."""
    head, rows = split_header(lines)
    delimiter = next((each for each in ",;\t|" if rows and len({row.count(each) for row in rows} | {0}) == 2), None)
    for index, line in _spread([(i, row) for i, row in enumerate(rows) if row.strip() and not _COMMENT.match(row)]):
        yield Version(f"line {index + len(head) + 1} removed", _joined(head, rows, index, ""), line)
        cells = line.rstrip("\n").split(delimiter) if delimiter else [line.rstrip("\n")]
        for column, cell in enumerate(cells):
            changed = _other_text(cell)
            row = (delimiter or "").join([*cells[:column], changed, *cells[column + 1 :]]) + "\n"
            place = f"line {index + len(head) + 1}" + (f", column {column + 1}" if delimiter else "")
            yield Version(f"{place} changed", _joined(head, rows, index, row), cell)
    if asks_for_order(instruction):
        yield Version("lines in reverse order", "".join([*head, *reversed(rows)]).encode())
    if head:
        yield Version("the header removed", "".join(rows).encode(), head[0])
    if len(rows) > 1 and all(map(_NUMBER.search, rows)):
        last = rows[-1].rstrip("\n")
        yield Version(
            "a line added", "".join([*head, *rows[:-1], f"{last}\n", f"{_other_text(last)}\n"]).encode(), last
        )
    if _UNIQUE.search(instruction):
        yield Version("the last line twice", "".join([*lines, lines[-1]]).encode(), lines[-1])


def split_header(lines: list[str]) -> tuple[list[str], list[str]]:
    """The header of a table, if it has one, and its rows."""
    count = int("," in lines[0] and not _NUMBER.search(lines[0]))
    return lines[:count], lines[count:]


def asks_for_order(instruction: str) -> bool:
    """Whether the instruction asks for a certain order."""
    return _ORDERED.search(" ".join(instruction.split())) is not None and not order_is_free(instruction)


def order_is_free(instruction: str) -> bool:
    """Whether the instruction says that rows may come in any order."""
    return _UNORDERED.search(" ".join(instruction.split())) is not None


def _joined(head: list[str], rows: list[str], index: int, row: str) -> bytes:
    return "".join([*head, *rows[:index], row, *rows[index + 1 :]]).encode()


def _other_text(cell: str) -> str:
    """A cell with its last number or word changed."""
    if number := re.search(r"\d+(?!.*\d)", cell):
        return f"{cell[: number.start()]}{int(number[0]) + 1}{cell[number.end() :]}"
    return re.sub(r"\w+(?=\W*$)", lambda match: f"{match[0][::-1]}x", cell)


def _spread(items: list[Any], most: int = MOST_PLACES) -> list[Any]:
    """The first, the last, and some between them."""
    if len(items) <= most:
        return items
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def _archive_mutants(product: Product, instruction: str) -> Iterator[Version]:
    """A member changed in one way, or removed."""
    members = read_members(product.content)
    for name, content in members.items():
        inner = Product(f"/{name}", content)
        changed = mutants_of(inner, instruction, MOST_OF_A_MEMBER) if inner.language != "archive" else []
        for version in [*changed, Version("emptied", b"")]:
            files = {**members, name: version.content}
            yield Version(f"{name} {version.change}", write_members(product.content, files), version.value)
        if len(members) > 1:
            rest = {other: text for other, text in members.items() if other != name}
            yield Version(f"{name} removed", write_members(product.content, rest))


def write_members(like: bytes, members: dict[str, bytes]) -> bytes:
    """An archive of the same kind with these files."""
    data = io.BytesIO()
    if zipfile.is_zipfile(io.BytesIO(like)):
        with zipfile.ZipFile(data, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return data.getvalue()
    packed = members["content"] if list(members) == ["content"] else pack(members)
    return gzip.compress(packed, mtime=0) if like.startswith(b"\x1f\x8b") else packed


def _read_columns(content: bytes) -> list[tuple[str, str]]:
    """The tables of a database with each of their columns; none if it cannot be read."""
    query = (
        "SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns "
        "WHERE tables.type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    )
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.deserialize(content)
        return database.execute(query).fetchall()
    return []


def change_database(content: bytes, change: str) -> bytes:
    """The database after a script; unchanged where the script fails."""
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.deserialize(content)
        database.executescript(change)
        return database.serialize()
    return content


def _edits(node: Any) -> Iterator[tuple[str, Any, bool]]:
    """The replacements of a node: the change, the new node, and whether a part was cut away."""
    text = ast.unparse(node) if isinstance(node, ast.If | ast.Compare) else ""
    if "__name__" in text.partition("\n")[0]:
        return
    operator, *more = getattr(node, "ops", [getattr(node, "op", None)])
    other = _SWAPS.get(type(operator))
    if other is not None and not more:
        operators = {"ops": [other()]} if isinstance(node, ast.Compare) else {"op": other()}
        yield f"{type(operator).__name__} became {other.__name__}", _with(node, **operators), False
    match node:
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield "returns None", _with(node, value=ast.Constant(None)), False
        case ast.If(test=test):
            yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), test)), False
        case ast.Constant(value=int() as value):
            new = not value if isinstance(value, bool) else value + 1
            yield f"{value} became {new}", ast.Constant(new), False
    if isinstance(node, ast.stmt) and not isinstance(node, _KEPT):
        yield "left out", ast.Pass(), True
    elif isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Load | None):
        place, arguments = (node.func, node.args) if isinstance(node, ast.Call) else (node, [])
        parts = [each for each in (*arguments, *ast.iter_child_nodes(place)) if isinstance(each, ast.expr)]
        if parts:
            yield f"{ast.unparse(node)[:40]} became {ast.unparse(parts[0])[:40]}", parts[0], True


def _with(node: Any, **fields: object) -> Any:
    """The node with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _changed_values(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    """Each value that holds no others: the names that lead to it, the value, and the whole with another one there."""
    if not isinstance(value, dict | list):
        yield path, value, _other(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield path, value, math.nan
        return
    if isinstance(value, list) and _is_sorted(value):
        yield path, value, value[::-1]
    for name, child in value.items() if isinstance(value, dict) else enumerate(value):
        for inner, old, other in _changed_values(child, (*path, name)):
            whole = value.copy()
            whole[name] = other
            yield inner, old, whole


def _is_sorted(items: list[Any]) -> bool:
    """Whether items are in the order of their values, or of one of their fields, and not all equal there."""
    names = items[0] if items and all(isinstance(each, dict) for each in items) else {}
    columns = [[each.get(name) for each in items] for name in names] or [items]
    with suppress(TypeError):
        return any(column != column[::-1] and column in (sorted(column), sorted(column)[::-1]) for column in columns)
    return False


def _has_nan(value: object) -> bool:
    return "NaN" in json.dumps(value)


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value[::-1]}x" if isinstance(value, str) else 1


def _python_mutants(product: Product, instruction: str) -> Iterator[Version]:
    """Programs in which one node is replaced."""
    tree = product.tree or ast.Module([], [])
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for index, old in enumerate(value if isinstance(value, list) else [value]):
                for change, new, is_cut in _edits(old) if isinstance(old, ast.AST) else ():
                    place = [*value[:index], new, *value[index + 1 :]] if isinstance(value, list) else new
                    setattr(parent, name, place)
                    with suppress(ValueError):  # no program has this form
                        content = product.write_python(tree)
                        yield Version(f"line {getattr(old, 'lineno', 0)}: {change}", content, is_cut=is_cut)
                setattr(parent, name, value)


def _shell_mutants(product: Product, instruction: str) -> Iterator[Version]:
    lines = product.content.decode(errors="replace").splitlines()
    for index, line in enumerate(lines):
        if not _QUIET.match(line) and not line.startswith("#!"):
            content = "\n".join([*lines[:index], ":", *lines[index + 1 :], ""]).encode()
            yield Version(f"line {index + 1} removed", content)
    for each in _program_mutants(product, instruction):
        yield replace(each, is_cut=True)


def _json_mutants(product: Product, instruction: str) -> Iterator[Version]:
    is_ordered = asks_for_order(instruction)
    with suppress(ValueError):
        for path, old, whole in _changed_values(json.loads(product.content)):
            names = [part for part in path if isinstance(part, str)]
            change = "in reverse order" if isinstance(old, list) else "became nan" if _has_nan(whole) else "changed"
            if (not names or names[-1] in instruction) and (is_ordered or not isinstance(old, list)):
                content = json.dumps(whole, indent=2).encode()
                name = ".".join(map(str, path)) or "the list"
                yield Version(f"{name} {change}", content, old if isinstance(old, str) else "")


def _sqlite_mutants(product: Product, instruction: str) -> Iterator[Version]:
    """A value of each column changed, and a row removed, in each table."""
    changes = {}
    for table, column in _read_columns(product.content):
        other = f"""CASE typeof("{column}") WHEN 'text' THEN "{column}" || 'x' ELSE "{column}" + 1 END"""
        changes[f"{table}.{column} changed"] = f'UPDATE "{table}" SET "{column}" = {other}', table
        changes[f"a row of {table} removed"] = f'DELETE FROM "{table}"', table
    for name, (change, table) in changes.items():
        script = f'{change} WHERE rowid = (SELECT max(rowid) FROM "{table}")'
        yield Version(name, change_database(product.content, script))
