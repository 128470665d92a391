"""Cut a test text into checks, so that each assert counts for itself.

A check is a statement that can fail: an assert, a call of something called `assert…` or `check…`, a `try` as a whole.
Points stand at the top of the text or of `check`, also inside loops and conditions there. Asserts on constants check
nothing, so they are no checks; a text without checks is one check.
"""

import ast
import copy
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from plaudit.sandbox.judging.proxies.exceptions import NotSplittable
from plaudit.sandbox.judging.rewriting.names import parse_tests
from plaudit.sandbox.judging.rewriting.zipping import rewrite_zips

__all__ = ["CHECK", "Instrumented", "instrument", "looks_at_arguments", "refuse_async", "rewrite"]

CHECK = "__check__"
CHECKING = ("assert", "check", "verify", "expect")


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A test text whose checks report to `__check__(index)`."""

    code: CodeType
    names: tuple[str, ...]
    has_check: bool
    calls_check: bool


@lru_cache(maxsize=512)
def instrument(text: str) -> Instrumented:
    """The text, compiled, with a `with __check__(n):` around every check."""
    tree = rewrite(text)
    has_check = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    calls_check = any(_calls(node, "check") for node in tree.body)
    names: list[str] = []
    tree.body = _wrapped(tree.body, names, at_top=True)
    code = compile(ast.fix_missing_locations(tree), "<tests>", "exec", dont_inherit=True)
    return Instrumented(code, tuple(names), has_check, calls_check)


def rewrite(text: str) -> ast.Module:
    """The tree of a test text, in which `zip` notices an answer that is too short."""
    tree = copy.deepcopy(parse_tests(text))
    rewrite_zips(tree, _results(tree), SAFE_CALLS)
    return ast.fix_missing_locations(tree)


def _calls(node: ast.stmt, name: str) -> bool:
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == name


def refuse_async(text: str) -> None:
    """Raise NotSplittable for tests that await: what they await would have to run here."""
    for node in ast.walk(parse_tests(text)):
        if isinstance(node, ast.Await | ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith):
            raise NotSplittable("the tests await coroutines, which cannot be split")


def _wrapped(body: list[ast.stmt], names: list[str], *, at_top: bool = False) -> list[ast.stmt]:
    wrapped: list[ast.stmt] = []
    for node in body:
        if at_top and isinstance(node, ast.FunctionDef) and node.name == "check":
            node.body = _wrapped(node.body, names)
        elif isinstance(node, ast.For | ast.While | ast.If | ast.With):
            node.body = _wrapped(node.body, names)
            if not isinstance(node, ast.With):
                node.orelse = _wrapped(node.orelse, names)
        wrapped.append(_wrap_check(node, names) if _is_check(node) else node)
    return wrapped


def _is_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant) or not node.test.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return name != "check" and any(word in name.lower() for word in CHECKING)
    return isinstance(node, ast.Try)


def _wrap_check(node: ast.stmt, names: list[str]) -> ast.stmt:
    names.append(" ".join(ast.unparse(node).split())[:120])
    call = ast.Call(ast.Name(CHECK, ast.Load()), [ast.Constant(len(names) - 1)], [])
    return ast.copy_location(ast.With([ast.withitem(call)], [node]), node)


@lru_cache(maxsize=512)
def looks_at_arguments(text: str) -> bool:
    """Whether tests look at what they passed in, to see what a call did to it: `f(x)` and then `x == [1, 2]`.

    Where they only compute what they expect from it (`f(x) == sorted(x)`), a program that empties `x` must not change
    what is expected of it, so arguments are then left alone.
    """
    tree = parse_tests(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    passed = {name.id for call in calls for name in ast.walk(call) if isinstance(name, ast.Name)}
    passed -= {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    passed |= _aliases(tree, passed)
    results = _results(tree)
    return any(
        (_names(one) & passed - results and not _depends(other, results))
        for pair in _compared(tree)
        for one, other in (pair, pair[::-1])
        if not _has_open_call(one)
    )


def _aliases(tree: ast.AST, names: set[str]) -> set[str]:
    """Variables that are another name for one of `names`, or for a part of it."""
    assigns = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return {
        target.id
        for node in assigns
        if isinstance(node.value, ast.Name | ast.Subscript | ast.Attribute) and _names(node.value) & names
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _compared(tree: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    pairs = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            pairs.append((node.left, node.comparators[0]))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "ssert" in node.func.attr:
            pairs += [(node.args[0], node.args[1])] if len(node.args) > 1 else []
    return pairs


def _results(tree: ast.AST) -> set[str]:
    """Variables that hold what some call gave."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value and _has_open_call(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


SAFE_CALLS = {
    "abs", "all", "any", "bool", "bytes", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "map", "max",
    "min", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip


def _has_open_call(node: ast.AST) -> bool:
    """Whether the expression calls something that may be the program."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(not (isinstance(call.func, ast.Name) and call.func.id in SAFE_CALLS) for call in calls)


def _depends(node: ast.AST, results: set[str]) -> bool:
    return _has_open_call(node) or bool(_names(node) & results)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
