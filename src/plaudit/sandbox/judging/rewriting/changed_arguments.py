"""Find the calls by which tests look at what a program does to its arguments.

`f(xs)` on a line of its own, or `n = f(xs)` with `xs == [1, 2]` later on, are about the change: those arguments are
carried over to the tests' own objects. In all other calls they stay as they were, or a program that empties `xs` would
change what `f(xs) == sum(xs)` expects of it.
"""

import ast
from collections.abc import Iterator
from typing import Any

from plaudit.sandbox.judging.proxies.objects import Remote, RemoteObject
from plaudit.sandbox.judging.rewriting.facts import depends_on, has_open_call, results_in
from plaudit.sandbox.judging.rewriting.names import names_in

__all__ = ["CARRY", "carry", "mark_changes"]

CARRY = "__carry__"


def carry(which: tuple[Any, ...] | None, function: Any, *args: Any, **keywords: Any) -> Any:
    """Call a function of the program and carry over what it did to `which` arguments (positions and names), or all."""
    if not isinstance(function, Remote | RemoteObject):
        return function(*args, **keywords)
    proxy = function._asking
    proxy.carrying = which
    try:
        return function(*args, **keywords)
    finally:
        proxy.carrying = ()


def mark_changes(tree: ast.Module) -> None:
    """Rewrite such calls in place, scope by scope."""
    for scope in _scopes(tree):
        looked = _looked_at(scope)
        discarded = {id(node.value) for node in scope if isinstance(node, ast.Expr)}
        for node in scope:
            if isinstance(node, ast.Call) and not _is_ours(node) and has_open_call(node, inner=False):
                which = None if id(node) in discarded else _positions(node, looked)
                if which is None or which:
                    node.args = [_constant(which), node.func, *node.args]
                    node.func = ast.Name(CARRY, ast.Load())


def _constant(which: tuple[Any, ...] | None) -> ast.expr:
    return ast.Constant(None) if which is None else ast.Tuple([ast.Constant(one) for one in which], ast.Load())


def _scopes(tree: ast.Module) -> Iterator[list[ast.AST]]:
    """The nodes of the module and of each function, each node in one scope."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for top in (tree, *functions):
        nodes: list[ast.AST] = []
        waiting: list[ast.AST] = list(top.body)
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.extend(ast.iter_child_nodes(node))
        yield nodes


def _is_ours(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id.startswith("__")


def _looked_at(scope: list[ast.AST]) -> set[str]:
    """Names that are compared by themselves, with nothing of the program's on the other side, or given back."""
    results = {name for node in scope for name in results_in(node, walk=False)}
    looked: set[str] = set()
    for node in scope:
        if isinstance(node, ast.Return) and node.value is not None and not has_open_call(node.value):
            looked |= names_in(node.value) - results
        for one, other in _pairs(node):
            for side, against in ((one, other), (other, one)):
                if not has_open_call(side) and not depends_on(against, results):
                    looked |= names_in(side) - results
    return looked | _parts_of(scope, looked)


def _parts_of(scope: list[ast.AST], names: set[str]) -> set[str]:
    """What some of `names` are other names for, or parts of: `row = rows[0]`."""
    return {
        name
        for node in scope
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Subscript | ast.Attribute)
        if any(names_in(target) & names for target in node.targets)
        for name in names_in(node.value)
    }


def _pairs(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        return [(node.left, node.comparators[0])]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "ssert" in node.func.attr:
        return [(node.args[0], node.args[1])] if len(node.args) > 1 else []
    return []


def _positions(node: ast.Call, looked: set[str]) -> tuple[Any, ...]:
    given = [*enumerate(node.args), *((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg)]
    plain = (ast.Name, ast.Subscript, ast.Attribute, ast.Starred)
    return tuple(place for place, value in given if isinstance(value, plain) and names_in(value) & looked)
