"""Which names in a test text are the program's, and where the others come from.

A name that the tests use and do not define comes from their imports, from the data set's prompt if that is code which
defines it, else from the program. A function of the program may not get what another one returned unless the data set
names it, or tests it with values of its own as well, since it could then grade the other.
"""

import ast
import builtins
import re
import symtable
import sys
from functools import lru_cache

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox.judging.plan.instances import class_names
from plaudit.sandbox.judging.plan.modules import parse_code
from plaudit.sandbox.judging.plan.program_use import bindings, names_in, operands, pairs

BUILTINS = frozenset(dir(builtins))
_NAN = re.compile(r"(\b|_|is)nan", re.IGNORECASE)
RAISING = ("raises", "assertRaises", "assertRaisesRegex", "suppress")


def parse_tests(text: str, what: str = "the tests") -> ast.Module:
    """The syntax tree of a text of the data set, or InvalidTrajectory that says where it breaks."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidTrajectory(f"{what} cannot be parsed: {error}") from None


def program_names(
    tree: ast.Module, text: str, entry_point: str | None, defined: frozenset[str], imported: frozenset[str]
) -> tuple[str, ...]:
    """The names that the tests use and the program defines; InvalidTrajectory if one may not come from it.

    `defined` are names that imports and the prompt define, `imported` those that the tests import from the program.
    """
    unknown_names, used_builtins = _free_names(text)
    free = unknown_names - defined - standard_modules(tree, text)
    entry = entry_point.partition(".")[0].partition("(")[0] if entry_point else None
    others = free - {entry}
    exceptions = exception_names(tree)
    functions = others - class_names(tree, others) - exceptions
    unknown = {name for name in functions if entry is not None or not _may_be_program(tree, name, functions, imported)}
    if unknown or (len(functions) > 1 and _are_only_compared(tree, functions)):
        unknown = unknown or functions
        raise InvalidTrajectory(
            f"the tests use {', '.join(sorted(unknown))}, which neither they nor the data set define; if the program "
            "is to define it, name it as 'entry_point', else give its code as 'prompt'"
        )
    program = others | ({entry} if entry else set())
    if not program and not imported:
        program |= _builtins_meant(tree, used_builtins)
    return tuple(sorted(program))


def standard_modules(tree: ast.Module, text: str) -> set[str]:
    """Modules of the standard library that the tests use as `module.attribute` and forgot to import."""
    free, _ = _free_names(text)
    modules = {name for name in free if name in sys.stdlib_module_names}
    if not modules:
        return modules
    parents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    other = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in parents}
    return modules - other


def _may_be_program(tree: ast.Module, name: str, functions: set[str], imported: frozenset[str]) -> bool:
    """Whether an undefined function may be the program's: not where it gets what another one returned, unless it gets
    nothing else there, and the tests compare what it returns, there and elsewhere, with values of their own.
    """
    if name not in called_names(tree) and (imported or len(functions) > 1):
        return False
    theirs = _with_results(tree, (functions | imported) - {name})
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name]
    passing = [call for call in calls if any(names_in(argument) & theirs for argument in operands(call))]
    checked = _calls_compared_with_own_values(tree, functions | imported) if passing else []
    is_tested = any(call in checked for call in calls if call not in passing)
    return not passing or (is_tested and all(call in checked and len(operands(call)) == 1 for call in passing))


def _calls_compared_with_own_values(tree: ast.Module, functions: set[str]) -> list[ast.expr]:
    """What tests compare by `==` with values of their own, other than truth values."""
    theirs = _with_results(tree, functions)
    sides = [
        side
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
        for side in ((node.left, node.comparators[0]), (node.comparators[0], node.left))
    ]
    return [one for one, other in sides if not names_in(other) & theirs and ast.unparse(other) not in ("True", "False")]


def _are_only_compared(tree: ast.Module, functions: set[str]) -> bool:
    """Whether tests compare what functions return only with what another of them returns."""
    held = [_with_results(tree, {name}) for name in functions]
    compared = [pair for node in ast.walk(tree) if isinstance(node, ast.Compare) for pair in pairs(node)]
    sides = [[{i for i, names in enumerate(held) if names_in(side) & names} for side in pair] for pair in compared]
    return bool(sides) and all(one and other and len(one | other) > 1 for one, other in sides if one or other)


def _with_results(tree: ast.Module, names: set[str]) -> set[str]:
    """Names of functions, and the variables that hold what they returned."""
    held = set(names)
    for node in ast.walk(tree):
        for value, target in bindings(node):
            if names_in(value) & held:
                held |= names_in(target)
    return held


def exception_names(tree: ast.AST) -> frozenset[str]:
    """Names in places where only exception classes are allowed."""
    classes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            classes |= _class_names_in(node.type)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in RAISING:
                classes |= _class_names_in(node.args[0])
    return frozenset(classes)


def _class_names_in(node: ast.expr) -> set[str]:
    """The names of classes in an expression: `E`, and `E` of `module.E`."""
    return names_in(node) | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def top_level_names(text: str) -> frozenset[str]:
    """The names that a text defines at its top."""
    top = symtable.symtable(text, "<setup>", "exec")
    return frozenset(s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace())


def helpers_in(prompt: str, entry_point: str | None) -> str:
    """The part of the data set's code that tests may use: all but the stubs that the program is to fill in."""
    tree = parse_code(prompt) if prompt.strip() else None
    if tree is None:  # a prompt in words, or one that ends within a function
        return ""
    kept = [node for node in tree.body if _is_helper(node, entry_point)]
    return ast.unparse(ast.Module(kept, []))


def split_classes(helpers: str) -> tuple[str, frozenset[str]]:
    """Helpers for the tests, and the names of their classes that only tests use: those are the program's classes.

    The program has the helpers as well, and makes objects of its own classes; named tuples cross as values.
    """
    tree = ast.parse(helpers)
    used = {name for node in tree.body for name in names_in(node)}
    definitions = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    tuples = {node.name for node in definitions if any(ast.unparse(base).endswith("NamedTuple") for base in node.bases)}
    classes = frozenset(node.name for node in definitions) - used - tuples
    return ast.unparse(
        ast.Module([node for node in tree.body if getattr(node, "name", "") not in classes], [])
    ), classes


@lru_cache(maxsize=512)
def imports_in(text: str) -> str:
    """The import statements at the top level of a text, and nothing else of it."""
    tree = parse_code(text)
    kept = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] if tree else []
    return ast.unparse(ast.Module(list(kept), []))


def with_prefix(prefix: str, source: str) -> str:
    """A program with lines put before it, but after its imports from __future__, which must come first."""
    if not prefix.strip():
        return source
    tree = parse_code(source) if "__future__" in source else None
    future = [node for node in tree.body if getattr(node, "module", "") == "__future__"] if tree else []
    end = max((node.end_lineno or 0 for node in future), default=0)
    lines = source.split("\n")
    return "\n".join([*lines[:end], prefix, *lines[end:]])


@lru_cache(maxsize=4)
def _free_names(text: str) -> tuple[set[str], set[str]]:
    """Names that are read from the module's scope but bound nowhere in it: unknown ones, and built-in ones."""
    top = symtable.symtable(text, "<tests>", "exec")
    bound = set(top_level_names(text))
    read: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        read |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top)}
        bound |= {s.get_name() for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    free = {name for name in read - bound if not (name.startswith("__") and name.endswith("__"))}
    return free - BUILTINS, free & BUILTINS


def names_nan(*trees: ast.AST) -> bool:
    """Whether tests name NaN: as a name or a text (`isnan`, `float("nan")`), or by `x != x`."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Name(name) | ast.Attribute(_, name) | ast.alias(name) | ast.keyword(name):
                if _NAN.search(name or ""):
                    return True
            case ast.Constant(str(text)) if re.search(r"\bnan\b", text, re.IGNORECASE):
                return True
            case ast.Compare(left, [ast.Eq() | ast.NotEq()], [right]) if ast.dump(left) == ast.dump(right):
                return True
    return False


def called_names(tree: ast.Module) -> set[str]:
    """The names that are called directly."""
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def _builtins_meant(tree: ast.Module, used: set[str]) -> set[str]:
    """Where tests call nothing but one built-in name, the program is to define a function of that name."""
    called = used & called_names(tree)
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
