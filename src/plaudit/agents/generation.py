"""What draws actions: token ids in, token ids out, in the shape of vLLM's outputs.

`sampling_params` belong to one episode: they are copied before a sampler or an environment sees them, since both may
change them.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from plaudit.errors import AgentError

__all__ = [
    "Action",
    "ActionSampler",
    "DrawnAction",
    "Generation",
    "GenerationOutput",
    "Logprob",
    "SamplingParams",
    "copy_params",
    "get_param",
    "limit_tokens",
    "read_action",
]


@dataclass(slots=True)
class SamplingParams:
    """How the next action is drawn; an environment may change it or return another object with such attributes."""

    max_tokens: int = 64
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    stop: Sequence[str] = ()
    logprobs: int | None = 1


class Action(msgspec.Struct, frozen=True, gc=False):
    """What the model wrote in one turn, token by token."""

    ids: list[int]
    text: str
    logprobs: list[float] | None
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Logprob:
    """The log-probability of a token."""

    logprob: float


@dataclass(frozen=True, slots=True)
class GenerationOutput:
    """An action in vLLM's shape: `logprobs` has a table of tokens for each position."""

    token_ids: list[int]
    text: str
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str

    @classmethod
    def of(cls, action: Action) -> "GenerationOutput":
        """The action in this shape."""
        tables = None
        if action.logprobs is not None:
            tables = [{token: Logprob(number)} for token, number in zip(action.ids, action.logprobs, strict=True)]
        return cls(action.ids, action.text, tables, action.finish_reason)


@dataclass(frozen=True, slots=True)
class Generation:
    """What a sampler returns; the first of `outputs` is the action."""

    outputs: list[GenerationOutput]


class DrawnAction:
    """An action of our own samplers, in vLLM's shape only for executors that look at it."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action = action

    @property
    def outputs(self) -> list[GenerationOutput]:
        """The action as `Generation` has it."""
        return [GenerationOutput.of(self.action)]


class ActionSampler(Protocol):
    """Draws one action after the tokens of an episode so far; vLLM's asynchronous engines have this method."""

    async def generate(self, token_ids: list[int], sampling_params: Any) -> Any:
        """A `Generation`, or an object of that shape."""
        ...


def read_action(generation: Any) -> Action:
    """The action in what a sampler returned."""
    action = generation.action if type(generation) is DrawnAction else _read_output(generation.outputs[0])
    if not action.ids:
        raise AgentError("the sampler drew an action without tokens; ask for at least one")
    return action


def get_param(sampling_params: Any, name: str, default: Any) -> Any:
    """One of the params, from an object or a dict; `default` where they do not have it."""
    is_mapping = isinstance(sampling_params, Mapping)
    value = sampling_params.get(name) if is_mapping else getattr(sampling_params, name, None)
    return default if value is None else value


def copy_params(sampling_params: Any) -> Any:
    """A copy that shares nothing with the params."""
    if type(sampling_params) is not SamplingParams:
        return copy.deepcopy(sampling_params)
    given, stop = sampling_params, sampling_params.stop  # many times quicker than a deep copy
    own_stop = stop if isinstance(stop, str | tuple) else list(stop)
    return SamplingParams(given.max_tokens, given.temperature, given.top_p, given.top_k, own_stop, given.logprobs)


def limit_tokens(sampling_params: Any, limit: int | None) -> Any:
    """A copy of the params that draws at most `limit` tokens; None is no limit."""
    own = copy_params(sampling_params)
    if limit is None:
        return own
    max_tokens = min(int(get_param(own, "max_tokens", limit)), limit)
    if isinstance(own, Mapping):
        return {**own, "max_tokens": max_tokens}
    own.max_tokens = max_tokens
    return own


def _read_output(output: Any) -> Action:
    ids = [int(token) for token in output.token_ids]
    logprobs = None
    if output.logprobs is not None:
        logprobs = [_read_logprob(token, position) for token, position in zip(ids, output.logprobs, strict=True)]
    return Action(ids, output.text, logprobs, output.finish_reason or "stop")


def _read_logprob(token: int, position: Any) -> float:
    found: Any = position[token] if isinstance(position, Mapping) else position
    return float(found.logprob if hasattr(found, "logprob") else found)
