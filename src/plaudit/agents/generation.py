"""Samplers of actions: token ids in, token ids out, in the shape of vLLM's outputs; and one that needs no model.

`sampling_params` belong to one episode: they are copied before a sampler or an environment sees them, since both may
change them.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec

from plaudit.errors import AgentError

__all__ = [
    "Action",
    "ActionSampler",
    "CharacterTokenizer",
    "GenerationOutput",
    "Logprob",
    "SamplingParams",
    "ScriptedSampler",
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


class Action(msgspec.Struct, frozen=True, gc=False):
    """What the model wrote in one turn, token by token."""

    ids: list[int]
    text: str
    logprobs: list[float] | None
    finish_reason: str

    @property
    def outputs(self) -> list[GenerationOutput]:
        """The action in vLLM's shape, for executors that read it."""
        tables = None
        if self.logprobs is not None:
            tables = [{token: Logprob(number)} for token, number in zip(self.ids, self.logprobs, strict=True)]
        return [GenerationOutput(self.ids, self.text, tables, self.finish_reason)]


class ActionSampler(Protocol):
    """Draws one action after the tokens of an episode so far; vLLM's asynchronous engines have this method."""

    async def generate(self, token_ids: list[int], sampling_params: Any) -> Any:
        """An `Action`, or an object whose `outputs` begin with one in vLLM's shape."""
        ...


def read_action(generation: Any) -> Action:
    """The action in what a sampler returned."""
    action = generation if isinstance(generation, Action) else _read_output(generation.outputs[0])
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
    stop = sampling_params.stop  # many times quicker than a deep copy
    return replace(sampling_params, stop=stop if isinstance(stop, str | tuple) else list(stop))


def limit_tokens(sampling_params: Any, limit: int | None) -> Any:
    """A copy of the params that draws at most `limit` tokens; None is no limit."""
    params = copy_params(sampling_params)
    if limit is None:
        return params
    max_tokens = min(int(get_param(params, "max_tokens", limit)), limit)
    if isinstance(params, Mapping):
        return {**params, "max_tokens": max_tokens}
    params.max_tokens = max_tokens
    return params


def _read_output(output: Any) -> Action:
    ids = [int(token) for token in output.token_ids]
    logprobs = None
    if output.logprobs is not None:
        logprobs = [_read_logprob(token, position) for token, position in zip(ids, output.logprobs, strict=True)]
    return Action(ids, output.text, logprobs, output.finish_reason or "stop")


def _read_logprob(token: int, position: Any) -> float:
    entry: Any = position[token] if isinstance(position, Mapping) else position
    return float(entry.logprob if hasattr(entry, "logprob") else entry)


class CharacterTokenizer:
    """One token per character, for policies without a tokenizer; it has the methods of Hugging Face's."""

    bos_token = eos_token = eos_token_id = bos_token_id = chat_template = None
    all_special_ids: tuple[int, ...] = ()

    def __call__(
        self,
        text: str | Sequence[str],
        add_special_tokens: bool = True,
        **_: Any,
    ) -> dict[str, Any]:
        if isinstance(text, str):
            return {"input_ids": [ord(character) for character in text]}
        ids = [[ord(character) for character in each] for each in text]
        return {"input_ids": ids, "offset_mapping": [[(at, at + 1) for at in range(len(each))] for each in text]}

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return "".join(map(chr, ids))

    def batch_decode(self, ids: Sequence[Sequence[int]], **_: Any) -> list[str]:
        return [self.decode(each) for each in ids]


class ScriptedSampler:
    """Acts without a model: the action is what `answer` returns for the text so far."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer

    async def generate(self, token_ids: list[int], sampling_params: Any, **_: Any) -> Action:
        """The answer; an empty one becomes a space, since an action has at least one token."""
        text = self.answer("".join(map(chr, token_ids))) or " "
        return Action([ord(each) for each in text], text, None, "stop")
