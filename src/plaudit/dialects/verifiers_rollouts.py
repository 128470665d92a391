"""Multi-turn environments of verifiers up to 0.1, as their file's `load_environment` builds them.

The rollout of verifiers runs the episode and calls a client for every turn; our client waits for the action. Stop
conditions, tools, cleanup and the rubric are those of verifiers, except that a reward function that raises fails its
episode: in verifiers it counts as 0. System prompts and few-shot examples belong to verifiers' data sets;
prompts from elsewhere must carry them.
"""

import asyncio
import functools
import inspect
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from plaudit.agents import Environment, EpisodeStart, StepResult, ToolCall, parse_tool_calls
from plaudit.errors import AgentError, require
from plaudit.trajectory import message_text

_failures: ContextVar[list[str]] = ContextVar("plaudit_verifiers_failures")
Turn = tuple[str, str]
"""The role and the text of a message."""


def matches(candidate: Any) -> bool:
    """A function `load_environment` whose module has imported verifiers."""
    if not inspect.isfunction(candidate) or candidate.__name__ != "load_environment":
        return False
    homes = (
        str(getattr(value, name, None))
        for value in candidate.__globals__.values()
        for name in ("__module__", "__name__")
    )
    return any(home.partition(".")[0] == "verifiers" for home in homes)


def adapt(load_environment: Callable[[], Any]) -> type[Environment]:
    """Wrap the environment that the function builds; it is built once."""
    verifiers: Any = require("verifiers", package="verifiers<0.2", purpose="playing an environment of verifiers")
    if not hasattr(verifiers, "MultiTurnEnv"):
        raise AgentError("environments of verifiers v1 run programs of their own; those of verifiers 0.1 can be played")
    try:
        built = load_environment()
    except Exception as error:
        raise AgentError(f"load_environment() failed: {type(error).__name__}: {error}") from error
    if not isinstance(built, verifiers.MultiTurnEnv):
        raise AgentError(f"load_environment() gives {type(built).__name__}, which has no turns to play")
    _record_failures(built.rubric)

    class VerifiersEnvironment(Environment):
        tools = tuple(getattr(built, "tools", ()) or ())

        async def reset(self, start: EpisodeStart) -> str | None:
            prompt = [dict(each) for each in start.messages] or [{"role": "user", "content": start.prompt}]
            row = {"example_id": 0, "info": {}, **start.metadata, "answer": start.ground_truth}
            self.rollout = _Rollout(verifiers, built, {**row, "prompt": prompt})
            messages = await self.rollout.ask()
            if messages is None:
                self.rollout.last_step()  # raises if the rollout ended with an error
                raise AgentError(f"{type(built).__name__} ended before the first turn")
            expected = _turns(prompt)
            if messages[:-1] != expected[:-1]:
                raise AgentError(
                    f"{type(built).__name__} begins with other messages than the prompt; put them into the prompts"
                )
            return None if messages == expected else messages[-1][1]

        async def step(self, action: str) -> StepResult:
            before = self.rollout.messages
            messages = await self.rollout.ask(action)
            if messages is None:
                return self.rollout.last_step()
            if messages[: len(before)] != before or len(messages) < len(before) + 2:
                raise AgentError(f"{type(built).__name__} rewrote the conversation; only what is added to it is read")
            return _feedback(messages[len(before) + 1 :])

        def __del__(self) -> None:
            if hasattr(self, "rollout"):
                self.rollout.abandon()

    VerifiersEnvironment.__name__ = type(built).__name__
    return VerifiersEnvironment


class _Rollout:
    """A rollout that runs in the event loop and waits whenever it needs an action."""

    def __init__(self, verifiers: Any, built: Any, row: dict[str, Any]) -> None:
        self.messages: list[Turn] = []
        self._verifiers, self._built, self._failed = verifiers, built, list[str]()
        self._loop = asyncio.get_running_loop()
        self._question: asyncio.Future[None] = self._loop.create_future()
        self._answer: asyncio.Future[str] = self._loop.create_future()
        _failures.set(self._failed)  # the task copies the context
        client = _build_client(verifiers, self._reply)
        self._task = self._loop.create_task(built.run_rollout(row, client, "plaudit", {}))

    async def ask(self, action: str | None = None) -> list[Turn] | None:
        """Continue with an action; the conversation before the next action, or None if the rollout has ended."""
        if action is not None:
            self._question = self._loop.create_future()
            self._answer.set_result(action)
        await asyncio.wait((self._task, self._question), return_when=asyncio.FIRST_COMPLETED)
        return None if self._task.done() else self.messages

    def last_step(self) -> StepResult:
        """The result of the rollout by its rubric; no reward if all weights of the rubric are zero."""
        output = self._task.result()
        if output.get("error") is not None:
            raise AgentError(f"{type(self._built).__name__}: {output['error']}")
        if self._failed:
            raise AgentError(f"{type(self._built).__name__}: {self._failed[0]}")
        added: list[Turn] = []
        for turn in reversed(_turns(output.get("completion") or [])):
            if turn[0] == "assistant":
                break
            added.insert(0, turn)
        judges = any(weight for rubric in _rubrics(self._built.rubric) for weight in rubric.weights)
        reward = float(output["reward"]) if judges else None
        return StepResult("\n".join(text for _, text in added), True, reward, logs=output.get("metrics") or {})

    def abandon(self) -> None:
        """Cancel an unfinished rollout."""
        if not self._task.done() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def _reply(self, messages: list[Any]) -> Any:
        self.messages = _turns(messages)
        self._answer = self._loop.create_future()
        if not self._question.done():
            self._question.set_result(None)
        return _response(self._verifiers, await self._answer, bool(getattr(self._built, "tool_defs", None)))


def _build_client(verifiers: Any, reply: Callable[[list[Any]], Any]) -> Any:
    """A client for verifiers that has no server."""

    class TurnClient(verifiers.clients.Client):  # type: ignore[misc] # a class of a package that may be absent
        def setup_client(self, config: Any) -> None: ...

        async def to_native_tool(self, tool: Any) -> Any:
            return tool

        async def to_native_prompt(self, messages: Any) -> tuple[Any, dict[str, Any]]:
            return messages, {}

        async def get_native_response(self, prompt: Any, *_: Any, **__: Any) -> Any:
            return await reply(prompt)

        async def raise_from_native_response(self, response: Any) -> None: ...

        async def from_native_response(self, response: Any) -> Any:
            return response

        async def close(self) -> None: ...

    return TurnClient(None)


def _response(verifiers: Any, action: str, has_tools: bool) -> Any:
    """The action as a server's response, with tool calls parsed if the environment has tools."""
    parsed = [each for each in parse_tool_calls(action) if isinstance(each, ToolCall)] if has_tools else []
    calls = [
        verifiers.types.ToolCall(id=f"call_{index}", name=call.name, arguments=json.dumps(call.arguments))
        for index, call in enumerate(parsed)
    ]
    message = verifiers.types.ResponseMessage(
        content=action, tool_calls=calls or None, finish_reason="tool_calls" if calls else "stop", is_truncated=False
    )
    return verifiers.types.Response(id="plaudit", created=0, model="plaudit", message=message)


def _feedback(added: list[Turn]) -> StepResult:
    is_tool = all(role == "tool" for role, _ in added)
    return StepResult("\n".join(text for _, text in added), False, role="tool" if is_tool else "user")


def _turns(messages: list[Any]) -> list[Turn]:
    plain = [each if isinstance(each, dict) else each.model_dump() for each in messages]
    return [(str(each["role"]), message_text(each)) for each in plain]


def _rubrics(rubric: Any) -> Iterator[Any]:
    yield rubric
    for each in getattr(rubric, "rubrics", ()):
        yield from _rubrics(each)


def _record_failures(rubric: Any) -> None:
    """Record exceptions of reward functions, which a rubric turns into 0."""
    for each in _rubrics(rubric):
        each.funcs = [_recording(function) for function in each.funcs]


def _recording(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*arguments: Any, **named: Any) -> Any:
        try:
            returned = function(*arguments, **named)
            return await returned if inspect.isawaitable(returned) else returned
        except Exception as error:
            _failures.get([]).append(f"{function.__name__}: {type(error).__name__}: {error}")
            raise

    return call
