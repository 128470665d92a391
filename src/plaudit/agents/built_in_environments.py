"""The built-in environments by name, and variants of them: `treasure_hunt(hints=False)`."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from plaudit.agents.environment import Environment, EpisodeStart, Example, StepResult, ToolEnvironment
from plaudit.errors import AgentError, InvalidSettings, SandboxError
from plaudit.sandbox import Job, RunLimits, RunStatus, Suite, Verdict, read_suite, shared_pool
from plaudit.settings import check_keys
from plaudit.verify import VerdictStatus, verify_math
from plaudit.verify.code_blocks import find_program

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


MAX_WORDS = 1500


class CodeFeedback(Environment):
    """1.0 for a program that passes every test, at the last attempt the share of tests passed, times `partial`.

    The ground truth is the tests, in any shape that `CodeReward` takes. The feedback is the message of the first test
    that fails; with `hide_tests` only how many passed.
    """

    attempts: ClassVar[int] = 3
    partial: ClassVar[float] = 0.0
    hide_tests: ClassVar[bool] = False
    cpu_s: ClassVar[float] = 2.0
    in_threads: ClassVar[bool] = True

    def reset(self, start: EpisodeStart) -> None:
        self.suite: Suite = read_suite(start.ground_truth)
        self.tries = 0

    def step(self, action: str) -> StepResult:
        self.tries += 1
        last = self.tries >= self.attempts
        program = find_program(action)
        if program is None:
            return self._answer("There is no program in this; write one in a block of ```python.", 0.0, done=last)
        [verdict] = shared_pool("plain").judge_all([self._job(program)])
        if isinstance(verdict, SandboxError):
            raise verdict
        if verdict.refusal:
            raise AgentError(f"the tests cannot be run: {verdict.refusal}")
        if verdict.passed:
            return StepResult("", True, 1.0, score=1.0, logs={"tries": self.tries, "passed": verdict.share})
        return self._answer(self._describe(verdict), verdict.share, done=last)

    def _job(self, program: str) -> Job:
        limits = RunLimits(self.cpu_s, max(20.0, 10 * self.cpu_s), 512)
        return Job(
            program, [self.suite], limits, stop_early=False, judge_cpu_s=5 * self.cpu_s, wall_s=3 * limits.wall_s
        )

    def _answer(self, words: str, share: float, *, done: bool) -> StepResult:
        logs: dict[str, Any] = {"tries": self.tries, "passed": share}
        return StepResult(f"\n{words[:MAX_WORDS]}\n", done, self.partial * share if done else 0.0, share, logs=logs)

    def _describe(self, verdict: Verdict) -> str:
        count = f"{verdict.count} of {len(verdict.results)} tests passed."
        if self.hide_tests:
            return count
        ended = verdict.conclusion is not RunStatus.COMPLETED and verdict.reason
        failed = next((result for result in verdict.results if not result.passed), None)
        why = f"{failed.name}: {failed.reason}" if failed is not None else ""
        return "\n".join(line for line in (count, ended or "", why) if line)


_ANSWER = re.compile(r"(?:answer is:?|=)\s*(-?\d+\.?\d*)", re.IGNORECASE)


class TreasureHunt(Environment):
    """Find a treasure behind one of eight doors: an action opens the door of its first letter, the treasure earns 1.

    With `hints` the note behind the first door names the right one; without, a player can only guess among seven.
    """

    doors: ClassVar[str] = "abcdefgh"
    hints: ClassVar[bool] = True
    tries: ClassVar[int] = 2
    in_threads: ClassVar[bool] = True

    async def reset(self, start: EpisodeStart) -> None:
        self.seed, self.opened = start.seed, 0
        self.treasure = ""

    async def step(self, action: str) -> StepResult:
        self.opened += 1
        door = action.strip()[:1].lower()
        if not self.treasure:
            others = [each for each in self.doors if each != door]
            self.treasure = others[self.seed % len(others)]
        won = self.opened > 1 and door == self.treasure
        done = won or self.opened >= self.tries
        note = self.treasure if self.hints else "?"
        feedback = "" if done else f" nothing, go to {note}"
        return StepResult(feedback, done, float(won), score=float(won), logs={"opened": self.opened})

    @classmethod
    def examples(cls) -> list[Example]:
        first, others = cls.doors[0], cls.doors[1:]
        return [Example(EpisodeStart("Open: ", seed=seed), [first, door]) for seed, door in enumerate(others)]


class MathRetries(Environment):
    """Up to three attempts at a number, with feedback after each (OpenRLHF's example of an agent).

    1.0 for the right number; at the last attempt −0.3 for a wrong one and −0.5 for none; 0.0 in between. The score is
    1.0 for a right number, else 0.0.
    """

    max_steps: ClassVar[int] = 3
    in_threads: ClassVar[bool] = True

    async def reset(self, start: EpisodeStart) -> None:
        self.step_idx = 0
        self.steps_taken: list[str] = []
        self.label = float(start.ground_truth)

    async def step(self, action: str) -> StepResult:
        self.steps_taken.append(action)
        last = self.step_idx >= self.max_steps - 1
        match = _ANSWER.search(action)
        correct = match is not None and abs(float(match.group(1)) - self.label) < 1e-6
        if correct:
            done, reward, feedback = True, 1.0, "\n\n[CORRECT! Episode complete]\n"
        elif match:
            done, reward = last, -0.3 if last else 0.0
            feedback = "\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "
        else:
            done, reward = last, -0.5 if last else 0.0
            feedback = "\n\n[NO ANSWER FOUND] Please state the final answer:\n\n\nAssistant: "
        self.step_idx += 1
        return StepResult(
            feedback,
            done,
            reward,
            score=float(correct),
            logs={"step": self.step_idx, "correct": correct, "attempts": len(self.steps_taken)},
        )

    @classmethod
    def examples(cls) -> list[Example]:
        return [Example(EpisodeStart(f"What is {a} x {b}? ", str(a * b)), [f"= {a * b}"]) for a, b in ((6, 7), (4, 9))]


ENVIRONMENTS: dict[str, type[Environment]] = {
    "math_retries": MathRetries,
    "calculator": Calculator,
    "code_feedback": CodeFeedback,
    "treasure_hunt": TreasureHunt,
}


def build_environment(name: str, settings: Mapping[str, Any] | None = None) -> type[Environment]:
    """The built-in environment of this name, with other values of its settings if there are some."""
    environment = ENVIRONMENTS[name]
    if not settings:
        return environment
    defaults = {
        name: value
        for name, value in vars(environment).items()
        if not name.startswith("_") and name != "in_threads" and isinstance(value, bool | int | float | str)
    }
    try:
        check_keys(settings, defaults, name)
        for setting, value in settings.items():
            msgspec.convert(value, type(defaults[setting]))
    except InvalidSettings as error:
        raise AgentError(str(error)) from None
    except msgspec.ValidationError as error:
        raise AgentError(f"{name}: {setting}: {str(error).lower()}") from None
    return type(environment.__name__, (environment,), dict(settings))
