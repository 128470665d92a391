"""An environment whose actions are tool calls: each is answered, and an action without one is the final answer."""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from plaudit.agents.environment import Environment, StepResult
from plaudit.agents.tools.calls import MalformedCall, ToolCall, parse_tool_calls
from plaudit.errors import did_you_mean

__all__ = ["ToolEnvironment", "call_tool"]

MAX_ANSWER = 4000


class ToolEnvironment(Environment):
    """Runs the functions in `tools` when an action calls them; a method of that name takes a function's place.

    A malformed call, an unknown tool, wrong arguments and an exception are answered with an error that the model can
    read. `finish` judges the action that calls nothing.
    """

    call_cost: ClassVar[float] = 0.0
    """What a call that could not be made costs."""

    @abstractmethod
    def finish(self, action: str) -> StepResult:
        """What an action without a call leads to."""

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
    """What the model is told of a call, and whether it was made."""
    if isinstance(call, MalformedCall):
        return f"error: malformed tool call: {call.reason}", False
    if call.name not in tools:
        return f"error: no tool named {call.name!r}{did_you_mean(call.name, tools)} (there is {_list(tools)})", False
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


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
