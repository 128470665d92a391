"""Which names in a test text stand for the program's functions, and where the others come from.

Only names that nothing else explains may be the program's: a name that the tests, the data set's prompt, Python or its
library define is never taken from the program, or a program could bring its own `sorted`, `math` or `check`.
"""

import ast
import builtins
import importlib
import symtable
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plaudit.errors import InvalidTrajectory

__all__ = [
    "LIBRARY",
    "OpenNames",
    "bare_imports",
    "helpers_in",
    "library",
    "parse_tests",
    "with_prefix",
    "open_names",
    "top_level_names",
]

BUILTINS = frozenset(dir(builtins))
LIBRARY = {
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"), "collections"),
    **dict.fromkeys(("Any", "Callable", "Dict", "Iterable", "List", "Optional", "Set", "Tuple", "Union"), "typing"),
    "Decimal": "decimal",
    "Fraction": "fractions",
    "datetime": "datetime",
    "reduce": "functools",
    **dict.fromkeys(("permutations", "combinations", "product"), "itertools"),
}
ALIASES = {"np": "numpy", "pd": "pandas"}


@dataclass(frozen=True, slots=True)
class OpenNames:
    """The names that a test text leaves open: the program's functions, and modules it forgot to import."""

    __test__ = False

    program: tuple[str, ...]
    modules: tuple[str, ...]


@lru_cache(maxsize=512)
def parse_tests(text: str, what: str = "the tests") -> ast.Module:
    """The syntax tree of a trusted text, or InvalidTrajectory that says where it breaks."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidTrajectory(f"{what} cannot be parsed: {error}") from None


@lru_cache(maxsize=512)
def open_names(
    text: str, entry_point: str | None, explained: frozenset[str] = frozenset(), *, imported: bool = False
) -> OpenNames:
    """What `text` leaves open, given the names `explained` elsewhere; `imported`: it imports the program by name."""
    tree = parse_tests(text)
    free, used_builtins = _free_names(text)
    free -= explained
    modules = {
        name for name in free if (name in sys.stdlib_module_names or name in ALIASES) and not _is_called(tree, name)
    }
    modules |= {name for name in free if name in LIBRARY and name != entry_point}
    program = free - modules
    if entry_point:
        program.add(entry_point.partition(".")[0].partition("(")[0])
    elif not program and not imported:
        program |= _builtins_meant(tree, used_builtins)
    return OpenNames(tuple(sorted(program)), tuple(sorted(modules)))


def library(names: tuple[str, ...]) -> dict[str, Any]:
    """What stands behind the modules and names that a test text uses without importing them."""
    found: dict[str, Any] = {}
    for name in names:
        module = importlib.import_module(LIBRARY.get(name) or ALIASES.get(name, name))
        found[name] = getattr(module, name) if name in LIBRARY else module
    return found


def top_level_names(text: str) -> frozenset[str]:
    """The names that a text defines at its top."""
    top = symtable.symtable(text, "<setup>", "exec")
    return frozenset(s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace())


def helpers_in(prompt: str, entry_point: str | None) -> str:
    """The part of the data set's code that tests may lean on: all but the stubs that the program is to fill."""
    if not prompt.strip():
        return ""
    try:
        tree = ast.parse(prompt)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # a prompt in words, or one that ends within a function: no helpers to be had
    kept = [node for node in tree.body if _is_helper(node, entry_point)]
    return ast.unparse(ast.Module(kept, []))


@lru_cache(maxsize=512)
def bare_imports(text: str) -> str:
    """The import statements among the top-level statements of a text, and nothing else of it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    kept = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return ast.unparse(ast.Module(list(kept), []))


def with_prefix(prefix: str, source: str) -> str:
    """A program with lines put before it, but behind what must be the first: imports from __future__."""
    if not prefix.strip():
        return source
    future = [line for line in source.split("\n") if line.startswith("from __future__ import")]
    rest = "\n".join(line for line in source.split("\n") if line not in future) if future else source
    return "\n".join([*future, prefix, rest])


def _free_names(text: str) -> tuple[set[str], set[str]]:
    """Names that are read from the module's scope but bound nowhere in it: unknown ones, and built-in ones."""
    top = symtable.symtable(text, "<tests>", "exec")
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    read: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        read |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top)}
        bound |= {s.get_name() for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    free = {name for name in read - bound if not (name.startswith("__") and name.endswith("__"))}
    return free - BUILTINS, free & BUILTINS


def _is_called(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for node in ast.walk(tree)
    )


def _builtins_meant(tree: ast.Module, used: set[str]) -> set[str]:
    """Where tests call nothing but one built-in name, the program is to define a function of that name."""
    called = {name for name in used if _is_called(tree, name)}
    if len(called) > 1:
        raise InvalidTrajectory(
            f"the tests call only built-in names ({', '.join(sorted(called))}); say which one the program defines: "
            "'entry_point'"
        )
    return called


def _is_helper(node: ast.stmt, entry_point: str | None) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name != entry_point and not _is_stub(node)
    if isinstance(node, ast.ClassDef):
        return node.name != entry_point and not all(_is_stub(part) for part in node.body)
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)


def _is_stub(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return all(_is_stub(part) for part in node.body)
    if isinstance(node, ast.Raise):
        return "NotImplementedError" in ast.unparse(node)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
