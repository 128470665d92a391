"""Small changes to a reward's code, each of the kind that opens a hole: a dropped `strip`, a relaxed pattern.

Every change is made alone, on a copy of the code.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Change", "changed_codes"]

DROPPED = ("strip", "lstrip", "rstrip", "lower", "upper", "casefold", "removeprefix", "removesuffix")
_MIRRORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_LOOSER = {"fullmatch": "search", "match": "search"}


@dataclass(frozen=True, slots=True)
class Change:
    """A change, its line, and the whole code with the change."""

    change: str
    line: int
    code: str


def changed_codes(code: str, function: str | None = None) -> Iterator[Change]:
    """The code with one change at a time; only within the function or class of that name where it is given."""
    tree = ast.parse(code)
    for index, node in enumerate(_nodes(tree, function)):
        for description, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(list(_nodes(changed, function))[index])
            text = ast.unparse(ast.fix_missing_locations(changed))
            if text != ast.unparse(tree):
                yield Change(description, getattr(node, "lineno", 1), text)


def _nodes(tree: ast.Module, function: str | None) -> Iterator[ast.AST]:
    """The nodes of a definition, and of the other functions of its file, which it may call; docstrings are left out."""
    scopes = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    named = [node for node in scopes if node.name == function]
    helpers = [node for node in scopes if isinstance(node, ast.FunctionDef) and node.name.startswith("_")]
    for scope in [*named, *helpers] if named else scopes:
        yield from ast.walk(scope)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in DROPPED:
            yield f"dropped .{node.func.attr}()", _drop_call
        if node.func.attr in _LOOSER:
            yield f"relaxed {node.func.attr} to search", _loosen
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        if type(node.ops[0]) in _MIRRORS:
            yield f"turned {ast.unparse(node)} around", _mirror
        if isinstance(node.ops[0], ast.Eq):
            yield f"relaxed {ast.unparse(node)} to containment", _contain
    elif isinstance(node, ast.BoolOp):
        yield f"swapped and with or in {ast.unparse(node)}", _swap
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[\^$]|\\b", node.value):
        yield f"relaxed the pattern {node.value!r}", _unanchor
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield f"changed {node.value!r} to {_other(node.value)!r}", _shift
    elif isinstance(node, ast.If):
        yield f"left out the test {ast.unparse(node.test)}", _pass_by


def _drop_call(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    owner = node.func.value
    node.func, node.args, node.keywords = ast.Name("str", ast.Load()), [owner], []


def _loosen(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    node.func.attr = _LOOSER[node.func.attr]


def _mirror(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops = [_MIRRORS[type(node.ops[0])]()]


def _contain(node: ast.AST) -> None:
    """`answer == truth` becomes: the truth stands somewhere in the answer."""
    assert isinstance(node, ast.Compare)
    left, right = (_as_text(side) for side in (node.left, node.comparators[0]))
    node.left, node.ops, node.comparators = right, [ast.In()], [left]


def _as_text(side: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("str", ast.Load()), [side], [])


def _swap(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _unanchor(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    node.value = re.sub(r"(?<!\\)[\^$](?![^\[]*\])|\\b", "", str(node.value))


def _other(value: float) -> float:
    return value + 1 if isinstance(value, int) else value * 0.5 + 0.25


def _shift(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int | float)
    node.value = _other(node.value)


def _pass_by(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    node.test = ast.Constant(False)
