"""Many episodes at once in one process: actions are drawn together, once every episode waits for one.

A round is as slow as its slowest environment, and in return the same episodes always share a batch: with a seed, what
is drawn does not depend on which environment answers first. Which episode asks is told by a context variable, so one
executor may serve them all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from plaudit.agents.generation import Action, Drawn, Generation
from plaudit.errors import AgentError

__all__ = ["Request", "Rounds"]

T = TypeVar("T")
_seat: ContextVar[int] = ContextVar("plaudit_episode")


@dataclass(frozen=True, slots=True)
class Request:
    """The tokens of an episode so far, and how its next action is to be drawn."""

    token_ids: list[int]
    sampling_params: Any


class _Waiting(NamedTuple):
    seat: int
    request: Request
    future: asyncio.Future[Generation]


class Rounds:
    """An engine for the episodes that `play` runs; `draw` gives an action for each request of a round.

    `read` makes of an episode's sampling params what `draw` is to get; what it raises is that episode's own affair.
    """

    def __init__(
        self, draw: Callable[[list[Request]], list[Action]], read: Callable[[Any], Any] = lambda params: params
    ) -> None:
        self._draw, self._read = draw, read
        self._playing: set[int] = set()
        self._waiting: list[_Waiting] = []
        self._broken: BaseException | None = None
        self._drawing: asyncio.Task[list[Action]] | None = None

    async def play(self, episodes: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
        """Play all of them to their ends, and give what each returns; where drawing fails, that is raised."""
        if self._playing:
            raise AgentError("these rounds are being played already; make other ones for other episodes")
        self._playing, self._waiting, self._broken = set(range(len(episodes))), [], None
        tasks = [asyncio.create_task(self._played(seat, episode)) for seat, episode in enumerate(episodes)]
        try:
            return await asyncio.gather(*tasks)
        finally:
            self._playing.clear()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def generate(self, token_ids: list[int], sampling_params: Any, *_: Any, **__: Any) -> Generation:
        """The next action of the episode that asks, drawn with those of all others."""
        request = Request(list(token_ids), self._read(sampling_params))
        future: asyncio.Future[Generation] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(_seat.get(), request, future))
        self._go_on()
        return await future

    async def _played(self, seat: int, episode: Callable[[], Awaitable[T]]) -> T:
        _seat.set(seat)
        try:
            given = await episode()
        finally:
            self._playing.discard(seat)
            self._go_on()
        if self._broken is not None:  # an episode may have swallowed it
            raise self._broken
        return given

    def _go_on(self) -> None:
        """Draw, if nobody is left to wait for."""
        self._waiting = [each for each in self._waiting if not each.future.done()]
        if not self._playing or self._playing != {each.seat for each in self._waiting}:
            return
        ready = sorted(self._waiting, key=lambda each: each.seat)
        self._waiting = []
        self._drawing = asyncio.create_task(self._drawn([each.request for each in ready]))
        self._drawing.add_done_callback(lambda done: self._hand_out([each.future for each in ready], done))

    async def _drawn(self, requests: list[Request]) -> list[Action]:
        return self._draw(requests)

    def _hand_out(self, futures: list[asyncio.Future[Generation]], drawing: asyncio.Task[list[Action]]) -> None:
        """Give every episode its action; or the error, to all of them."""
        if drawing.cancelled():
            return
        self._broken = drawing.exception()
        for place, future in enumerate(futures):
            if future.done():
                continue
            if self._broken is not None:
                future.set_exception(self._broken)
            else:
                future.set_result(Generation([Drawn.of(drawing.result()[place])]))
