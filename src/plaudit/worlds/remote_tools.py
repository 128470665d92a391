"""Episodes whose tools run on a server of another protocol: calls are read from the action and sent to a session."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Protocol

import msgspec

from plaudit.agents.environment import Environment, StepResult
from plaudit.errors import AgentError, did_you_mean
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls


class RemoteSession(Protocol):
    """A connection to a server, for one episode."""

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The result of a tool as text, and whether it succeeded."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class RemoteEnvironment(Environment):
    """An episode with the tools of a server; `reset` connects to it. An action without a call ends the episode."""

    session: RemoteSession | None = None

    def step(self, action: str) -> StepResult:
        calls = parse_tool_calls(action)
        if not calls:
            return self.finish(action)
        results = [self._call(each) for each in calls]
        shown = [
            {"name": getattr(call, "name", ""), "arguments": getattr(call, "arguments", {}), "result": text, "ok": ok}
            for call, (text, ok) in zip(calls, results, strict=True)
        ]
        feedback = "\n".join(text for text, _ in results)
        return StepResult(f"\n{feedback}\n", False, logs={"calls": shown}, role="tool")

    def finish(self, action: str) -> StepResult:
        """The result of the action that calls nothing; a subclass may judge it."""
        return StepResult("", True)

    def close(self) -> None:
        if self.session is not None:
            self.session.close()

    def _call(self, call: ToolCall | MalformedCall) -> tuple[str, bool]:
        assert self.session is not None
        if isinstance(call, MalformedCall):
            return f"error: malformed tool call: {call.reason}", False
        tools = {tool.__name__: tool for tool in self.tools}
        if call.name not in tools:
            return f"error: no tool named {call.name!r}{did_you_mean(call.name, tools)}", False
        try:
            bound = inspect.signature(tools[call.name]).bind(*call.positional, **call.arguments)
        except TypeError as error:
            return f"error: {call.name}: {error}", False
        return self.session.call(call.name, bound.arguments)


def as_function(name: str, description: str | None, schema: dict[str, Any] | None) -> Callable[..., Any]:
    """A function whose signature has the schema of a tool, as chat templates and checks read it."""
    schema = schema or {}
    required = schema.get("required", ())

    def function(**arguments: Any) -> Any:
        raise AgentError(f"{name} runs on its server only")

    parameters = [
        inspect.Parameter(
            each, inspect.Parameter.KEYWORD_ONLY, default=inspect.Parameter.empty if each in required else None
        )
        for each in sorted(schema.get("properties", {}), key=lambda each: each not in required)
        if each.isidentifier()
    ]
    function.__name__, function.__doc__ = name, description or ""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {
        each: Annotated[Any, msgspec.Meta(extra_json_schema=described)]
        for each, described in schema.get("properties", {}).items()
    }
    return function
