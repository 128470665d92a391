"""Run every environment in a process of its own, which a deadline kills with everything it started.

Processes are forked from a template that has loaded the agent, so a new one is there in milliseconds; one whose episode
has ended takes the next. Python's and NumPy's common random numbers are seeded for every episode, since which process
it gets is a matter of time.
"""

import asyncio
import contextlib
import itertools
import json
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections import deque
from typing import Any, cast

from plaudit.agents.environment import EpisodeStart, StepResult
from plaudit.agents.hosting.host import EnvironmentHost, HostedEnvironment
from plaudit.agents.hosting.session import ActionStates, FirstObservation
from plaudit.contract.failures import DescribedFailure
from plaudit.contract.output import RewardOutput
from plaudit.errors import AgentError
from plaudit.frames import FrameBuffer, FrameTooLong, frame

__all__ = ["ProcessHost"]

CHUNK = 1 << 16  # more is mapped and unmapped for every answer
MAX_ANSWER = 1 << 28
LOADER = "plaudit.loading.agents:load_agent"


class ProcessHost(EnvironmentHost):
    """Runs the environments of an agent spec (`agent.py`, a built-in name, `module:Class`) in at most `workers`
    processes; episodes beyond that wait for one to be free."""

    def __init__(self, spec: str, environment: type, *, workers: int = 64) -> None:
        self.spec, self.environment, self.workers = spec, environment, workers
        self._template: _Template | None = None
        self._idle: list[_Worker] = []
        self._waiting: deque[asyncio.Future[_Worker | None]] = deque()
        self._running = 0
        self._lock = threading.Lock()

    async def open(self) -> HostedEnvironment:
        return _ProcessEnvironment(self, await self._acquire())

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            template, self._template = self._template, None
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()
        if template is not None:
            template.close()
        self._running = 0

    async def _acquire(self) -> "_Worker":
        if self._idle:
            return self._idle.pop()
        if self._running >= self.workers:
            free: asyncio.Future[_Worker | None] = asyncio.get_running_loop().create_future()
            self._waiting.append(free)
            worker = await free
            if worker is not None:
                return worker
        self._running += 1
        try:
            return await self._start_worker()
        except BaseException:
            self._running -= 1
            raise

    async def _start_worker(self) -> "_Worker":
        with self._lock:
            if self._template is None:
                self._template = _Template(self.spec)
            template = self._template
        worker = _Worker(template)
        try:
            await worker.receive()  # it is there
        except (EOFError, OSError) as error:
            worker.close()
            reason = template.last_words()
            self.close()
            raise AgentError(f"the process for {self.spec} did not start: {reason}") from error
        return worker

    def _release(self, worker: "_Worker", *, kill: bool) -> None:
        """Give a worker to whoever waits longest; a dead one makes room for a new one."""
        worker.rest()
        if kill:
            worker.kill()
            self._running -= 1
        while self._waiting:
            free = self._waiting.popleft()
            if free.done() or free.get_loop().is_closed():
                continue
            free.set_result(None if kill else worker)
            return
        if not kill:
            self._idle.append(worker)


class _ProcessEnvironment(HostedEnvironment):
    def __init__(self, host: ProcessHost, worker: "_Worker") -> None:
        self._host, self._worker, self._ended, self._broken = host, worker, False, False

    async def create(self) -> None:
        await self._call("create", None)

    async def reset(self, start: EpisodeStart) -> FirstObservation:
        return cast(FirstObservation, await self._call("reset", start))

    async def step(self, states: ActionStates) -> StepResult:
        return cast(StepResult, await self._call("step", states))

    def end(self, *, kill: bool = False) -> None:
        if not self._ended:
            self._ended = True
            self._host._release(self._worker, kill=kill or self._broken)

    async def _call(self, method: str, argument: Any) -> Any:
        self._broken = True  # until it has answered
        try:
            await self._worker.send((method, argument))
            answer = await self._worker.receive()
        except (EOFError, OSError):
            raise AgentError("the environment's process died") from None
        self._broken = False
        if isinstance(answer, RewardOutput):
            raise DescribedFailure(answer)
        return answer


class _Template:
    """The process that workers are forked from."""

    def __init__(self, spec: str) -> None:
        self._numbers = itertools.count()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        what = {"loader": LOADER, "spec": spec, "path": [os.path.abspath(place) for place in sys.path if place]}
        code = f"from plaudit.agents.hosting.template import main; main({theirs.fileno()})"
        paths = os.pathsep.join([*what["path"], os.environ.get("PYTHONPATH", "")])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code, json.dumps(what)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
            )

    def start(self, descriptor: int) -> int:
        """Ask for a worker that talks over a socket; its number."""
        number = next(self._numbers)
        socket.send_fds(self._control, [f"start {number}".encode()], [descriptor])
        return number

    def kill(self, number: int) -> None:
        with contextlib.suppress(OSError):
            self._control.send(f"kill {number}".encode())

    def last_words(self) -> str:
        """Why it could not load the agent, or how it ended."""
        with contextlib.suppress(OSError):
            self._control.settimeout(1.0)
            if said := self._control.recv(CHUNK):
                return said.decode(errors="replace")
        return f"exit code {self._process.wait()}"

    def close(self) -> None:
        """It ends its workers and itself when we close our end."""
        self._control.close()
        self._process.wait()


class _Worker:
    """A process, and the socket to it."""

    def __init__(self, template: _Template) -> None:
        self._template = template
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        with theirs:
            self._number = template.start(theirs.fileno())
        self._frames = FrameBuffer(MAX_ANSWER)
        self._loop: asyncio.AbstractEventLoop | None = None  # the one that watches the socket
        self._answer: asyncio.Future[bytes] | None = None

    async def send(self, message: Any) -> None:
        try:
            body = pickle.dumps(message)
        except Exception as error:
            raise AgentError(f"what the episode has cannot be sent to another process: {error}") from error
        await asyncio.get_running_loop().sock_sendall(self._socket, frame(body))

    async def receive(self) -> Any:
        body = self._frames.next()
        if body is None:
            loop = asyncio.get_running_loop()
            self._answer = loop.create_future()
            self._watch(loop)
            body = await self._answer
        try:
            return pickle.loads(body)
        except Exception as error:
            raise AgentError(f"what the environment returned cannot be read in this process: {error}") from error

    def rest(self) -> None:
        """The episode has ended, and the event loop may."""
        self._watch(None)

    def kill(self) -> None:
        self._template.kill(self._number)
        self.close()

    def close(self) -> None:
        self._watch(None)
        self._socket.close()

    def _watch(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Let this loop read what arrives: for the whole episode, since to begin and end it anew costs more."""
        if loop is self._loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
        self._loop = loop
        if loop is not None:
            loop.add_reader(self._socket, self._read)

    def _read(self) -> None:
        answer = self._answer
        if answer is None or answer.done():  # nobody asked: it stays where it is
            self._watch(None)
            return
        try:
            part = self._socket.recv(CHUNK)
            if not part:
                raise EOFError
            self._frames.feed(part)
            body = self._frames.next()
        except BlockingIOError:
            return
        except (EOFError, OSError, FrameTooLong) as error:
            self._watch(None)
            answer.set_exception(error)
            return
        if body is not None:
            answer.set_result(body)
