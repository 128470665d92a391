"""Bytes to and from one program's process, with limits on all of it.

Limits are on the processor time of the whole process, measured from outside for each reply. A judge gets this clock
from its client, so it reads it only after the first poll timeout. A program that closes its channel may still print,
so its end is awaited within its limits.
"""

import contextlib
import os
import select
import time
from collections.abc import Callable

from plaudit.frames import FrameBuffer, FrameTooLong
from plaudit.sandbox.child.protocol import READY
from plaudit.sandbox.confined_process import Budget, LockedProcess, RunLimits
from plaudit.sandbox.outcome import CallStatus

LOOK_S = 0.25  # a program with threads uses its time faster than the clock on the wall runs
LEAVES_WITHIN_S = 0.02  # most programs answer all and are gone by then
CHUNK = 1 << 16


class Stopped(Exception):
    """No reply will come: a limit was reached, or (without a status) the process is dead."""

    def __init__(self, status: CallStatus | None, cpu_s: float) -> None:
        super().__init__(status)
        self.status, self.cpu_s = status, cpu_s


class Exchange:
    """The judge's end of a child's channel."""

    def __init__(
        self,
        child: LockedProcess,
        limits: RunLimits,
        clock: Callable[[], float],
        *,
        clock_is_local: bool,
        budget: Budget,
    ) -> None:
        self._channel, self._process, self._limits = child.channel, child.process, limits
        self._outputs = (child.stdout, child.stderr)
        os.set_blocking(child.channel, False)
        self._clock, self._clock_is_local, self._budget = clock, clock_is_local, budget
        self._incoming, self._outgoing = FrameBuffer(limits.result_bytes), bytearray()
        self._waiting = select.poll()
        self._waiting.register(child.process, select.POLLIN)
        self._waiting.register(child.channel, select.POLLIN)
        self._writing = False
        self._started_s = self._began = 0.0
        self._looked = False
        self.was_ready = False

    def send(self, data: bytes) -> None:
        """Queue bytes, and write what goes at once; the clock of the next reply starts."""
        self._outgoing += data
        self._write()
        self._restart()

    def wait_for_end(self) -> None:
        """Wait briefly for a process that will end by itself, to wake once instead of for every reply."""
        end = select.poll()
        end.register(self._process, select.POLLIN)
        end.poll(min(self._limits.cpu_s, LEAVES_WITHIN_S) * 1000)

    def receive(self) -> tuple[str, float]:
        """The next reply and the processor seconds it took; Stopped when there will be none.

        For replies that arrive together, the time of all is reported with the first.
        """
        reply = self._whole_reply()
        if reply is not None:
            return reply, 0.0
        look = self._began + min(self._limits.cpu_s, LOOK_S)  # the clock has just been started
        while reply is None:
            self._wait(max(0.0, look - time.monotonic()))
            reply = self._whole_reply()
            if reply is None and time.monotonic() >= look:
                look = time.monotonic() + self._patience_s()
        before = self._started_s
        self._restart()
        return reply, self._started_s - before if self._clock_is_local else 0.0

    def _restart(self) -> None:
        self._began, self._looked = time.monotonic(), self._clock_is_local
        if self._clock_is_local:
            self._started_s = self._clock()

    def _whole_reply(self) -> str | None:
        try:
            body = self._incoming.next()
        except FrameTooLong:
            raise Stopped(CallStatus.RESULT_LIMIT, self._cpu_s()) from None
        return None if body is None else body.decode("utf-8", "replace")

    def _wait(self, patience_s: float) -> None:
        """Wait for bytes, for room to write, or for the end of the process."""
        if bool(self._outgoing) is not self._writing:
            self._writing = bool(self._outgoing)
            self._waiting.modify(self._channel, select.POLLIN | (select.POLLOUT if self._writing else 0))
        events = dict(self._waiting.poll(patience_s * 1000))
        if self._channel in events:
            if events[self._channel] & select.POLLOUT:
                self._write()
            self._read()
        elif self._process in events:
            raise Stopped(None, self._cpu_s())

    def _patience_s(self) -> float:
        cpu_left = self._limits.cpu_s - self._cpu_s()
        wall_left = min(self._limits.wall_s - (time.monotonic() - self._began), self._budget.left_s())
        if cpu_left <= 0:
            raise Stopped(CallStatus.CPU_LIMIT, self._cpu_s())
        if wall_left <= 0:
            raise Stopped(CallStatus.WALL_LIMIT, self._cpu_s())
        if any(os.fstat(file).st_size > self._limits.output_bytes for file in self._outputs):
            raise Stopped(CallStatus.OUTPUT_LIMIT, self._cpu_s())  # Java does not end where it can print no more
        return min(max(cpu_left, 0.001), wall_left, LOOK_S)

    def _read(self) -> None:
        try:
            part = os.read(self._channel, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if not part:
            self._waiting.unregister(self._channel)
            self._outgoing.clear()
            self._writing = False
        if part and not self.was_ready:
            if not part.startswith(READY):
                raise Stopped(CallStatus.BAD_REPLY, 0.0)
            self.was_ready = True
            part = part[len(READY) :]
        self._incoming.feed(part)

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while self._outgoing:
                    del self._outgoing[: os.write(self._channel, self._outgoing)]
            except (BrokenPipeError, ConnectionResetError):
                self._outgoing.clear()

    def _cpu_s(self) -> float:
        """Processor seconds since the clock was started; a remote clock is first read after a poll timeout."""
        now = self._clock()
        if not self._looked:
            self._started_s, self._looked = now, True
        return now - self._started_s
