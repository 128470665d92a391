"""Samplers of actions: token ids in, token ids out, in the shape of vLLM's outputs.

`sampling_params` belong to one episode: they are copied before a sampler or an environment sees them, since both may
change them. `ContinuousSampler` serves many episodes: when it is idle, all pending requests are sampled as one batch in
a thread, so a slow environment delays only its own episode. A request carries its episode and turn: a `draw` that
derives its random numbers from these gives the same actions whichever environment answers first.
"""

import asyncio
import copy
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from plaudit.errors import AgentError


@dataclass(slots=True)
class SamplingParams:
    """The sampling parameters of the next action; an environment may change them or return another object with these
    attributes.
    """

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
    """The tokens that the model wrote in one turn."""

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
    """Draws one action after the tokens of an episode; vLLM's asynchronous engines have this method."""

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


T = TypeVar("T")
_episode_index: ContextVar[int] = ContextVar("plaudit_episode")

WAIT_SHARE = 0.25
"""The time to wait for more requests, as a share of the time of the last draw: larger batches cost less."""
MAX_WAIT_S = 0.02


class ActionRequest(msgspec.Struct, frozen=True):
    """The tokens of an episode so far, and how its next action is to be drawn."""

    token_ids: list[int]
    sampling_params: Any
    episode: int = 0
    turn: int = 0
    """The number of actions that this episode requested before."""


class _PendingRequest(NamedTuple):
    request: ActionRequest
    future: asyncio.Future[Action]


class ContinuousSampler:
    """The sampler of the episodes that `play` runs; `draw` returns an action for each of the requests it is given.

    `prepare(token_ids, params)` turns an episode's sampling params into what `draw` gets; what it raises fails that
    episode only. A context variable identifies the episode, so one executor may serve them all.
    """

    def __init__(
        self,
        draw: Callable[[list[ActionRequest]], list[Action]],
        prepare: Callable[[list[int], Any], Any] = lambda _, params: params,
    ) -> None:
        self._draw, self._prepare = draw, prepare
        self._playing: set[int] = set()
        self._turns: Counter[int] = Counter()
        self._pending: list[_PendingRequest] = []
        self._arrived = asyncio.Event()
        self._error: BaseException | None = None
        self._last_s = 0.0

    async def play(self, episodes: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Play all episodes to their ends and return what each returns; a failure of `draw` is raised."""
        if self._playing:
            raise AgentError("this sampler is already playing; make another one for other episodes")
        self._playing, self._pending, self._error = set(range(len(episodes))), [], None
        self._turns.clear()
        with ThreadPoolExecutor(1, "plaudit-drawing") as thread:
            drawing = asyncio.create_task(self._draw_all(thread))
            tasks = [asyncio.create_task(self._play_one(index, episode)) for index, episode in enumerate(episodes)]
            try:
                return await asyncio.gather(*tasks)
            finally:
                self._playing.clear()
                for task in (drawing, *tasks):
                    task.cancel()
                await asyncio.gather(drawing, *tasks, return_exceptions=True)

    async def generate(self, token_ids: list[int], sampling_params: Any, *_: Any, **__: Any) -> Action:
        """The next action of the calling episode, drawn in one batch with all pending requests."""
        if self._error is not None:
            raise self._error
        episode = _episode_index.get()
        turn = self._turns[episode]
        self._turns[episode] += 1
        request = ActionRequest(list(token_ids), self._prepare(token_ids, sampling_params), episode, turn)
        future: asyncio.Future[Action] = asyncio.get_running_loop().create_future()
        self._pending.append(_PendingRequest(request, future))
        self._arrived.set()
        return await future

    async def _play_one(self, index: int, episode: Callable[[], Awaitable[T]]) -> T:
        _episode_index.set(index)
        try:
            returned = await episode()
        finally:
            self._playing.discard(index)
            self._arrived.set()  # the others may all be waiting now
        if self._error is not None:  # the episode may have caught it
            raise self._error
        return returned

    async def _draw_all(self, thread: ThreadPoolExecutor) -> None:
        """Draw pending requests until all episodes have ended."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while await self._wait_for_requests():
                await self._draw_pending(thread)

    async def _wait_for_requests(self) -> bool:
        """Wait a little for more requests, if a larger batch may pay; returns whether there is a request."""
        until = time.perf_counter() + min(MAX_WAIT_S, WAIT_SHARE * self._last_s)
        while True:
            for _ in range(3):  # an episode that got an action just now may answer at once
                await asyncio.sleep(0)
            left = until - time.perf_counter()
            if left <= 0 or self._all_wait():
                self._pending = [each for each in self._pending if not each.future.done()]
                return bool(self._pending)
            self._arrived.clear()
            try:
                async with asyncio.timeout(left):
                    await self._arrived.wait()
            except TimeoutError:
                continue

    def _all_wait(self) -> bool:
        if len(self._pending) < len(self._playing):  # the usual case, decided without a set
            return not self._pending
        return {each.request.episode for each in self._pending} >= self._playing

    async def _draw_pending(self, thread: ThreadPoolExecutor) -> None:
        """Draw all pending requests and resolve their futures, with an action each or with the error."""
        ready = sorted(self._pending, key=lambda each: (each.request.episode, each.request.turn))
        self._pending = []
        began = time.perf_counter()
        try:
            requests = [each.request for each in ready]
            actions = await asyncio.get_running_loop().run_in_executor(thread, self._draw, requests)
            if len(actions) != len(requests):  # else an episode would wait forever
                raise AgentError(f"the sampler drew {len(actions)} actions for {len(requests)} requests; give one each")
        except Exception as error:  # noqa: BLE001 - it is raised where the episodes are played
            self._error = error
            for each in ready:
                if not each.future.done():
                    each.future.set_exception(error)
            return
        self._last_s = time.perf_counter() - began
        for each, action in zip(ready, actions, strict=True):
            if not each.future.done():
                each.future.set_result(action)
