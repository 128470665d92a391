"""What draws actions: token ids in, token ids out, in the shape that vLLM's engines give them.

`sampling_params` belong to one episode: they are copied before an engine or an environment sees them, since both may
change them.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plaudit.errors import AgentError

__all__ = ["Action", "Drawn", "Engine", "Generation", "Logprob", "SamplingParams", "action_of", "told", "with_room"]


@dataclass(slots=True)
class SamplingParams:
    """How the next action is drawn; an environment may change it or give another object with such attributes."""

    max_tokens: int = 64
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    stop: Sequence[str] = ()
    logprobs: int | None = 1


@dataclass(frozen=True, slots=True)
class Action:
    """What the model said in one turn, token by token."""

    ids: list[int]
    text: str
    logprobs: list[float] | None
    finish_reason: str


@dataclass(frozen=True, slots=True)
class Logprob:
    """The log-probability of a token."""

    logprob: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """An action as engines give it: `logprobs` has a table of tokens for each place."""

    token_ids: list[int]
    text: str
    logprobs: list[dict[int, Logprob]] | None
    finish_reason: str

    @classmethod
    def of(cls, action: Action) -> "Drawn":
        """The action in this shape."""
        tables = None
        if action.logprobs is not None:
            tables = [{token: Logprob(number)} for token, number in zip(action.ids, action.logprobs, strict=True)]
        return cls(action.ids, action.text, tables, action.finish_reason)


@dataclass(frozen=True, slots=True)
class Generation:
    """The answer of an engine; the first of `outputs` is the action."""

    outputs: list[Drawn]


class Engine(Protocol):
    """Draws one action after the tokens of an episode so far."""

    async def generate(self, token_ids: list[int], sampling_params: Any) -> Any:
        """A `Generation`, or an object of that shape."""
        ...


def action_of(generation: Any) -> Action:
    """The action in an engine's answer."""
    drawn = generation.outputs[0]
    ids = [int(token) for token in drawn.token_ids]
    if not ids:
        raise AgentError("the engine drew an action without tokens; ask for at least one")
    logprobs = None
    if drawn.logprobs is not None:
        logprobs = [_number(token, place) for token, place in zip(ids, drawn.logprobs, strict=True)]
    return Action(ids, drawn.text, logprobs, drawn.finish_reason or "stop")


def told(sampling_params: Any, name: str, otherwise: Any) -> Any:
    """One of the params, from an object or a dict; `otherwise` where they do not say."""
    found = sampling_params if isinstance(sampling_params, Mapping) else {name: getattr(sampling_params, name, None)}
    value = found.get(name)
    return otherwise if value is None else value


def with_room(sampling_params: Any, room: int | None) -> Any:
    """A copy of the params that draws at most `room` tokens."""
    own = copy.deepcopy(sampling_params)
    if room is None:
        return own
    most = min(int(told(own, "max_tokens", room)), room)
    if isinstance(own, Mapping):
        return {**own, "max_tokens": most}
    own.max_tokens = most
    return own


def _number(token: int, place: Any) -> float:
    found: Any = place[token] if isinstance(place, Mapping) else place
    return float(found.logprob if hasattr(found, "logprob") else found)
