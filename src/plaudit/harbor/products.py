"""The files that a solution leaves, and versions of them: stubs, mutants, and other ways to write the same."""

import ast
import hashlib
import io
import json
import random
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["Product", "Products", "Version", "products_of", "read_archive"]

MOST_BYTES = 1 << 18
MOST_MUTANTS = 12
PROGRAMS = (".awk", ".c", ".js", ".pl", ".rb", ".sed", ".sql")
SQLITE = b"SQLite format 3\0"
_SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Mult,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_QUIET = re.compile(r"\s*(?:#|set\s|echo\b.*>&2|cd\s|mkdir\s|export\s|trap\s|fi$|done$|else$|then$|esac$|\}|$)")


@dataclass(frozen=True, slots=True)
class Version:
    """Another content of a product, what was changed, and the value that stood there, where it is data."""

    change: str
    content: bytes
    value: str = ""

    def is_wrong(self, known: str) -> bool:
        """Whether the task determines the value: a number does not change freely, nor do words that the task has."""
        words = re.findall(r"\w+", self.value)
        return any(word.isdecimal() for word in words) or all(re.search(rf"\b{word}\b", known) for word in words)


@dataclass(frozen=True, slots=True)
class Product:
    """A file that the solution wrote."""

    path: str
    content: bytes

    @property
    def language(self) -> str:
        head = self.content[:60]
        if self.path.endswith(".py") or (head.startswith(b"#!") and b"python" in head.splitlines()[0]):
            return "python"
        if self.path.endswith((".sh", ".bash")) or (head.startswith(b"#!") and b"sh" in head.splitlines()[0]):
            return "shell"
        if self.content.startswith(SQLITE):
            return "sqlite"
        return "json" if self.path.endswith(".json") else "text" if self._is_text() else "binary"

    @property
    def is_program(self) -> bool:
        """Whether the verifier may run or import it."""
        return self.language in ("python", "shell") or PurePosixPath(self.path).suffix in PROGRAMS

    def _is_text(self) -> bool:
        try:
            self.content.decode()
        except UnicodeDecodeError:
            return False
        return b"\0" not in self.content

    @property
    def tree(self) -> ast.Module | None:
        if self.language != "python":
            return None
        try:
            return ast.parse(self.content)
        except (SyntaxError, ValueError):
            return None

    @property
    def reads_input(self) -> bool:
        """Whether the result of the program depends on what it is given, as far as its text tells."""
        text = self.content.decode(errors="replace")
        if self.tree is not None:
            takes = any(node.args.args for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
            return takes or bool(re.search(r"\b(?:argv|stdin|input\(|open\(|read)", text))
        return self.language == "shell" and bool(re.search(r"\$\{?[1@*]|\bread\b|\bcat\b|<", text))

    @property
    def blob(self) -> str:
        """The name of the content in a git repository."""
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content, usedforsecurity=False).hexdigest()

    def with_constant(self, constant: str) -> bytes | None:
        """A program that gives one value, whatever it is asked; None for a file that is no program."""
        value = ast.literal_eval(constant)
        if self.tree is not None:
            tree = self.tree
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
            if not functions:
                return f"print({value!r})\n".encode()
            for node in functions:
                node.body = [
                    ast.Return(
                        ast.Constant(value) if not isinstance(value, list) else ast.parse(repr(value), mode="eval").body
                    )
                ]
            return ast.unparse(ast.fix_missing_locations(tree)).encode() + b"\n"
        if self.language == "shell":
            text = "" if value in (None, "") else str(value)
            return f"#!/bin/bash\nprintf '%s\\n' {json.dumps(text)}\nexit 0\n".encode()
        return None

    def stuffed(self, junk: str, literals: list[str]) -> bytes:
        """A file that holds every text that tests look for, and prints them where it is a program."""
        lines = [junk, *literals]
        if self.language == "python":
            names = {
                node.name for node in ast.walk(self.tree or ast.Module([], [])) if isinstance(node, ast.FunctionDef)
            }
            functions = "".join(f"def {name}(*_, **__):\n    return {lines[-1]!r}\n" for name in sorted(names))
            comments = "".join(f"# {line}\n" for line in lines)
            return f"{comments}{functions}if __name__ == '__main__':\n    print({chr(10).join(lines)!r})\n".encode()
        if self.language == "shell":
            comments = "".join(f"# {line}\n" for line in lines)
            return f"#!/bin/bash\n{comments}cat <<'PLAUDIT'\n{chr(10).join(lines)}\nPLAUDIT\n".encode()
        return ("\n".join([*lines, junk]) + "\n").encode()

    def mutants(self, instruction: str) -> list[Version]:
        """Versions that are wrong, spread evenly over the file."""
        makers = {
            "python": self._python_mutants,
            "shell": self._shell_mutants,
            "json": self._json_mutants,
            "text": self._text_mutants,
            "sqlite": self._sqlite_mutants,
        }
        if self.language not in makers:
            return []
        versions = [each for each in makers[self.language](instruction) if each.content.strip() != self.content.strip()]
        step = max(1, -(-len(versions) // MOST_MUTANTS))
        return versions[::step]

    def _python_mutants(self, instruction: str) -> Iterator[Version]:
        if self.tree is None:
            return
        for index in range(sum(1 for _ in ast.walk(self.tree))):
            tree = ast.parse(self.content)
            node = next(each for position, each in enumerate(ast.walk(tree)) if position == index)
            change = _mutate(node)
            if change:
                line = getattr(node, "lineno", 0)
                yield Version(f"line {line}: {change}", ast.unparse(ast.fix_missing_locations(tree)).encode() + b"\n")

    def _shell_mutants(self, instruction: str) -> Iterator[Version]:
        lines = self.content.decode(errors="replace").splitlines()
        for index, line in enumerate(lines):
            if not _QUIET.match(line) and not line.startswith("#!"):
                yield Version(
                    f"line {index + 1} removed", "\n".join([*lines[:index], ":", *lines[index + 1 :], ""]).encode()
                )

    def _json_mutants(self, instruction: str) -> Iterator[Version]:
        try:
            value = json.loads(self.content)
        except ValueError:
            return
        for path in _leaves(value):
            names = [str(part) for part in path if isinstance(part, str)]
            if not names or names[-1] in instruction:
                changed = json.loads(self.content)
                holder = changed
                for part in path[:-1]:
                    holder = holder[part]
                original = holder[path[-1]] if path else value
                if path:
                    holder[path[-1]] = _other(original)
                content = json.dumps(changed if path else _other(value), indent=2).encode()
                yield Version(
                    f"{'.'.join(map(str, path))} changed", content, original if isinstance(original, str) else ""
                )

    def _text_mutants(self, instruction: str) -> Iterator[Version]:
        text = self.content.decode(errors="replace")
        numbers = list(re.finditer(r"\d+", text))
        for match in {each.start(): each for each in numbers[:1] + numbers[-1:]}.values():
            yield Version(
                f"the number {match[0]} changed",
                f"{text[: match.start()]}{int(match[0]) + 1}{text[match.end() :]}".encode(),
            )
        if re.fullmatch(r"\s*-?\d+\s*", text):
            yield Version("a digit added", f"{text.strip()}7\n".encode())
        if re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
            yield Version("the number became nan", b"nan\n")
        lines = text.splitlines(keepends=True)
        if len(lines) > 1:
            yield Version("the last line removed", "".join(lines[:-1]).encode(), lines[-1])
        if not numbers and len(lines) == 1:
            yield Version("the text reversed", text.strip()[::-1].encode() + b"\n", text)

    def _sqlite_mutants(self, instruction: str) -> Iterator[Version]:
        """A value of each column changed, and a row removed, in each table."""
        for table, columns in _read_tables(self.content).items():
            row = f'rowid = (SELECT max(rowid) FROM "{table}")'
            for column in columns:
                other = f"""CASE typeof("{column}") WHEN 'text' THEN "{column}" || 'x' ELSE "{column}" + 1 END"""
                change = f'UPDATE "{table}" SET "{column}" = {other} WHERE {row}'
                yield Version(f"{table}.{column} changed", _change_database(self.content, change))
            yield Version(
                f"a row of {table} removed", _change_database(self.content, f'DELETE FROM "{table}" WHERE {row}')
            )

    def equivalents(self) -> list[Version]:
        """The same content written in another way."""
        if self.language == "sqlite":
            change = "PRAGMA page_size = 8192; VACUUM"
            return [Version("written with other pages", _change_database(self.content, change))]
        if self.language == "python" and self.tree is not None:
            versions = [Version("formatted anew, without comments", ast.unparse(self.tree).encode() + b"\n")]
            return [*versions, *_renamed(self.content), *_reordered(self.content)]
        if self.language == "shell":
            first, _, rest = self.content.decode(errors="replace").partition("\n")
            if first.startswith("#!"):
                return [
                    Version(
                        "a comment and blank lines added", f"{first}\n# written in another way\n\n{rest}\n".encode()
                    )
                ]
        if self.language == "json":
            try:
                value = json.loads(self.content)
            except ValueError:
                return []
            return [
                Version("written without spaces", json.dumps(value, separators=(",", ":")).encode()),
                Version(
                    "written with indents, keys in reverse order",
                    json.dumps(_reversed_keys(value), indent=4).encode() + b"\n",
                ),
            ]
        return []


@dataclass(frozen=True, slots=True)
class Products:
    """All files that the solution wrote, and those that the instruction asks for."""

    files: list[Product]
    required: list[Product]


def products_of(before: bytes, after: bytes, instruction: str) -> Products:
    """What differs between two archives of a workspace, before and after the solution ran."""
    old = read_archive(before)
    files = [
        Product(path, content)
        for path, content in read_archive(after).items()
        if old.get(path) != content
        and len(content) <= MOST_BYTES
        and "__pycache__" not in path
        and "/.git/" not in path
    ]
    named = [each for each in files if each.path.rpartition("/")[2] in instruction]
    return Products(files, named or (files if len(files) == 1 else []))


def read_archive(archive: bytes) -> dict[str, bytes]:
    """The regular files of an archive by absolute path."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            source = opened.extractfile(member) if member.isreg() else None
            if source is not None:
                files[f"/{member.name.lstrip('./')}" if not member.name.startswith("/") else member.name] = (
                    source.read()
                )
    return files


def _read_tables(content: bytes) -> dict[str, list[str]]:
    """The columns of each table of a database; none if it cannot be read."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'"
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.deserialize(content)
        names = [name for (name,) in database.execute(query) if not name.startswith("sqlite_")]
        return {name: [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')] for name in names}
    return {}


def _change_database(content: bytes, change: str) -> bytes:
    """The database after a script; unchanged where the script fails."""
    with closing(sqlite3.connect(":memory:")) as database, suppress(sqlite3.Error):
        database.deserialize(content)
        database.executescript(change)
        return database.serialize()
    return content


def _mutate(node: ast.AST) -> str:
    """Change one node in place; what was changed, or nothing."""
    match node:
        case ast.BinOp() | ast.BoolOp() if type(node.op) in _SWAPS and not isinstance(
            getattr(node, "left", None), ast.JoinedStr
        ):
            old, node.op = type(node.op).__name__, _SWAPS[type(node.op)]()
            return f"{old} became {type(node.op).__name__}"
        case ast.Compare(ops=[operator]) if type(operator) in _SWAPS and not _is_main(node):
            node.ops = [_SWAPS[type(operator)]()]
            return f"{type(operator).__name__} became {type(node.ops[0]).__name__}"
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            node.value = ast.Constant(None)
            return "returns None"
        case ast.If() if not _is_main(node.test):
            node.test = ast.UnaryOp(ast.Not(), node.test)
            return "condition negated"
        case ast.Constant(value=bool() as value):
            node.value = not value
            return f"{value} became {not value}"
        case ast.Constant(value=int() as value):
            node.value = value + 1
            return f"{value} became {value + 1}"
    return ""


def _is_main(node: ast.AST) -> bool:
    return "__name__" in ast.unparse(node)


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    children: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    if not children and not isinstance(value, dict | list):
        yield path
    for name, child in children:
        yield from _leaves(child, (*path, name))


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value[::-1]}x" if isinstance(value, str) else 1


def _reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {name: _reversed_keys(value[name]) for name in reversed(list(value))}
    return [_reversed_keys(each) for each in value] if isinstance(value, list) else value


def _renamed(content: bytes) -> list[Version]:
    """Local variables of functions under other names."""
    tree = ast.parse(content)
    if any(
        isinstance(node, ast.Global | ast.Nonlocal)
        or (isinstance(node, ast.Name) and node.id in ("locals", "eval", "exec"))
        for node in ast.walk(tree)
    ):
        return []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        bound = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        parameters = {
            each.arg
            for node in ast.walk(function)
            if isinstance(node, ast.arguments)
            for each in [*node.args, *node.kwonlyargs, *node.posonlyargs]
        }
        names = {name: f"{name}_renamed" for name in bound - parameters}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in names:
                node.id = names[node.id]
    return [Version("local variables renamed", ast.unparse(tree).encode() + b"\n")]


def _reordered(content: bytes) -> list[Version]:
    """Functions without decorators and defaults in another order."""
    tree = ast.parse(content)
    places = [
        index
        for index, node in enumerate(tree.body)
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.args.defaults
    ]
    if len(places) < 2 or any(
        not isinstance(tree.body[index], ast.FunctionDef) for index in range(places[0], places[-1])
    ):
        return []
    moved = [tree.body[index] for index in places]
    random.Random(0).shuffle(moved)
    for index, node in zip(places, moved, strict=True):
        tree.body[index] = node
    return [Version("functions in another order", ast.unparse(tree).encode() + b"\n")]
