"""Whether a program failed because a package it may rightly use is not in the sandbox.

Only packages that are known, and that the program's own text imports, count: a made-up name is the program's failure,
or a policy would learn to import nonsense where it knows no answer.
"""

import ast
from functools import lru_cache

from plaudit.sandbox.judging.rewriting.modules import KNOWN_PACKAGES
from plaudit.sandbox.outcome import Outcome

__all__ = ["import_failure", "missing_package"]


def missing_package(source: str, *failures: str) -> str:
    """The known package that a program imports and could not, by what its failed imports said; empty if none."""
    if not any(failures):
        return ""
    imported = _imports(source)
    for failure in failures:
        top = failure.removeprefix("No module named ").strip("'\"").partition(".")[0]
        if top in KNOWN_PACKAGES and top in imported:
            return top
    return ""


def import_failure(outcome: Outcome) -> str:
    """What a failed import said, if that is how a program ended."""
    error = outcome.error
    if error is None or error.name not in ("ModuleNotFoundError", "ImportError"):
        return ""
    return str(error.attributes.get("name") or error.message)


@lru_cache(maxsize=16)
def _imports(source: str) -> frozenset[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return frozenset(name.partition(".")[0] for name in names)
