"""Find the checks in tests, so that each counts on its own.

A check is a statement that can fail: an assert, a call of something named `assert…` or `check…`, a `try` as a whole.
"""

import ast

CHECK = "__check__"
CATCHING = ("raises(", "suppress(", "assertRaises")
CHECKING = ("assert", "check", "verify", "expect")


def lines_of_checks(tree: ast.Module) -> frozenset[int]:
    """The lines of asserts and of calls that assert something, and those before them in a block of a context."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith | ast.Assert | ast.Expr):
            checks = [part for part in ast.walk(node) if isinstance(part, ast.Assert | ast.Expr) and is_check(part)]
            last = max((part.end_lineno or 0 for part in checks), default=0)
            lines.update(range(node.lineno, last + 1))
    return frozenset(lines)


def loops_of_checks(node: ast.Expr) -> list[ast.comprehension]:
    """The loops of a statement that runs checks in a comprehension, as `[check(x) for x in xs]`.

    `list(map(check, xs))` becomes `list(check(x) for x in xs)`.
    """
    call = node.value if isinstance(node.value, ast.Call) and node.value.args and not is_check(node) else None
    looping = node.value if call is None else call.args[0]
    match looping:
        case ast.Call(ast.Name("map"), [function, items]):
            item = ast.comprehension(ast.Name("__item__", ast.Store()), items, [], 0)
            checked = ast.Call(function, [ast.Name("__item__", ast.Load())], [])
            looping = ast.fix_missing_locations(ast.copy_location(ast.GeneratorExp(checked, [item]), items))
    calls = [ast.Expr(part) for part in ast.walk(looping) if isinstance(part, ast.Call)]
    if not isinstance(looping, ast.ListComp | ast.SetComp | ast.GeneratorExp) or not any(map(is_check, calls)):
        return []
    if call is not None:
        call.args[0] = looping
    return looping.generators


class CheckWrapper:
    """Puts `with __check__(n):` around checks, and numbers them."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def wrap(self, body: list[ast.stmt], *, at_top: bool = False) -> list[ast.stmt]:
        """The statements of a body with its checks wrapped, also within loops and conditions."""
        wrapped: list[ast.stmt] = []
        for node in body:
            if at_top and isinstance(node, ast.FunctionDef) and node.name == "check":
                node.body = self.wrap(node.body)
            elif isinstance(node, ast.For | ast.While | ast.If | ast.With) and not is_check(node):
                node.body = self.wrap(node.body)
                if not isinstance(node, ast.With):
                    node.orelse = self.wrap(node.orelse)
            wrapped.append(self._wrap_check(node) if is_check(node) else node)
        return wrapped

    def _wrap_check(self, node: ast.stmt) -> ast.stmt:
        self.names.append(" ".join(ast.unparse(node).split())[:120])
        call = ast.Call(ast.Name(CHECK, ast.Load()), [ast.Constant(len(self.names) - 1)], [])
        return ast.copy_location(ast.With([ast.withitem(call)], [node]), node)


def is_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant) or not node.test.value
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        return name != "check" and any(word in name.lower() for word in CHECKING)
    if isinstance(node, ast.With):
        return any(word in ast.unparse(item.context_expr) for item in node.items for word in CATCHING)
    return isinstance(node, ast.Try)
