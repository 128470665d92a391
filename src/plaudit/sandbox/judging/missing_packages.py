"""Whether a program failed because a package that exists is not in the sandbox.

Only known packages, and modules of the standard library that are not offered, count, and only if the program's text
imports them: a made-up name is the program's failure, or a policy would learn to import nonsense where it has no
answer. An import that is never used is left out of the program.
"""

import ast
import io
import re
import sys
from collections.abc import Collection
from functools import lru_cache

from plaudit.sandbox.judging.plan.modules import KNOWN_PACKAGES
from plaudit.sandbox.outcome import Outcome

__all__ = ["NOT_OFFERED", "drop_unused_imports", "import_failure", "missing_package"]

NOT_OFFERED = frozenset({
    "ssl", "curses", "readline", "tkinter", "turtle", "turtledemo", "idlelib", "ensurepip", "venv", "lib2to3", "nis",
    "ossaudiodev", "spwd", "syslog",
})  # fmt: skip
KNOWN = KNOWN_PACKAGES | NOT_OFFERED

IMPORTS = re.compile(rf"^\s*(?:import|from)\s+.*\b(?:{'|'.join(sorted(KNOWN))})\b", re.MULTILINE)
BY_NAME = {"eval", "exec", "globals", "locals", "vars"}  # who calls these may use what no name says


def drop_unused_imports(source: str, present: Collection[str] = ()) -> str:
    """A program without its imports of known packages that are not `present` and that it never uses.

    Lines keep their numbers. An import within a `try` stays, since what follows may depend on how it ends.
    """
    if not IMPORTS.search(source):
        return source
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if used & BY_NAME:
        return source
    guarded = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    lines = io.StringIO(source, newline="").readlines()  # as the parser counts them
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded]
    for node in sorted(imports, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        kept = [alias for alias in node.names if not _is_unused(node, alias, used, present)]
        if len(kept) < len(node.names):
            _replace(lines, node, kept)
    return "".join(lines)


def _is_unused(node: ast.Import | ast.ImportFrom, alias: ast.alias, used: set[str], present: Collection[str]) -> bool:
    module = alias.name if isinstance(node, ast.Import) else "" if node.level else node.module or ""
    top = module.partition(".")[0]
    name = alias.asname or alias.name.partition(".")[0]
    return top in KNOWN and top not in present and name != "*" and name not in used


def _replace(lines: list[str], node: ast.Import | ast.ImportFrom, kept: list[ast.alias]) -> None:
    """Put a shorter import, or nothing, in the place of one."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    node.names = kept
    lines[first] = before + (ast.unparse(node) if kept else "pass") + after
    lines[first + 1 : last + 1] = ["\n"] * (last - first)


def missing_package(source: str, *failures: str) -> str:
    """The package that a program imports and the sandbox lacks, from the messages of failed imports; empty if none."""
    if not any(failures):
        return ""
    imported = _imports(source)
    for failure in failures:
        top = failure.removeprefix("No module named ").strip("'\"").partition(".")[0]
        if top in KNOWN and top in imported:
            return top
        if top in sys.stdlib_module_names:  # a part of a module that is not offered, such as `_ssl`
            return min(imported & NOT_OFFERED, default="")
    return ""


def import_failure(outcome: Outcome) -> str:
    """What a failed import said, if that is how a program ended."""
    error = outcome.error
    if error is None or error.name not in ("ModuleNotFoundError", "ImportError"):
        return ""
    return error.message


@lru_cache(maxsize=16)
def _imports(source: str) -> frozenset[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return frozenset(name.partition(".")[0] for name in names)
