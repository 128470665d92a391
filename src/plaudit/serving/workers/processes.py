"""The server's side of the template process and of each worker: started, spoken with, ended."""

import asyncio
import os
import pickle
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from plaudit.frames import FrameBuffer, frame
from plaudit.python_command import python_command
from plaudit.serving.workers.queueing import Job
from plaudit.serving.workers.template import END, START
from plaudit.serving.workers.wire import UNBEGUN, Answer, JournalView, encode_unit, read_answers

__all__ = ["TemplateProcess", "WorkerProcess"]

CLOSE_S = 5.0
MODULE = "plaudit.serving.workers.template"


class TemplateProcess:
    """The process that workers are forked from; `ended` is called with the worker and its exit code."""

    def __init__(self, on_end: Callable[["WorkerProcess", int], None]) -> None:
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = python_command(MODULE, "main", theirs.fileno(), os.getpid())
            self._process = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        self._control.setblocking(False)
        self._loop.add_reader(self._control, self._listen)
        self._starting: list[WorkerProcess] = []
        self._living: dict[int, WorkerProcess] = {}
        self.lost = False

    def start(self, worker: "WorkerProcess", channel: socket.socket) -> None:
        """Fork a worker with its ends of the channel and of the journal."""
        self._starting.append(worker)
        with channel:
            socket.send_fds(self._control, [START], [channel.fileno(), worker.journal.descriptor])

    def end(self, worker: "WorkerProcess") -> None:
        """Kill a worker with everything it started."""
        if worker.pid is not None and not self.lost:
            with suppress(OSError):
                self._control.send(END + str(worker.pid).encode())

    def close(self) -> "asyncio.Future[None]":
        """End the template and with it all its workers; they are gone when the future is done."""
        if not self._control._closed:  # type: ignore[attr-defined]
            self._loop.remove_reader(self._control)
            self._control.close()
        return self._loop.run_in_executor(None, self._wait)

    def _wait(self) -> None:
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        try:
            message = self._control.recv(256)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            message = b""
        if not message:
            self._lose()
            return
        kind, pid, *rest = message.decode().split()
        if kind == "started":
            worker = self._starting.pop(0)
            worker.pid = int(pid)
            self._living[worker.pid] = worker
            if worker.unwanted:
                self.end(worker)
        elif worker_ended := self._living.pop(int(pid), None):
            self._on_end(worker_ended, int(rest[0]))

    def _lose(self) -> None:
        """The template is gone: its workers go with it."""
        self.lost = True
        self._loop.remove_reader(self._control)
        gone = [*self._starting, *self._living.values()]
        self._starting, self._living = [], {}
        for worker in gone:
            self._on_end(worker, -9)


class WorkerProcess(asyncio.Protocol):
    """One worker: what it was given, since when it is at it, and what it says of itself when it is ready."""

    def __init__(
        self,
        template: TemplateProcess,
        setup: bytes,
        on_ready: Callable[["WorkerProcess"], None],
        on_answers: Callable[["WorkerProcess", list[Answer], bool], None],
    ) -> None:
        self.journal = JournalView()
        self.pid: int | None = None
        self.jobs: list[Job] = []  # of its unit, that are not answered
        self.answered = 0  # how many of its unit are
        self.moved: set[Job] = set()  # jobs of its unit that were given to others
        self.working = False
        self.since, self.units = 0.0, 0
        self.seen_since = 0.0  # when it was first seen at the place it was last seen at
        self.seen_at = self.late_at = (0, UNBEGUN)  # unit and place where it was last seen, and last found to be late
        self.greeting: Any = None
        self.ready = self.unwanted = self.overran = False
        self._buffer = FrameBuffer()
        self._template, self._on_ready, self._on_answers = template, on_ready, on_answers
        self._transport: asyncio.Transport | None = None
        ours, theirs = socket.socketpair()
        template.start(self, theirs)
        ours.setblocking(False)
        self._setup = setup
        self._connecting = asyncio.get_running_loop().create_task(self._connect(ours))

    async def _connect(self, channel: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, sock=channel)
        except BaseException:
            channel.close()
            raise

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        transport.write(self._setup)
        if self.unwanted:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer.feed(data)
        while (body := self._buffer.next()) is not None:
            if self.ready:
                self._on_answers(self, *read_answers(body))
            else:
                self.greeting = pickle.loads(body)
                self.ready = True
                self._on_ready(self)

    @property
    def gone(self) -> bool:
        """Whether it has closed its end; the template tells later how it ended."""
        return self._transport is None or self._transport.is_closing()

    def give(self, jobs: list[Job]) -> None:
        """Send a unit."""
        assert self._transport is not None
        self.jobs, self.answered, self.moved, self.working = jobs, 0, set(), True
        self.since, self.units = time.monotonic(), self.units + 1
        self._transport.write(frame(encode_unit([job.wire for job in jobs])))

    def take_answered(self, count: int) -> list[Job]:
        """The next jobs of its unit, which are answered now."""
        jobs, self.jobs = self.jobs[:count], self.jobs[count:]
        self.answered, self.since = self.answered + count, time.monotonic()
        return jobs

    def take_others(self, at: int) -> list[Job]:
        """Its jobs but the one it is at: answers to those before it may wait, those behind it shall not be begun."""
        others = [job for job in self.jobs[:at] + self.jobs[at + 1 :] if not job.answered]
        self.moved.update(others)
        self.journal.limit_to(self.answered + at + 1)
        return others

    def end(self) -> None:
        """Kill it."""
        self.unwanted = True
        self._template.end(self)

    def release(self) -> None:
        """Close what we hold of it, once it has ended."""
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
        self.journal.close()
