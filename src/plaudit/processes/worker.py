"""The worker process: opens a service, then handles one unit of work after the other until the parent closes its end.

Started by exec, so it shares no memory with the process that uses it, and dies with it. Standard output is that of
errors, so that nothing a reward prints stands between the caller's lines.
"""

import ctypes
import gc
import os
import pickle
import resource
import signal
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Protocol

from plaudit.contract.isolation import ProcessState
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import Call, Progress, pass_nothing_on
from plaudit.errors import PlauditError
from plaudit.frames import frame, frame_reader, read_frame, write_all
from plaudit.processes.messages import ENDED, RESULT, STARTED, encode_output, pack_outputs

__all__ = ["EXIT_MEMORY", "Handler", "Service", "UnitProgress", "main"]

PR_SET_PDEATHSIG = 1
MEBIBYTE = 1 << 20
EXIT_MEMORY = 75
"""The exit code of a worker that ran out of memory in a call that was not its first: what earlier calls left counts."""


class Handler(Protocol):
    """Scores units in the worker."""

    in_order: bool
    """Whether samples are called one after the other, so that an output says which call has ended and which starts."""

    def __call__(self, body: bytes, progress: "UnitProgress") -> bytes:
        """Score one unit; the result goes to the parent."""


class Service(Protocol):
    """What a worker is for. It is pickled by the parent and opened in the worker."""

    def open(self) -> Handler:
        """Load what takes long; a PlauditError says why the worker cannot be used."""


class UnitProgress(Progress):
    """The calls of one unit, reported to the parent as they start and end."""

    calls_ended = 0  # in this process

    def __init__(
        self, outgoing: int, task: Mapping[str, Any], deadline_s: float | None, state: ProcessState, owner: int
    ) -> None:
        self._outgoing, self._known, self._failure = outgoing, task["known"], task["failure"]
        self.deadline_s = deadline_s
        self.one_at_a_time = bool(task["one_at_a_time"])
        self._state, self._owner = state, owner
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
        self._write(STARTED + pickle.dumps(tuple(call), pickle.HIGHEST_PROTOCOL))

    def expect(self, count: int) -> None:
        """Report how many samples a unit holds that is scored in order, if the parent cannot know."""
        self._write(STARTED + pickle.dumps(((), 0, count), pickle.HIGHEST_PROTOCOL))

    def ended(self, call: Call, outputs: list[RewardOutput]) -> None:
        self._check(outputs[0] if outputs else None)
        self._write(ENDED + pickle.dumps((call.path, call.first, pack_outputs(outputs)), pickle.HIGHEST_PROTOCOL))

    def send_output(self, output: RewardOutput) -> None:
        """The output of the next sample of a unit that is scored in order."""
        self._check(output)
        self._write(encode_output(output))

    def send_result(self, result: bytes) -> None:
        """The result of the unit."""
        self._state.restore_handlers()
        self._write(RESULT + result)

    def _check(self, output: RewardOutput | None) -> None:
        if os.getpid() != self._owner:
            os._exit(0)  # the reward forked and its child came back from the call: only the parent answers
        self._state.restore()
        if output is not None and output.status is Status.MEMORY and UnitProgress.calls_ended:
            os._exit(EXIT_MEMORY)
        UnitProgress.calls_ended += 1

    def _write(self, message: bytes) -> None:
        write_all(self._outgoing, frame(message))


def main(incoming: int, outgoing: int, parent: int) -> None:
    """Serve until the parent closes its end."""
    _die_with(parent)
    pass_nothing_on()
    _redirect_output()
    warnings.formatwarning = _format_warning
    os.register_at_fork(after_in_child=lambda: _let_go(incoming, outgoing))
    settings: dict[str, Any] = pickle.loads(read_frame(incoming))
    try:
        sys.path[:] = settings["search_path"] or sys.path
        service: Service = pickle.loads(settings["service"])
        handler = service.open()
    except (PlauditError, MemoryError) as error:
        write_all(outgoing, frame(pickle.dumps({"refusal": str(error)})))
        return
    _settle_memory(settings["memory_mb"])
    write_all(outgoing, frame(pickle.dumps({"in_order": handler.in_order})))
    state, owner = ProcessState(), os.getpid()
    next_body = frame_reader(incoming)
    while (body := next_body()) is not None:
        task = pickle.loads(body)
        progress = UnitProgress(outgoing, task, settings["deadline_s"], state, owner)
        progress.send_result(handler(task["body"], progress))


def _settle_memory(memory_mb: int | None) -> None:
    """Limit what calls may take beyond what is loaded, and spare the collector what stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
    if memory_mb is not None:
        with open("/proc/self/statm") as statm:
            held = int(statm.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (held + memory_mb * MEBIBYTE, hard))


def _format_warning(message: Warning | str, *_: object, **__: object) -> str:
    """One line for the user's terminal; the place in plaudit's code would not help."""
    return f"warning: {message}\n"


def _redirect_output() -> None:
    """Send standard output to standard error, also for programs that the reward starts."""
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr


def _let_go(*descriptors: int) -> None:
    """Give up the pipes in a process that the reward forked: the parent sees the end of the worker by their end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _die_with(parent: int) -> None:
    """End when the parent process ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before this process could ask
        os._exit(0)
