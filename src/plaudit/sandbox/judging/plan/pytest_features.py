"""The part of pytest that test files may use; a file that uses anything else is not scored."""

import ast
from collections.abc import Collection

from plaudit.sandbox.judging.plan.rewriting import names_in

__all__ = ["FEATURES", "MARKS", "REFUSED_MARKS", "find_unsupported"]

FEATURES = frozenset({"approx", "fail", "fixture", "main", "mark", "param", "raises", "skip"})
MARKS = frozenset({"parametrize", "skip", "skipif", "usefixtures"})  # marks with other names only label a test
REFUSED_MARKS = frozenset({"xfail", "filterwarnings", "tryfirst", "trylast"})
REFUSED_UNITTEST = frozenset({"expectedFailure"})


SKIPPING = frozenset({"skipif", "skipIf", "skipUnless"})


def find_unsupported(tree: ast.Module, program: Collection[str] = ()) -> str:
    """The first feature that is not supported, with its line; empty where there is none.

    `program` are names of the program, on which it may not depend whether a test is run.
    """
    for node in ast.walk(tree):
        name = ""
        match node:
            case ast.Attribute(ast.Name("pytest"), feature) if feature not in FEATURES:
                name = f"pytest.{feature}"
            case ast.Attribute(ast.Attribute(ast.Name("pytest"), "mark"), mark) if mark in REFUSED_MARKS:
                name = f"pytest.mark.{mark}"
            case ast.ImportFrom("pytest", aliases):
                name = next((f"pytest.{alias.name}" for alias in aliases if alias.name not in FEATURES), "")
            case ast.Attribute(ast.Name("unittest"), feature) | ast.Name(feature) if feature in REFUSED_UNITTEST:
                name = f"unittest.{feature}"
            case ast.Call(func, [condition, *_]) if (skip := _last_name(func)) in SKIPPING and names_in(condition) & {
                *program
            }:
                name = f"{skip} with a condition on the program"
            case ast.Call(func, _, keywords) if "fixture" in ast.unparse(func)[-7:]:
                name = next((f"pytest.fixture({word.arg}=…)" for word in keywords if word.arg == "params"), "")
        if name:
            return f"line {getattr(node, 'lineno', 0)}: the test file uses {name}, which is not supported"
    return ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
