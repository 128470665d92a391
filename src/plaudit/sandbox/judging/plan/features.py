"""What tests may not use: most of pytest, and what replaces or watches parts of the program's process.

The program runs in another process. Calls, arguments and the standard streams reach it; patches of other modules, the
environment, captured warnings and logs do not. Tests that use such a feature are not scored.
"""

import ast
from collections.abc import Collection

from plaudit.sandbox.judging.plan.program_use import names_in

FEATURES = frozenset({"approx", "fail", "fixture", "main", "mark", "param", "raises", "skip"})
REFUSED = frozenset({
    "expectedFailure", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs", "catch_warnings", "environ",
    "getsource", "xfail", "filterwarnings", "tryfirst", "trylast",
})  # fmt: skip
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
SKIPPING = frozenset({"skipif", "skipIf", "skipUnless"})
REPLACEABLE = frozenset({"builtins.input", "sys.stdin", "sys.stdout", "sys.stderr"})


def find_unsupported(tree: ast.Module, program: Collection[str] = ()) -> str:
    """The first feature that is not supported, with its line; empty if there is none.

    `program` are names of the program, on which it may not depend whether a test is run.
    """
    for node in ast.walk(tree):
        if name := _unsupported(node, frozenset(program)):
            return f"line {getattr(node, 'lineno', 0)}: the tests use {name}, which is not supported"
    return ""


def _unsupported(node: ast.AST, program: frozenset[str]) -> str:
    match node:
        case ast.Attribute(ast.Name("pytest"), feature) if feature not in FEATURES:
            return f"pytest.{feature}"
        case ast.ImportFrom("pytest", aliases):
            return next((f"pytest.{alias.name}" for alias in aliases if alias.name not in FEATURES), "")
        case ast.Attribute(_, feature) | ast.Name(feature) if feature in REFUSED:
            return ast.unparse(node)
        case ast.TryStar():
            return "except*"
        case ast.Match():
            return "match"
        case ast.If(condition, body, orelse) if names_in(condition) & program:
            defines = any(isinstance(part, DEFINITIONS) for part in (*body, *orelse))
            return "a condition on the program around tests" if defines else ""
        case ast.Call(func, arguments, keywords):
            return _unsupported_call(func, arguments, keywords, program)
    return ""


def _unsupported_call(
    func: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword], program: frozenset[str]
) -> str:
    name = _last_name(func)
    if name in SKIPPING and arguments and names_in(arguments[0]) & program:
        return f"{name} with a condition on the program"
    if name == "fixture" and any(word.arg == "params" for word in keywords):
        return "pytest.fixture(params=…)"
    replaced = _replaced(func, arguments) if isinstance(func, ast.Attribute) or name == "patch" else ""
    return f"a replacement of {replaced}" if replaced and replaced not in REPLACEABLE else ""


def _replaced(func: ast.expr, arguments: list[ast.expr]) -> str:
    """The target of a call of `patch`, `patch.object` or `monkeypatch`; empty for any other call."""
    called = ast.unparse(func)
    match arguments:
        case [ast.Constant(str(path)), *_] if called.endswith(("patch", "monkeypatch.setattr")):
            return path
        case [target, ast.Constant(str(name)), *_] if called.endswith(("patch.object", "monkeypatch.setattr")):
            return f"{ast.unparse(target)}.{name}"
    return called if called.endswith("patch.dict") or "monkeypatch." in called else ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
