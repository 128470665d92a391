"""The arithmetic of a multi grader, `0.5 * exact + 0.5 * min(style, 1)`: numbers, names, + - * / ^ and few functions.

The formula is checked when it is read, so a name that no grader has fails before the first sample.
"""

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean

__all__ = ["Formula"]

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min, "max": max, "abs": abs, "floor": math.floor, "ceil": math.ceil, "exp": math.exp, "sqrt": math.sqrt,
    "log": math.log,
}  # fmt: skip


class Formula:
    """A formula over names; called with their values it gives a number."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text.replace("^", "**"), mode="eval").body
        except SyntaxError:
            raise InvalidSettings(f"calculate_output {text!r} is not a formula") from None
        self._check(self._tree, names)

    def __call__(self, values: Mapping[str, float]) -> float:
        return float(_compute(self._tree, values))

    def _check(self, node: ast.expr, names: Collection[str]) -> None:
        match node:
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                self._check(left, names)
                self._check(right, names)
            case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
                self._check(operand, names)
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
                for argument in arguments:
                    self._check(argument, names)
            case ast.Constant(int() | float()):
                pass
            case ast.Name(name) if name in names:
                pass
            case _:
                what = ast.unparse(node)
                raise InvalidSettings(
                    f"calculate_output {self.text!r} uses {what!r}{did_you_mean(what, [*names, *_FUNCTIONS])}; it may "
                    f"use {', '.join(names)}, numbers, + - * / ^ and {', '.join(_FUNCTIONS)}"
                )


def _compute(node: ast.expr, values: Mapping[str, float]) -> Any:
    match node:
        case ast.BinOp(left, op, right):
            return _OPERATORS[type(op)](_compute(left, values), _compute(right, values))
        case ast.UnaryOp(op, operand):
            return -_compute(operand, values) if isinstance(op, ast.USub) else _compute(operand, values)
        case ast.Call(ast.Name(name), arguments):
            return _FUNCTIONS[name](*(_compute(argument, values) for argument in arguments))
        case ast.Name(name):
            return values[name]
        case ast.Constant(value):
            return value
        case _:
            raise AssertionError(ast.dump(node))
