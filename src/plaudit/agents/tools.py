"""An environment that runs the tool calls of a model; `plaudit.verify.tools.parsing` lists their formats."""

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from plaudit.agents.environment import Environment, StepResult
from plaudit.errors import did_you_mean
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls

__all__ = ["MalformedCall", "ToolCall", "ToolEnvironment", "call_tool", "parse_tool_calls"]

MAX_ANSWER = 4000


class ToolEnvironment(Environment):
    """An action with tool calls runs the functions in `tools`; an action without one is the final answer.

    A method with the name of a function replaces it. A malformed call, an unknown tool, wrong arguments and an
    exception are answered with an error that the model can read. `finish` scores the action that calls nothing.
    """

    call_cost: ClassVar[float] = 0.0
    """Cost of a call that could not be made."""

    @abstractmethod
    def finish(self, action: str) -> StepResult:
        """The result of an action without a call."""

    def step(self, action: str) -> Any:
        calls = parse_tool_calls(action)
        if not calls:
            return self.finish(action)
        tools = {tool.__name__: getattr(self, tool.__name__, tool) for tool in self.tools}
        answers = [call_tool(tools, call) for call in calls]
        failed = sum(not done for _, done in answers)
        return StepResult(
            "\n".join(answer for answer, _ in answers),
            done=False,
            reward=-self.call_cost * failed,
            logs={"calls": len(calls), "failed_calls": failed},
            role="tool",
        )


def call_tool(tools: dict[str, Callable[..., Any]], call: ToolCall | MalformedCall) -> tuple[str, bool]:
    """The answer to a call, and whether the call was made."""
    if isinstance(call, MalformedCall):
        return f"error: malformed tool call: {call.reason}", False
    if call.name not in tools:
        known = ", ".join(tools) or "none"
        return f"error: no tool named {call.name!r}{did_you_mean(call.name, tools)} (there is {known})", False
    tool = tools[call.name]
    try:
        bound = inspect.signature(tool).bind(*call.positional, **call.arguments)
    except TypeError as error:
        return f"error: {call.name}{inspect.signature(tool)}: {error}", False
    try:
        answer = str(tool(*bound.args, **bound.kwargs))
    except Exception as error:  # noqa: BLE001 - a tool's failure is an observation, which the model can learn from
        return f"error: {type(error).__name__}: {error}"[:MAX_ANSWER], False
    return (answer if len(answer) <= MAX_ANSWER else f"{answer[:MAX_ANSWER]}… ({len(answer):,} characters)"), True
