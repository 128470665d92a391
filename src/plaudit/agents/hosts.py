"""Where environments run: the contract of a host, calls with deadlines, and the host that uses this process.

Methods that are `async def` run in the event loop, others in a thread that an episode has for itself. A call that
overruns its deadline is cancelled and abandoned; a thread cannot be killed and keeps running. Environments that may
hang in Python code need a `ProcessHost`, which kills them.
"""

import asyncio
import contextvars
import inspect
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from plaudit.agents.environment import Environment, EpisodeStart, StepResult
from plaudit.contract.failures import attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError

RunCall = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a call that may block, and awaits what it returns."""


@dataclass(frozen=True, slots=True)
class FirstObservation:
    """The observation that `reset` returned; `text` is None if the prompt stays unchanged."""

    text: str | None
    images: Any = None


class ActionStates(msgspec.Struct, frozen=True):
    """The description of an action for the environment; a typed environment gets only its text."""

    observation_text: str
    action_text: str
    label: Any = None
    sampling_params: Any = None
    images: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The dict of OpenRLHF's contract."""
        states = msgspec.structs.asdict(self)
        return {name: value for name, value in states.items() if name != "images" or value is not None}


class HostedEnvironment(ABC):
    """The environment of one episode, in this process or another."""

    @abstractmethod
    async def call(self, method: str, *arguments: Any) -> Any:
        """The result of `create`, of `reset` with an EpisodeStart, of `step` with ActionStates, or of `close`."""

    @abstractmethod
    def end(self, *, kill: bool = False) -> None:
        """The episode is over; `kill` if one of its calls did not return."""


class EnvironmentHost(ABC):
    """Gives every episode an environment of its own."""

    environment: type

    @abstractmethod
    async def open(self) -> HostedEnvironment:
        """A slot for one episode; waits until one is free."""

    @abstractmethod
    def close(self) -> None:
        """End all that runs."""


class LocalHost(EnvironmentHost):
    """Runs environments in this process."""

    def __init__(self, environment: type) -> None:
        self.environment = environment

    async def open(self) -> HostedEnvironment:
        return _LocalEnvironment(self.environment)

    def close(self) -> None:
        """Threads end with their episodes."""


class EnvironmentSession:
    """One instance of an environment, called as its contract demands; runs in threads and in worker processes.

    `run_blocking` runs the methods that are not `async def`.
    """

    def __init__(self, environment: type, run_blocking: RunCall) -> None:
        self._class, self._run_blocking = environment, run_blocking
        self._is_typed = issubclass(environment, Environment)
        self._instance: Any = None

    async def create(self) -> None:
        """Make the instance, also if its `__init__` is async, which Python itself does not allow."""
        kind: Any = self._class

        def build() -> Any:
            self._instance = kind.__new__(kind)
            return kind.__init__(self._instance)

        await _await_if_needed(build() if self.is_async("create") else await self._run_blocking(build))

    def is_async(self, method: str) -> bool:
        """Whether `create`, `reset` or `step` runs in the event loop, not by `run_blocking`."""
        if method != "create":
            return inspect.iscoroutinefunction(getattr(self._instance, method, None))
        kind: Any = self._class
        return inspect.iscoroutinefunction(kind.__init__) or all(
            map(inspect.iscoroutinefunction, (kind.reset, kind.step))
        )

    async def reset(self, start: EpisodeStart) -> FirstObservation:
        """The first observation."""
        if self._is_typed:
            text = await self._call(self._instance.reset, start)
            if text is not None and not isinstance(text, str):
                raise AgentError(f"reset must return text, or None to leave the prompt unchanged; got {text!r:.80}")
            return FirstObservation(text, start.images)
        states = {"observation": start.prompt, "label": start.ground_truth}
        if start.images is not None:
            states["images"] = start.images
        returned = await self._call(self._instance.reset, states)
        if not isinstance(returned, Mapping) or not isinstance(returned.get("observation"), str):
            raise AgentError(f"reset must return {{'observation': text}}, got {returned!r:.80}")
        return FirstObservation(str(returned["observation"]), returned.get("images", start.images))

    async def step(self, states: ActionStates) -> StepResult:
        """The result of the action, checked."""
        if not self._is_typed:
            return StepResult.of(await self._call(self._instance.step, states.as_dict()))
        result = await self._call(self._instance.step, states.action_text)
        if not isinstance(result, StepResult):
            raise AgentError(f"step must return a StepResult, got {type(result).__name__}")
        return result

    async def close(self) -> None:
        """End what the instance holds."""
        await self._call(self._instance.close)

    async def _call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        if inspect.iscoroutinefunction(method):
            return await method(*arguments)
        return await _await_if_needed(await self._run_blocking(partial(method, *arguments)))


class EnvironmentCalls:
    """The calls of one episode to its environment, each with a deadline (None: no deadline).

    All calls run in one task, so an environment may enter an async context in `reset` and leave it in `step`. A call
    that overruns is cancelled and abandoned: it may clean up or refuse to end, and the episode does not wait for it.
    """

    def __init__(self, host: EnvironmentHost, deadline_s: float | None) -> None:
        self._host, self._deadline_s = host, deadline_s
        self._hosted: HostedEnvironment | None = None
        self._calls: asyncio.Queue[tuple[str, Callable[[], Any], asyncio.Future[Any]]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._has_returned, self._was_reset = True, False

    async def open(self) -> None:
        """Wait for a slot of the host, which does not count against the deadline."""
        self._hosted = await self._host.open()
        self._task = asyncio.create_task(self._run_calls())
        asyncio._unregister_task(self._task)  # an abandoned call must not keep asyncio.run from ending
        self._task._log_destroy_pending = False  # type: ignore[attr-defined]
        _running.add(self._task)
        self._task.add_done_callback(_running.discard)

    async def call(self, method: str, *arguments: Any) -> Any:
        """The return value of a method of the hosted environment, or a RewardOutput with the reason of its failure."""
        assert self._hosted is not None
        assert self._task is not None
        name = name_method(self._host.environment, method)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls.put_nowait((name, partial(self._hosted.call, method, *arguments), answer))
        self._has_returned, self._was_reset = False, self._was_reset or method == "reset"
        await asyncio.wait({answer, self._task}, timeout=self._deadline_s, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done() and not self._task.done():
            self._task.cancel()
            reason = f"{name} took longer than the {self._deadline_s:g} s that it has"
            return RewardOutput.unscored(Status.TIMEOUT, reason)
        self._has_returned = True
        return answer.result() if answer.done() else _cancelled_itself(name)

    async def end(self) -> None:
        """Close the environment and release the slot; an environment that has not answered is killed."""
        kind = self._host.environment
        closes = issubclass(kind, Environment) and kind.close is not Environment.close
        if closes and self._was_reset and self._has_returned:
            await self.call("close")
        if self._task is not None:
            self._task.cancel()
        if self._hosted is not None:
            self._hosted.end(kill=not self._has_returned)

    async def _run_calls(self) -> None:
        while True:
            name, call, answer = await self._calls.get()
            result: Any = _cancelled_itself(name)
            try:
                result = await attempt(name, call)
            finally:
                if not answer.done():
                    answer.set_result(result)


_running: set["asyncio.Task[None]"] = set()  # the event loop holds tasks by weak references only


def name_method(environment: type, method: str) -> str:
    """The name of an environment's method in messages."""
    return f"{environment.__name__}.{'__init__' if method == 'create' else method}"


def _cancelled_itself(name: str) -> RewardOutput:
    return RewardOutput.unscored(Status.ERROR, f"{name} cancelled itself")


class _LocalEnvironment(HostedEnvironment):
    def __init__(self, environment: type) -> None:
        self._thread: _EpisodeThread | None = None
        self._session = EnvironmentSession(environment, self._run_blocking)

    async def call(self, method: str, *arguments: Any) -> Any:
        return await getattr(self._session, method)(*arguments)

    def end(self, *, kill: bool = False) -> None:
        if self._thread is not None:
            self._thread.end()

    async def _run_blocking(self, call: Callable[[], Any]) -> Any:
        if self._thread is None:
            self._thread = _EpisodeThread()
        return await self._thread.run(call)


class _EpisodeThread:
    """A daemon thread for the blocking calls of one episode: a call that hangs must not keep Python from exiting."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="plaudit-environment", daemon=True).start()

    async def run(self, call: Callable[[], Any]) -> Any:
        """Return or raise the result of the call."""
        future: Future[Any] = Future()
        self._calls.put((future, partial(contextvars.copy_context().run, call)))
        return await asyncio.wrap_future(future)

    def end(self) -> None:
        """Let the thread end after its call."""
        self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except StopIteration as error:  # a future cannot hold it
                future.set_exception(RuntimeError(f"StopIteration: {error}"))
            except BaseException as error:  # noqa: BLE001 - raised again where the call was made
                future.set_exception(error)
            else:
                future.set_result(result)


async def _await_if_needed(returned: Any) -> Any:
    return await returned if inspect.isawaitable(returned) else returned
