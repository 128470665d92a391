"""The parent's end of one worker process: what it was given, what it answered, since when it is at it."""

import fcntl
import os
import signal
import subprocess
import time
from collections import deque
from contextlib import suppress
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.messages import Answers, encode_value
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import Unit, UnitResult
from plaudit.python_command import python_command

__all__ = ["WorkerHandle"]

MODULE = "plaudit.engine.backends.worker"
CHUNK = 1 << 20
OVERHEAD_S = 5e-6  # what a worker spends on a sample beside its reward, at the least


class WorkerHandle:
    """A process started by exec, with a pipe each way; it and all it starts form a process group of their own."""

    def __init__(self, shipment: Shipment, memory_mb: int | None) -> None:
        incoming, self._writing = os.pipe()
        self.reading, outgoing = os.pipe()
        try:
            command = python_command(MODULE, "main", incoming, outgoing, os.getpid())
            self._process = subprocess.Popen(
                command, pass_fds=(incoming, outgoing), stdin=subprocess.DEVNULL, start_new_session=True
            )
        finally:
            os.close(incoming)
            os.close(outgoing)
        _widen(self._writing)
        os.set_blocking(self._writing, False)
        os.set_blocking(self.reading, False)
        self.units: deque[Unit] = deque()
        self.since = time.monotonic()
        self._pace_s = 0.0  # a sample, of late
        self.started = False
        self.gone = False
        self.refusal: str | None = None
        self.unsent: deque[memoryview] = deque([memoryview(encode_value((shipment, memory_mb)))])
        self._answers = Answers()

    @property
    def pid(self) -> int:
        return self._process.pid

    def at_hand_s(self) -> float:
        """For how long it has work, going by its latest samples; 0 before the first."""
        return sum(map(len, self.units)) * self._pace_s - (time.monotonic() - self.since)

    def give(self, unit: Unit) -> None:
        """Hand over a unit; its clock starts when the one before is done."""
        if not self.units:
            self.since = time.monotonic()
        self.units.append(unit)
        self.unsent.append(memoryview(encode_value(unit.trajectories)))
        self.send()

    def send(self) -> None:
        """Write as much as the pipe takes."""
        while self.unsent:
            try:
                written = os.write(self._writing, self.unsent[0][:CHUNK])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.unsent.clear()  # it is gone: reading will tell
                return
            self.unsent[0] = self.unsent[0][written:]
            if not self.unsent[0]:
                self.unsent.popleft()

    def receive(self) -> list[UnitResult]:
        """What was scored since the last look."""
        outputs: list[RewardOutput] = []
        while not self.gone:
            try:
                part = os.read(self.reading, CHUNK)
            except BlockingIOError:
                break
            self.gone = not part
            answers = self._answers.feed(part)
            if answers and not self.started:
                self._take_greeting(answers.pop(0))
            outputs += answers
        return self._results(outputs) if outputs else []

    def _results(self, outputs: list[RewardOutput]) -> list[UnitResult]:
        """The outputs as the next ones of the units at hand, in order."""
        results = []
        self._pace_s = OVERHEAD_S + sum(output.latency_s or 0.0 for output in outputs) / len(outputs)
        while outputs:
            unit = self.units.popleft()
            results.append(unit.result(outputs[: len(unit)], max(0.0, self.since - unit.cut_at)))
            if len(outputs) < len(unit):
                self.units.appendleft(unit.rest(len(outputs)))
            outputs = outputs[len(unit) :]
        self.since = time.monotonic()
        return results

    def kill(self) -> None:
        """End it and everything it started."""
        with suppress(ProcessLookupError):  # it may be gone already
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._writing)
        os.close(self.reading)

    def exit_code(self) -> int:
        """How it ended; negative for a signal."""
        return self._process.wait()

    def _take_greeting(self, refusal: Any) -> None:
        self.refusal = refusal
        self.started = refusal is None
        self.since = time.monotonic()


def _widen(pipe: int) -> None:
    """Let a pipe hold a whole unit, so that handing one over is one write; where that is not allowed it takes more."""
    with suppress(OSError, AttributeError):  # over the user's share, or not Linux
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, CHUNK)
