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
from plaudit.sandbox.judging.rewriting.modules import ALIASES, STAND_INS, is_installed

__all__ = [
    "LIBRARY",
    "OpenNames",
    "bare_imports",
    "exception_names",
    "helpers_in",
    "library",
    "names_in",
    "parse_tests",
    "refuse_missing_imports",
    "with_prefix",
    "open_names",
    "top_level_names",
]

BUILTINS = frozenset(dir(builtins))


def _names_of(module: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), module)


# Names of the standard library that tests use as if they were imported.
LIBRARY = {
    **_names_of("collections", "ChainMap Counter OrderedDict defaultdict deque namedtuple"),
    **_names_of(
        "typing", "Any Callable Deque Dict Iterable Iterator List NamedTuple Optional Sequence Set Tuple Union"
    ),
    **_names_of(
        "math", "ceil comb cos exp factorial floor fsum gcd hypot inf isclose isfinite isinf isnan isqrt lcm log"
    ),
    **_names_of("math", "log10 log2 nan perm pi prod sin sqrt tan tau trunc"),
    **_names_of("copy", "deepcopy"),
    **_names_of("datetime", "date datetime timedelta timezone"),
    **_names_of("functools", "cache cmp_to_key lru_cache partial reduce"),
    **_names_of("itertools", "accumulate chain combinations groupby islice permutations product takewhile zip_longest"),
    **_names_of("heapq", "heapify heappop heappush nlargest nsmallest"),
    **_names_of("bisect", "bisect_left bisect_right insort"),
    **_names_of("statistics", "mean median mode pstdev stdev variance"),
    **_names_of("random", "randint randrange shuffle"),
    **_names_of("string", "ascii_letters ascii_lowercase ascii_uppercase digits punctuation"),
    **_names_of("contextlib", "redirect_stdout suppress"),
    **_names_of("io", "BytesIO StringIO"),
    **_names_of("decimal", "Decimal"),
    **_names_of("fractions", "Fraction"),
    **_names_of("unittest.mock", "Mock MagicMock patch"),
    **_names_of("dataclasses", "asdict astuple dataclass"),
    **_names_of("enum", "Enum IntEnum"),
}
RAISING = ("raises", "assertRaises", "assertRaisesRegex", "suppress")
CHECKING = ("assert", "approx", "check", "close", "equal", "expect", "verif", "valid", "same")


@dataclass(frozen=True, slots=True)
class OpenNames:
    """The names that a test text leaves open: the program's functions, and modules it forgot to import."""

    __test__ = False

    program: tuple[str, ...]
    modules: tuple[str, ...]


@lru_cache(maxsize=8)
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
    entry = entry_point.partition(".")[0].partition("(")[0] if entry_point else None
    others = {name for name in free - modules - {entry} if name not in LIBRARY}
    known = {name for name in free - modules - {entry} if name in LIBRARY}
    if entry is None and not others and len(known) == 1 and not imported:
        others, known = known, set()  # nothing else can be meant
    program = others | ({entry} if entry else set())
    exceptions = exception_names(tree)
    unknown = {name for name in others if name not in exceptions and not _is_program_name(tree, name, others, entry)}
    if unknown:
        raise InvalidTrajectory(
            f"the tests use {', '.join(sorted(unknown))}, which neither they nor the data set define; if the program "
            "is to define it, name it as 'entry_point', else give its code as 'prompt'"
        )
    if not program and not imported:
        program |= _builtins_meant(tree, used_builtins)
    return OpenNames(tuple(sorted(program)), tuple(sorted(modules | known)))


def _is_program_name(tree: ast.Module, name: str, others: set[str], entry: str | None) -> bool:
    """Whether a name that nothing explains may be the program's: one that grades what another gives may not."""
    if _is_class_name(name):
        return True  # which stands for itself
    functions = {other for other in others if not _is_class_name(other)}
    if entry is not None or not (_is_called(tree, name) or len(functions) == 1):
        return False
    if len(functions) > 1 and any(word in name.lower() for word in CHECKING):
        return False
    return not _wraps_another(tree, name, others - {name})


def _is_class_name(name: str) -> bool:
    return name[:1].isupper() and (len(name) == 1 or not name.isupper())


def _wraps_another(tree: ast.Module, name: str, others: set[str]) -> bool:
    """Whether what another function gives is handed to this one."""
    functions = {other for other in others if not _is_class_name(other)}
    return any(
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in functions
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        for inner in ast.walk(argument)
    )


def exception_names(tree: ast.AST) -> frozenset[str]:
    """Names that stand where only exception classes can."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            found |= names_in(node.type)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in RAISING:
                found |= names_in(node.args[0])
    return frozenset(found)


def names_in(node: ast.AST) -> set[str]:
    """The names that an expression mentions."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def refuse_missing_imports(text: str) -> None:
    """Raise InvalidTrajectory where tests import what is not installed: nobody else may stand for it."""
    if "_exit(" in text:
        raise InvalidTrajectory("the tests end their process by os._exit, so nothing can be said of the program")
    for node in ast.walk(parse_tests(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for top in (name.partition(".")[0] for name in names):
            if top not in sys.stdlib_module_names and top not in STAND_INS and not is_installed(top):
                raise InvalidTrajectory(f"the tests import {top!r}, which is not installed here: pip install {top}")


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
