"""A question with a number as its answer, and a calculator to find it."""

import ast
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from plaudit.agents.environment import EpisodeStart, Example, StepResult
from plaudit.agents.tools import ToolEnvironment
from plaudit.errors import AgentError
from plaudit.verify import VerdictStatus, verify_math

__all__ = ["Calculator", "calculate"]

MAX_EXPRESSION, LARGEST = 200, 1e100
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def calculate(expression: str) -> str:
    """Compute an expression of numbers with + - * / // % ** and brackets."""
    if len(expression) > MAX_EXPRESSION:
        raise ValueError(f"the expression is longer than {MAX_EXPRESSION} characters")
    value = _compute(ast.parse(expression.strip(), mode="eval").body)
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


class Calculator(ToolEnvironment):
    """An action that calls `calculate` gets its result; one without a call is the answer, worth 1 if it is right."""

    tools: ClassVar[tuple[Callable[..., Any], ...]] = (calculate,)
    in_threads: ClassVar[bool] = True

    def reset(self, start: EpisodeStart) -> None:
        self.truth = str(start.ground_truth)
        self.calls = 0

    def step(self, action: str) -> StepResult:
        result: StepResult = super().step(action)
        self.calls += int(result.logs.get("calls", 0))
        return result

    def finish(self, action: str) -> StepResult:
        verdict = verify_math(self.truth, action)
        if verdict.status in (VerdictStatus.UNPARSED_TRUTH, VerdictStatus.UNPARSED_ANSWER):
            raise AgentError(f"the answer cannot be compared: {verdict.reason}")
        right = float(verdict.correct)
        return StepResult("", True, right, score=right, logs={"calls": self.calls})

    @classmethod
    def examples(cls) -> list[Example]:
        calls = [(a, b, f"```python\ncalculate('{a} * {b}')\n```") for a, b in ((61, 72), (38, 95), (17, 23))]
        return [
            Example(EpisodeStart(f"What is {a} x {b}? ", str(a * b)), [call, f"The answer is {a * b}."])
            for a, b, call in calls
        ]


def _compute(node: ast.AST) -> int | float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return _bounded(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _compute(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _compute(node.left), _compute(node.right)
        if isinstance(node.op, ast.Pow):
            if abs(right) > 300:
                raise ValueError("the exponent is too large")
            power = float(left) ** right
            if isinstance(power, complex):
                raise ValueError("the power of a negative number is not real")
            exact = isinstance(left, int) and isinstance(right, int) and right >= 0 and abs(power) < LARGEST
            return _bounded(left**right if exact else power)
        if type(node.op) in _BINARY:
            return _bounded(_BINARY[type(node.op)](left, right))
    raise ValueError("only numbers, + - * / // % ** and brackets can be computed")


def _bounded(value: float) -> int | float:
    if not abs(value) < LARGEST:
        raise ValueError("the number is too large")
    return value
