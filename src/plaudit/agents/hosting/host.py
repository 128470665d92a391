"""What runs environments, and the host that runs them in this process.

Methods that are `async def` run in the event loop, others in a thread that an episode has for itself. An awaiting
method is cancelled at its deadline. A thread cannot be killed: it is left behind and told to exit, which ends what
runs Python code; what blocks in a system call costs nothing, but what holds the interpreter (a pattern that never ends)
stops everyone. For environments nobody has read there is `ProcessHost`.
"""

import asyncio
import contextlib
import contextvars
import ctypes
import queue
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

from plaudit.agents.environment import EpisodeStart, StepResult
from plaudit.agents.hosting.session import ActionStates, EnvironmentSession, FirstObservation

__all__ = ["EnvironmentHost", "HostedEnvironment", "LocalHost"]


class HostedEnvironment(ABC):
    """The environment of one episode, wherever it runs."""

    @abstractmethod
    async def create(self) -> None:
        """Make the instance."""

    @abstractmethod
    async def reset(self, start: EpisodeStart) -> FirstObservation:
        """The first observation."""

    @abstractmethod
    async def step(self, states: ActionStates) -> StepResult:
        """What an action led to."""

    @abstractmethod
    def end(self, *, kill: bool = False) -> None:
        """The episode is over; `kill` where a call of it did not return."""


class EnvironmentHost(ABC):
    """Gives every episode an environment of its own."""

    environment: type

    @abstractmethod
    async def open(self) -> HostedEnvironment:
        """A place for one episode; it may have to wait for one."""

    @abstractmethod
    def close(self) -> None:
        """End what runs."""


class LocalHost(EnvironmentHost):
    """Runs environments in this process."""

    def __init__(self, environment: type) -> None:
        self.environment = environment
        self._answers: _Answers | None = None

    async def open(self) -> HostedEnvironment:
        return _LocalEnvironment(self)

    @property
    def answers(self) -> "_Answers":
        """Where the threads of the running event loop leave their answers."""
        answers, loop = self._answers, asyncio.get_running_loop()
        if answers is None or answers.loop is not loop:
            answers = self._answers = _Answers(loop)
        return answers

    def close(self) -> None:
        """Threads end with their episodes."""


class _LocalEnvironment(HostedEnvironment):
    def __init__(self, host: LocalHost) -> None:
        self._host = host
        self._thread: EpisodeThread | None = None
        self._session = EnvironmentSession(host.environment, self._run_blocking)

    def create(self) -> Coroutine[Any, Any, None]:
        return self._session.create()

    def reset(self, start: EpisodeStart) -> Coroutine[Any, Any, FirstObservation]:
        return self._session.reset(start)

    def step(self, states: ActionStates) -> Coroutine[Any, Any, StepResult]:
        return self._session.step(states)

    def end(self, *, kill: bool = False) -> None:
        if self._thread is not None:
            self._thread.end(kill=kill)
            if kill:
                self._host.answers.look_again()

    def _run_blocking(self, call: Callable[[], Any]) -> Awaitable[Any]:
        if self._thread is None:
            self._thread = EpisodeThread()
        return self._thread.run(call, self._host.answers)


class EpisodeThread:
    """A thread for the blocking calls of one episode, which run one after the other."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_ThreadCall | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="plaudit-environment", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], Any], answers: "_Answers") -> Awaitable[Any]:
        """What the call returns or raises."""
        answer: asyncio.Future[Any] = answers.loop.create_future()
        self._calls.put(_ThreadCall(call, contextvars.copy_context(), answer, answers))
        return answer

    def end(self, *, kill: bool = False) -> None:
        """Let the thread end after its call; `kill` makes Python code in it exit."""
        self._calls.put(None)
        if kill and self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(SystemExit))

    def _work(self) -> None:
        with contextlib.suppress(SystemExit):
            while (asked := self._calls.get()) is not None:
                try:
                    result, error = asked.context.run(asked.call), None
                except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
                    result, error = None, raised
                asked.answers.post(asked.answer, result, error)


class _ThreadCall(NamedTuple):
    call: Callable[[], Any]
    context: contextvars.Context
    answer: asyncio.Future[Any]
    answers: "_Answers"


class _Answers:
    """What the threads of one event loop have to say: it is woken once for all that came meanwhile."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._posted: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._is_woken = False

    def post(self, answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        """Called in a thread; what nobody waits for any more is dropped."""
        self._posted.append((answer, result, error))
        if not self._is_woken:
            self._is_woken = True
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self.loop.call_soon_threadsafe(self._settle_all)

    def look_again(self) -> None:
        """A thread that was made to exit may have done so after it said that it would wake the loop."""
        self.loop.call_soon(self._settle_all)

    def _settle_all(self) -> None:
        self._is_woken = False  # before looking: whoever posts from here on wakes the loop again
        while self._posted:
            _settle(*self._posted.popleft())


def _settle(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    elif isinstance(error, StopIteration):  # a future cannot hold it
        answer.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        answer.set_exception(error)
