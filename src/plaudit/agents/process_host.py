"""Run every environment in a separate process, which a deadline kills with everything it started.

Processes are forked from a template that has loaded the agent, so a new one is there in milliseconds; one whose episode
has ended takes the next. Python's and NumPy's common random numbers are seeded for every episode, since an episode may
get any of the processes.
"""

import asyncio
import importlib
import inspect
import pickle
import random
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from plaudit.agents.hosts import EnvironmentHost, EnvironmentSession, HostedEnvironment, name_method
from plaudit.contract.failures import DescribedFailure, attempt
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import AgentError
from plaudit.frames import FrameTooLong
from plaudit.processes.child import ChildProcess, Template, describe_exit
from plaudit.processes.pool import PoolUnit, template_of
from plaudit.processes.worker import Service, UnitProgress

MAX_ANSWER = 1 << 28
LOADER = "plaudit.loading.agents:load_agent"


class ProcessHost(EnvironmentHost):
    """Runs the environments of an agent spec (`agent.py`, a built-in name, `module:Class`) in at most `workers`
    processes; episodes beyond that wait for one to be free."""

    def __init__(self, spec: str, environment: type, *, workers: int = 64) -> None:
        self.spec, self.environment, self.workers = spec, environment, workers
        self._template: Template | None = None
        self._idle: list[_Worker] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._running = 0

    async def open(self) -> HostedEnvironment:
        return _ProcessEnvironment(self, await self._acquire())

    def close(self) -> None:
        """End all processes."""
        for worker in self._idle:
            worker.kill()
        if self._template is not None:
            self._template.close()
        self._template, self._idle, self._running = None, [], 0

    async def _acquire(self) -> "_Worker":
        """An idle worker or a new one; waits until there is room for one."""
        while not self._idle and self._running >= self.workers:
            room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(room)
            try:
                await room
            except asyncio.CancelledError:
                if room.done() and not room.cancelled():  # pass the slot on to the next caller
                    self._wake_next()
                raise
        if self._idle:
            return self._idle.pop()
        self._running += 1
        try:
            return await self._start_worker()
        except BaseException:
            self._running -= 1
            self._wake_next()
            raise

    async def _start_worker(self) -> "_Worker":
        if self._template is None:
            self._template = template_of(EnvironmentService(self.spec))
        worker = _Worker(self._template.start_worker(MAX_ANSWER))
        try:
            greeting = pickle.loads(await worker.receive())
            reason = greeting.get("refusal", "")
        except EOFError:
            reason = describe_exit(worker.process.exit_code())
        except BaseException:
            worker.kill()
            raise
        if reason:
            worker.kill()
            self.close()
            raise AgentError(f"the process for {self.spec} did not start: {reason}")
        return worker

    def _release(self, worker: "_Worker", *, kill: bool) -> None:
        """Keep a worker for the next episode, or free its slot, and wake the caller that has waited longest."""
        worker.rest()
        if kill:
            worker.kill()
            self._running -= 1
        else:
            self._idle.append(worker)
        self._wake_next()

    def _wake_next(self) -> None:
        while self._waiting:
            room = self._waiting.popleft()
            if not room.done() and not room.get_loop().is_closed():
                room.set_result(None)
                return


class _ProcessEnvironment(HostedEnvironment):
    def __init__(self, host: ProcessHost, worker: "_Worker") -> None:
        self._host, self._worker, self._ended, self._broken = host, worker, False, False

    def end(self, *, kill: bool = False) -> None:
        if not self._ended:
            self._ended = True
            self._host._release(self._worker, kill=kill or self._broken)

    async def call(self, method: str, *arguments: Any) -> Any:
        self._broken = True  # until it has answered
        try:
            await self._worker.send((method, arguments))
            body = await self._worker.receive()
        except (EOFError, OSError, FrameTooLong):
            raise AgentError("the environment's process died") from None
        self._broken = False
        try:
            answer = pickle.loads(memoryview(body)[1:])  # after the kind of the message
        except Exception as error:
            raise AgentError(f"what the environment returned cannot be read in this process: {error}") from error
        if isinstance(answer, RewardOutput):
            raise DescribedFailure(answer)
        return answer


class _Worker:
    """A worker process, read by the event loop of the episode that it plays."""

    def __init__(self, process: ChildProcess) -> None:
        self.process = process
        self._messages: deque[bytes] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None  # the one that watches the pipe
        self._arrival: asyncio.Future[None] | None = None

    async def send(self, message: Any) -> None:
        try:
            body = pickle.dumps(message)
        except Exception as error:
            raise AgentError(f"the episode's data cannot be sent to another process: {error}") from error
        self.process.send(PoolUnit(body, 1).message())
        loop = asyncio.get_running_loop()
        while self.process.unsent:
            writable: asyncio.Future[None] = loop.create_future()
            loop.add_writer(self.process.writing, _settle, writable)
            try:
                await writable
            finally:
                loop.remove_writer(self.process.writing)
            self.process.flush()

    async def receive(self) -> bytes:
        """The next message; EOFError if the process has ended, FrameTooLong if it is over the limit."""
        while not self._messages:
            if self.process.has_ended:
                raise EOFError
            loop = asyncio.get_running_loop()
            self._arrival = loop.create_future()
            self._watch(loop)
            await self._arrival
            self._messages.extend(self.process.receive())
        return self._messages.popleft()

    def rest(self) -> None:
        """Stop watching the pipe: the episode has ended, and its event loop may end too."""
        self._watch(None)

    def kill(self) -> None:
        self._watch(None)
        self.process.kill()

    def _watch(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Let this loop watch the pipe: for the whole episode, since adding a reader for every answer costs more."""
        if loop is self._loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self.process.reading)
        self._loop = loop
        if loop is not None:
            loop.add_reader(self.process.reading, self._arrive)

    def _arrive(self) -> None:
        if self._arrival is None or self._arrival.done():  # no reader waits: it stays in the pipe
            self._watch(None)
        else:
            self._arrival.set_result(None)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class EnvironmentService(Service):
    """The environment of an agent spec."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self._environment: type = object

    def preload(self) -> None:
        module, _, function = LOADER.partition(":")
        try:
            self._environment = getattr(importlib.import_module(module), function)(self._spec).environment
        except BaseException as error:
            raise AgentError(f"{type(error).__name__}: {error}"[:4000]) from error

    def open(self) -> "EnvironmentHandler":
        return EnvironmentHandler(self._environment)


class EnvironmentHandler:
    """Answers calls of an environment's methods; a new instance is made for every episode."""

    in_order = False

    def __init__(self, environment: type) -> None:
        self._environment = environment
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._session = self._new_session()

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        method, arguments = pickle.loads(body)
        if method == "create":
            self._session = self._new_session()
        elif method == "reset":
            _seed_everything(arguments[0].seed)
        call = attempt(name_method(self._environment, method), partial(getattr(self._session, method), *arguments))
        return _pack(self._loop.run_until_complete(call) if self._session.is_async(method) else _run_at_once(call))

    def _new_session(self) -> EnvironmentSession:
        return EnvironmentSession(self._environment, self._call_here)

    async def _call_here(self, call: Callable[[], Any]) -> Any:
        returned = call()
        return self._loop.run_until_complete(_await(returned)) if inspect.isawaitable(returned) else returned


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _run_at_once(call: Coroutine[Any, Any, Any]) -> Any:
    """The result of a call that awaits nothing: an event loop would cost more than most steps."""
    try:
        call.send(None)
    except StopIteration as end:
        return end.value
    call.close()
    raise RuntimeError("a method that is not async awaited something outside its event loop")


def _pack(answer: Any) -> bytes:
    try:
        return pickle.dumps(answer)
    except Exception as error:  # noqa: BLE001 - objects may refuse in any way
        reason = f"what the environment returned cannot be sent to another process: {type(error).__name__}: {error}"
        return pickle.dumps(RewardOutput.unscored(Status.ERROR, reason))


def _seed_everything(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
