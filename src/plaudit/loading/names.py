"""The names that a file imports and defines, read from its text."""

import ast
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

__all__ = ["bound_names", "read_imports", "top_level_names"]


def top_level_names(path: Path) -> set[str]:
    """The names that a file defines, read without running it; none where it cannot be read."""
    try:
        return bound_names(ast.parse(path.read_bytes()).body)[1]
    except (SyntaxError, ValueError, OSError):
        return set()


def read_imports(module: ModuleType) -> tuple[frozenset[str], frozenset[str]]:
    """The packages that a module imports, and the names that it has from imports alone."""
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return frozenset(), frozenset()
    tree = ast.parse(Path(file).read_bytes())
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    imported, defined = bound_names(tree.body)
    return frozenset(packages), frozenset(imported - defined)


def bound_names(statements: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that statements import and define, also inside `if` and `try` but not inside functions."""
    imported: set[str] = set()
    defined: set[str] = set()
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        else:
            inner_imported, inner_defined = bound_names(ast.iter_child_nodes(node))
            imported |= inner_imported
            defined |= inner_defined
    return imported, defined
