"""The environment of an episode, which is reset once and then answers every action; and an environment of tool calls.

There are two contracts. `Environment` is typed: text in, `StepResult` out, sync or async. `AgentInstance` has the dicts
of OpenRLHF, so that its agent files run unchanged. What either returns is checked here. An environment that gives no
reward leaves scoring to a reward function.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from plaudit.contract.output import as_number
from plaudit.errors import AgentError, did_you_mean, rename_hint
from plaudit.jsonline import as_plain
from plaudit.verify.tools.parsing import MalformedCall as MalformedCall
from plaudit.verify.tools.parsing import ToolCall as ToolCall
from plaudit.verify.tools.parsing import parse_tool_calls as parse_tool_calls

KEYS = ("rewards", "scores", "environment_feedback", "done", "sampling_params", "extra_logs")


@dataclass(frozen=True, slots=True)
class EpisodeStart:
    """The start of an episode.

    `prompt` is text; of chat messages it is the last one of the user, and `messages` has all of them. All randomness of
    an environment follows from `seed`, which is derived from the run's seed, the batch and the index in it.
    """

    prompt: str
    ground_truth: Any = None
    seed: int = 0
    messages: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The other columns of the prompt's row."""
    images: Any = None
    """Passed on unchanged; plaudit's own samplers ignore them."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of an action: `reward` is None if the environment leaves scoring to a reward function."""

    feedback: str
    done: bool
    reward: float | None = None
    score: float | None = None
    """Correctness of the episode so far, from 0 to 1; groups are filtered by the last value."""
    sampling_params: Any = None
    """Sampling params for the next action; None keeps the current ones."""
    logs: Mapping[str, Any] = field(default_factory=dict)
    role: Literal["user", "tool"] = "user"
    """The chat role of the feedback."""
    state: str | None = None
    """The state in which the action was taken, for credit by `states`; None: the conversation before it."""

    def __post_init__(self) -> None:
        if not isinstance(self.feedback, str):
            raise AgentError(f"feedback must be text, got {self.feedback!r:.60}")
        check_encodable("feedback", self.feedback)
        if not isinstance(self.done, bool):
            raise AgentError(f"done must be True or False, got {self.done!r:.60}")
        if not isinstance(self.logs, Mapping):
            raise AgentError(f"logs must be a dict, got {self.logs!r:.60}")
        if self.state is not None and not isinstance(self.state, str):
            raise AgentError(f"state must be text, got {self.state!r:.60}")
        for name, value in (("reward", self.reward), ("score", self.score)):
            if value is not None:
                object.__setattr__(self, name, read_number(name, value))
        if self.logs:
            plain = {str(name): as_plain(_unwrap(value)) for name, value in self.logs.items()}
            object.__setattr__(self, "logs", plain)

    @classmethod
    def of(cls, returned: Any) -> "StepResult":
        """The result in the dict that `step` returned; numbers may be tensors with one element."""
        if isinstance(returned, cls):
            return returned
        if not isinstance(returned, Mapping):
            raise AgentError(f"step must return a dict with {', '.join(KEYS)}; got {type(returned).__name__}")
        if "done" not in returned:
            hint = rename_hint("done", map(str, returned))
            raise AgentError(f"step returned no 'done' but {', '.join(map(str, returned)) or 'nothing'}{hint}")
        done = bool(_unwrap(returned["done"]))
        feedback = returned.get("environment_feedback", "" if done else None)
        if not isinstance(feedback, str):
            raise AgentError(f"step must return text as 'environment_feedback', got {feedback!r:.60}")
        return cls(
            feedback=feedback,
            done=done,
            reward=read_number("rewards", returned.get("rewards")),
            score=read_number("scores", returned.get("scores")),
            sampling_params=returned.get("sampling_params"),
            logs=returned.get("extra_logs") or {},
        )


class Example(NamedTuple):
    """A start that fits an environment, with actions that reach the goal; no actions if none are known."""

    start: EpisodeStart
    actions: Sequence[str] = ()


class Environment(ABC):
    """One episode: `reset` begins it, `step` answers each action; both, and `close`, may be `async def`.

    An instance serves one episode, and instances share no state. All randomness is derived from `start.seed`.
    """

    tools: ClassVar[Sequence[Callable[..., Any]]] = ()
    """Functions whose signatures a chat template shows the model."""
    in_threads: ClassVar[bool] = False
    """Whether instances cannot hang, so that they need no worker processes."""

    @abstractmethod
    def reset(self, start: EpisodeStart) -> Any:
        """The first observation as text; None if the prompt stays unchanged."""

    @abstractmethod
    def step(self, action: str) -> Any:
        """The result of the action as a `StepResult`."""

    def close(self) -> Any:
        """End what the episode holds, such as a server; called once, however the episode ended."""
        return None

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Starts for `check_env` and `plaudit audit`."""
        return ()


class AgentInstance(ABC):
    """One episode's environment; `__init__` may be `async def`."""

    async def reset(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The first observation, for `states` with `observation` (the prompt) and `label` (the ground truth)."""
        return {"observation": states["observation"]}

    @abstractmethod
    async def step(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """The result of an action, for `states` with `observation_text`, `action_text`, `label`, `sampling_params`.

        The result has `environment_feedback` and `done`, and may have `rewards`, `scores`, `sampling_params` for the
        next action, and `extra_logs`.
        """


def check_encodable(what: str, text: str) -> None:
    """Raise AgentError if the text has unpaired surrogates, which cannot be encoded."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AgentError(
            f"{what} is no valid text: {text[error.start]!r} at {error.start}; decode bytes with errors='replace'"
        ) from None


def read_number(what: str, value: Any) -> float | None:
    """A finite number or None; it may come as a tensor or list with one element."""
    plain = value if type(value) is float else _unwrap(value)
    return None if plain is None else as_number(what, plain)


def _unwrap(value: Any) -> Any:
    """Tensors as numbers or lists; a list of one element as that element, unless it is a dict."""
    plain = value.tolist() if hasattr(value, "tolist") and not inspect.isclass(value) else value
    while isinstance(plain, list | tuple) and len(plain) == 1 and not isinstance(plain[0], Mapping):
        plain = plain[0]
    return plain


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
