"""What a test text says about the values it deals with, found by reading it."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from plaudit.sandbox.judging.proxies.plain_attributes import PLAIN_ATTRIBUTES
from plaudit.sandbox.judging.rewriting.names import exception_names, names_in, parse_tests

__all__ = ["ODD", "SAFE_CALLS", "TestFacts", "depends_on", "has_open_call", "read_facts", "results_in"]

ODD = frozenset({"nan", "inf"})
SAFE_CALLS = {
    "abs", "all", "any", "bool", "bytes", "dict", "enumerate", "float", "frozenset", "int", "isinstance", "len", "list",
    "map", "max", "min", "print", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type",
    "zip",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TestFacts:
    """Which odd numbers tests speak of, which names are exceptions, and whether they deal with objects."""

    __test__ = False

    odd_numbers: frozenset[str] = ODD
    exceptions: frozenset[str] = frozenset()
    expects_objects: bool = False
    program_names: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def read_facts(text: str, program_names: frozenset[str]) -> TestFacts:
    """The facts of a test text; `program_names` are those it leaves to the program."""
    tree = parse_tests(text)
    odd = frozenset(word for word in ODD if word in text.lower())
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} - _of_others(tree)
    unusual = {name for name in attributes - PLAIN_ATTRIBUTES if not name.startswith("assert")}
    return TestFacts(odd, exception_names(tree), bool(unusual), program_names)


def _of_others(tree: ast.Module) -> set[str]:
    """Attributes that are asked of modules, of `self` and of names in capitals, not of what a program returned."""
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    } | {"self", "np", "pd", "math", "pytest", "unittest"}
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _root(node) in modules}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def results_in(tree: ast.AST, *, walk: bool = True) -> set[str]:
    """Variables that hold what some call gave."""
    found: set[str] = set()
    for node in ast.walk(tree) if walk else (tree,):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value and has_open_call(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name for target in targets for name in names_in(target)}
    return found


def has_open_call(node: ast.AST, *, inner: bool = True) -> bool:
    """Whether the expression calls something that may be the program; without `inner`, whether it itself does."""
    calls = (part for part in (ast.walk(node) if inner else (node,)) if isinstance(part, ast.Call))
    return any(not (isinstance(call.func, ast.Name) and call.func.id in SAFE_CALLS) for call in calls)


def depends_on(node: ast.AST, results: set[str]) -> bool:
    """Whether the expression holds something of the program's."""
    return has_open_call(node) or bool(names_in(node) & results)
