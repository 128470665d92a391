"""Many episodes in lockstep in one process: actions are drawn together, once every episode waits for one.

A turn is as slow as its slowest environment; in return the same episodes always share a batch: with a seed, what is
drawn does not depend on which environment answers first. A context variable identifies the episode that asks, so one
executor may serve them all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from plaudit.agents.generation import Action, Generation, GenerationOutput
from plaudit.errors import AgentError

__all__ = ["ActionRequest", "LockstepSampler"]

T = TypeVar("T")
_episode_index: ContextVar[int] = ContextVar("plaudit_episode")


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """The tokens of an episode so far, and how its next action is to be drawn."""

    token_ids: list[int]
    sampling_params: Any


class _PendingRequest(NamedTuple):
    episode: int
    request: ActionRequest
    future: asyncio.Future[Generation]


class LockstepSampler:
    """The sampler of the episodes that `play` runs; `draw` returns an action for each request of a turn.

    `convert_params` turns an episode's sampling params into what `draw` gets; what it raises fails that episode only.
    """

    def __init__(
        self,
        draw: Callable[[list[ActionRequest]], list[Action]],
        convert_params: Callable[[Any], Any] = lambda params: params,
    ) -> None:
        self._draw, self._convert_params = draw, convert_params
        self._playing: set[int] = set()
        self._pending: list[_PendingRequest] = []
        self._error: BaseException | None = None
        self._drawing: asyncio.Task[list[Action]] | None = None

    async def play(self, episodes: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Play all episodes to their ends and return what each returns; a failure of `draw` is raised."""
        if self._playing:
            raise AgentError("this sampler is already playing; make another one for other episodes")
        self._playing, self._pending, self._error = set(range(len(episodes))), [], None
        tasks = [asyncio.create_task(self._play_one(index, episode)) for index, episode in enumerate(episodes)]
        try:
            return await asyncio.gather(*tasks)
        finally:
            self._playing.clear()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def generate(self, token_ids: list[int], sampling_params: Any, *_: Any, **__: Any) -> Generation:
        """The next action of the episode that asks, drawn together with those of all others."""
        request = ActionRequest(list(token_ids), self._convert_params(sampling_params))
        future: asyncio.Future[Generation] = asyncio.get_running_loop().create_future()
        self._pending.append(_PendingRequest(_episode_index.get(), request, future))
        self._draw_if_all_wait()
        return await future

    async def _play_one(self, index: int, episode: Callable[[], Awaitable[T]]) -> T:
        _episode_index.set(index)
        try:
            returned = await episode()
        finally:
            self._playing.discard(index)
            self._draw_if_all_wait()
        if self._error is not None:  # the episode may have caught it
            raise self._error
        return returned

    def _draw_if_all_wait(self) -> None:
        """Draw, if every playing episode has a request."""
        self._pending = [each for each in self._pending if not each.future.done()]
        if not self._playing or self._playing != {each.episode for each in self._pending}:
            return
        ready = sorted(self._pending, key=lambda each: each.episode)
        self._pending = []
        self._drawing = asyncio.create_task(self._draw_actions([each.request for each in ready]))
        self._drawing.add_done_callback(lambda done: self._deliver([each.future for each in ready], done))

    async def _draw_actions(self, requests: list[ActionRequest]) -> list[Action]:
        return self._draw(requests)

    def _deliver(self, futures: list[asyncio.Future[Generation]], drawing: asyncio.Task[list[Action]]) -> None:
        """Pass every episode its action; or the error, to all of them."""
        if drawing.cancelled():
            return
        self._error = drawing.exception()
        for place, future in enumerate(futures):
            if future.done():
                continue
            if self._error is not None:
                future.set_exception(self._error)
            else:
                future.set_result(Generation([GenerationOutput.of(drawing.result()[place])]))
