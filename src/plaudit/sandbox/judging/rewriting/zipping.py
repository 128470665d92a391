"""Make `zip` in tests notice a short answer.

`for a, b in zip(f(x), expected)` passes when `f` returns nothing. Where one side is the program's and another is not, a
program's side that ends first fails the test; one that is longer does not, since it may be endless by design.
"""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["STRICT_ZIP", "rewrite_zips", "strict_zip"]

STRICT_ZIP = "__strict_zip__"
_NOTHING = object()


def rewrite_zips(tree: ast.Module, results: set[str], safe: set[str]) -> None:
    """Rewrite such calls of `zip` in place; `results` are variables that hold answers, `safe` are known functions."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "zip"
            and not node.keywords
        ):
            sides = [_is_answer(side, results, safe) for side in node.args]
            if any(sides) and not all(sides):
                node.func.id = STRICT_ZIP
                node.args = [ast.Tuple([ast.Constant(side) for side in sides], ast.Load()), *node.args]


def strict_zip(sides: tuple[bool, ...], *iterables: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """`zip`, but an answer (True in `sides`) that ends while the others go on is a failure."""
    iterators = [iter(iterable) for iterable in iterables]
    while True:
        row = [next(iterator, _NOTHING) for iterator in iterators]
        ended = [item is _NOTHING for item in row]
        if any(ended):
            if any(over and side for over, side in zip(ended, sides, strict=True)) and not all(ended):
                raise AssertionError("the program's answer is shorter than what it is compared with")
            return
        yield tuple(row)


def _is_answer(side: ast.expr, results: set[str], safe: set[str]) -> bool:
    for part in ast.walk(side):
        if isinstance(part, ast.Name) and part.id in results:
            return True
        if isinstance(part, ast.Call) and not (isinstance(part.func, ast.Name) and part.func.id in safe):
            return True
    return False
