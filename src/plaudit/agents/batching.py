"""Continuous batching: many episodes share one sampler, and a slow environment delays only its own episode.

When the sampler is idle, all pending requests are sampled as one batch; sampling runs in a thread, so environments
continue meanwhile. A request carries its episode and turn: a `draw` that derives its random numbers from these gives
the same actions whichever environment answers first.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

import msgspec

from plaudit.agents.generation import Action
from plaudit.errors import AgentError

__all__ = ["ActionRequest", "ContinuousSampler"]

T = TypeVar("T")
_episode_index: ContextVar[int] = ContextVar("plaudit_episode")

LINGER_SHARE = 0.25
"""How long to wait for more requests, as a share of the time that the last draw took: larger batches cost less."""
LONGEST_LINGER_S = 0.02


class ActionRequest(msgspec.Struct, frozen=True):
    """The tokens of an episode so far, and how its next action is to be drawn."""

    token_ids: list[int]
    sampling_params: Any
    episode: int = 0
    turn: int = 0
    """How many actions this episode requested before."""


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
            while await self._linger():
                await self._draw_pending(thread)

    async def _linger(self) -> bool:
        """Wait a little for more requests, if a larger batch may pay; returns whether there is a request."""
        until = time.perf_counter() + min(LONGEST_LINGER_S, LINGER_SHARE * self._last_s)
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
        if len(self._pending) < len(self._playing):  # most often, and at once
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
