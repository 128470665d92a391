"""The worker process: opens a service, then handles one unit of work after the other until the parent closes its end.

It is forked from a template (`template`), which was started by exec: it shares no memory with the process that uses it,
and dies with it. What a reward prints goes to standard error.
"""

import contextlib
import gc
import os
import pickle
import resource
import select
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from plaudit.contract.isolation import ProcessState
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import Call, Progress
from plaudit.errors import PlauditError
from plaudit.frames import frame, frame_reader
from plaudit.processes.messages import ENDED, RESULT, STARTED, encode_output, pack_outputs

MEBIBYTE = 1 << 20
_MEMORY = Status.MEMORY  # to look up a member of an enum costs as much as to send an output
EXIT_MEMORY = 75
"""The exit code of a worker that ran out of memory in a call after earlier calls had left memory behind."""
WAKE_S = 0.01
"""The time that finished calls may wait before the parent is woken to read them."""
_write, _clock = os.write, time.monotonic
LEFT_SHARE = 0.1  # of the memory limit, which a worker may hold beyond what it held at its start


class Handler(Protocol):
    """Scores units in the worker."""

    in_order: bool
    """Whether samples are called one after the other, so that an output shows which call has ended and which starts."""

    def __call__(self, body: bytes, progress: "UnitProgress") -> bytes:
        """Score one unit; the result goes to the parent."""


class Service(ABC):
    """The service of a worker. It is pickled by the parent, read by the template and opened in each worker."""

    def preload(self) -> None:  # noqa: B027 - most services share nothing
        """Load the objects that all workers may share, in the template; PlauditError if no worker can be used."""

    def describe(self, handler: Any) -> dict[str, Any]:
        """The message to the parent about an opened handler."""
        return {}

    @abstractmethod
    def open(self) -> Handler:
        """Load objects that take long to load; PlauditError if the worker cannot be used."""


class UnitProgress(Progress):
    """The calls of one unit, reported to the parent as they start and end."""

    def __init__(
        self, outgoing: "_Outgoing", task: Mapping[str, Any], deadline_s: float | None, process: "_Process"
    ) -> None:
        super().__init__(state=process.state)
        self._outgoing, self._known, self._failure = outgoing, task["known"], task["failure"]
        self.deadline_s = deadline_s
        self.one_at_a_time = bool(task["one_at_a_time"])
        self._process = process
        self.failed: dict[int, RewardOutput] = {}

    @property
    def knows_calls(self) -> bool:
        """Whether calls of the unit were made before, on a worker that was lost."""
        return bool(self._known) or self._failure is not None

    def known(self, call: Call) -> list[RewardOutput] | None:
        if self._failure is not None:
            return [self._failure] * call.size
        known: list[RewardOutput] | None = self._known.get((call.path, call.first))
        return known

    def started(self, call: Call) -> None:
        message = STARTED + pickle.dumps(tuple(call), pickle.HIGHEST_PROTOCOL)
        self._outgoing.write(message, wake=True)  # the parent starts the clock of the call

    def expect(self, count: int) -> None:
        """Report the number of samples of a unit that is scored in order, if the parent cannot know it."""
        self._outgoing.write(STARTED + pickle.dumps(((), 0, count), pickle.HIGHEST_PROTOCOL))

    def ended(self, call: Call, outputs: list[RewardOutput]) -> None:
        self._check(outputs[0] if outputs else None)
        self._outgoing.write(
            ENDED + pickle.dumps((call.path, call.first, pack_outputs(outputs)), pickle.HIGHEST_PROTOCOL)
        )

    def send_output(self, output: RewardOutput) -> None:
        """The output of the next sample of a unit that is scored in order."""
        self._check(output)
        self._outgoing.write(encode_output(output))

    def send_result(self, result: bytes) -> None:
        """The result of the unit."""
        self._outgoing.write(RESULT + result, wake=True)

    def _check(self, output: RewardOutput | None) -> None:
        if output is not None and output.status is _MEMORY and self._process.has_grown():
            os._exit(EXIT_MEMORY)


class _Outgoing:
    """Frames to the parent. It is woken at the end of a unit, or when it was not for `WAKE_S`, not for every frame."""

    def __init__(self, frames: int, waking: int) -> None:
        self._frames, self._waking, self._due = frames, waking, 0.0
        self._room = select.poll()
        self._room.register(frames, select.POLLOUT)
        self._lock = threading.Lock()  # the thread of the event loop writes too
        for descriptor in (frames, waking):
            os.set_blocking(descriptor, False)

    def write(self, message: bytes, *, wake: bool = False) -> None:
        left = memoryview(frame(message))  # whose rest is no copy
        with self._lock:
            while left:
                try:
                    left = left[_write(self._frames, left) :]
                except BlockingIOError:  # the pipe is full
                    self._wake()
                    self._room.poll()
                except BrokenPipeError:
                    os._exit(0)  # the parent has closed its end
            if wake or _clock() > self._due:
                self._wake()

    def _wake(self) -> None:
        self._due = _clock() + WAKE_S
        with contextlib.suppress(BlockingIOError, BrokenPipeError):  # earlier ones are unread, or the reader is gone
            os.write(self._waking, b"w")


def serve(
    service: Service, memory_mb: int | None, deadline_s: float | None, incoming: int, frames: int, waking: int
) -> None:
    """Serve until the parent closes its end."""
    os.register_at_fork(after_in_child=lambda: _let_go(incoming, frames, waking))
    try:
        handler = service.open()
        description = service.describe(handler)
    except Exception as error:  # noqa: BLE001 - opening runs the user's code
        known = isinstance(error, PlauditError | MemoryError)
        refuse(str(error) if known else f"{type(error).__name__}: {error}", incoming, frames, waking)
        return
    process, outgoing = _Process(memory_mb), _Outgoing(frames, waking)
    greeting = {"in_order": handler.in_order, "pid": process.pid, "description": description}
    outgoing.write(pickle.dumps(greeting), wake=True)
    next_body = frame_reader(incoming)
    while (body := next_body()) is not None:
        task = pickle.loads(body)
        progress = UnitProgress(outgoing, task, deadline_s, process)
        progress.send_result(handler(task["body"], progress))


def refuse(reason: str, incoming: int, frames: int, waking: int) -> None:
    """Tell the parent why this worker cannot be used."""
    _Outgoing(frames, waking).write(pickle.dumps({"refusal": reason}), wake=True)


class _Process:
    """This process when it is ready for its first call: what is put back after calls, and the memory that it holds."""

    def __init__(self, memory_mb: int | None) -> None:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000)
        self.pid, self.state, self._memory_mb = os.getpid(), ProcessState(), memory_mb
        if memory_mb is not None:
            self._held = _held_bytes()
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (self._held + memory_mb * MEBIBYTE, hard))

    def has_grown(self) -> bool:
        """Whether calls have left memory behind, so that a later call could not use all of its limit."""
        if self._memory_mb is None:
            return False
        gc.collect()
        return _held_bytes() - self._held > LEFT_SHARE * self._memory_mb * MEBIBYTE


def _held_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def _let_go(*descriptors: int) -> None:
    """Give up the pipes in a process that the reward forked: the parent sees the end of the worker by their end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
