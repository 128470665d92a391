"""Cut a test text into checks, so that each assert counts for itself.

A check is a statement that can fail: an assert, a call of something called `assert…` or `check…`, a `try` as a whole.
Checks stand at the top of the text or of `check`, also inside loops and conditions there. Asserts on constants check
nothing, so they are no checks; a text without checks is one check.
"""

import ast
import copy
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from plaudit.sandbox.judging.rewriting.changed_arguments import mark_changes
from plaudit.sandbox.judging.rewriting.facts import SAFE_CALLS, depends_on, results_in
from plaudit.sandbox.judging.rewriting.names import parse_tests
from plaudit.sandbox.judging.rewriting.zipping import rewrite_zips

__all__ = ["CHECK", "Instrumented", "instrument", "rewrite"]

CHECK = "__check__"
CHECKING = ("assert", "check", "verify", "expect")


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A test text whose checks report to `__check__(index)`; some stand in loops over what the program answered."""

    code: CodeType
    names: tuple[str, ...]
    has_check: bool
    calls_check: bool
    in_answers: frozenset[int]


@lru_cache(maxsize=512)
def instrument(text: str) -> Instrumented:
    """The text, compiled, with a `with __check__(n):` around every check."""
    tree = rewrite(text)
    has_check = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    calls_check = any(_calls(node, "check") for node in tree.body)
    wrapping = _Wrapping(results_in(tree))
    tree.body = wrapping.wrap(tree.body, at_top=True)
    code = compile(ast.fix_missing_locations(tree), "<tests>", "exec", dont_inherit=True)
    return Instrumented(code, tuple(wrapping.names), has_check, calls_check, frozenset(wrapping.in_answers))


def rewrite(text: str) -> ast.Module:
    """The tree of a test text, in which `zip` notices a short answer and changes to arguments are seen."""
    tree = copy.deepcopy(parse_tests(text))
    rewrite_zips(tree, results_in(tree), SAFE_CALLS)
    mark_changes(tree)
    return ast.fix_missing_locations(tree)


def _calls(node: ast.stmt, name: str) -> bool:
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == name


class _Wrapping:
    """Puts checks around statements, and numbers them."""

    def __init__(self, results: set[str]) -> None:
        self._results = results
        self.names: list[str] = []
        self.in_answers: set[int] = set()

    def wrap(self, body: list[ast.stmt], *, at_top: bool = False, in_answer: bool = False) -> list[ast.stmt]:
        wrapped: list[ast.stmt] = []
        for node in body:
            if at_top and isinstance(node, ast.FunctionDef) and node.name == "check":
                node.body = self.wrap(node.body)
            elif isinstance(node, ast.For | ast.While | ast.If | ast.With):
                loops = isinstance(node, ast.For) and depends_on(node.iter, self._results)
                node.body = self.wrap(node.body, in_answer=in_answer or loops)
                if not isinstance(node, ast.With):
                    node.orelse = self.wrap(node.orelse, in_answer=in_answer)
            wrapped.append(self._wrap_check(node, in_answer) if _is_check(node) else node)
        return wrapped

    def _wrap_check(self, node: ast.stmt, in_answer: bool) -> ast.stmt:
        if in_answer:
            self.in_answers.add(len(self.names))
        self.names.append(" ".join(ast.unparse(node).split())[:120])
        call = ast.Call(ast.Name(CHECK, ast.Load()), [ast.Constant(len(self.names) - 1)], [])
        return ast.copy_location(ast.With([ast.withitem(call)], [node]), node)


def _is_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant) or not node.test.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return name != "check" and any(word in name.lower() for word in CHECKING)
    return isinstance(node, ast.Try)
