"""The judge's side: a locked-down process for one verdict, which alone holds tests and expected values.

It runs test code on values that a program chose, so it stands behind the same walls as the program, and is gone after
its verdict, as its client sees to: it was forked from a server that has parsed tests, so that a group of programs pays
for that once, but has run none and seen no program. Only tests that leave nothing behind find a process that is kept.
Everything that needs a file or a process is asked of the client outside.
"""

import _socket
import contextlib
import gc
import io
import itertools
import os
import random
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from plaudit.errors import PlauditError
from plaudit.frames import frame, read_frame, write_all
from plaudit.sandbox.child.protocol import CHANNEL
from plaudit.sandbox.confined_process import Budget, LockedProcess, RunLimits, Tier
from plaudit.sandbox.judging.handles.arrays import guard_comparisons
from plaudit.sandbox.judging.handles.violations import UnsupportedTest
from plaudit.sandbox.judging.job import Job, VerdictContext
from plaudit.sandbox.judging.judge import Judge, prepare_suite
from plaudit.sandbox.judging.suites import Suite
from plaudit.sandbox.judging.verdict import Verdict, encode_verdict
from plaudit.sandbox.program import Program

__all__ = ["make_service", "prepare"]

DESCRIPTORS = struct.Struct("=5i")
ANSWERED = 0  # the descriptor that holds a byte once the program has answered, whatever becomes of this process
COLLECT_EVERY, COLLECT_KEPT_EVERY = 500, 50
MOST_KEPT_KB = 128 << 10  # of memory that a judge ever took and is still kept; it begins with some 40 MiB
_jobs, _contexts = msgspec.msgpack.Decoder(Job), msgspec.msgpack.Decoder(VerdictContext)
_suites = msgspec.msgpack.Decoder(list[Suite])
_encode = msgspec.msgpack.Encoder().encode


class ClientPrograms:
    """Programs in processes that the client hands over; also the host of these processes."""

    clock_is_local = False
    lost = False

    def __init__(self, receive: Callable[[], LockedProcess], channel: int) -> None:
        self._receive, self._channel = receive, channel
        self.tier = Tier.NONE
        self._waiting: list[LockedProcess] = [receive()]
        self._ends = b""  # requests that need no answer, which go with the next
        self._budget = Budget()

    def allow(self, wall_s: float) -> None:
        """Set how long the whole verdict may take."""
        self._budget = Budget(wall_s, lambda: float(self._ask("used")))

    def open(self, limits: RunLimits) -> Program:
        """A process for one program."""
        if not self._waiting:
            self._request("open")
            self._waiting.append(self._receive())
        return Program(self, self._waiting.pop(), limits, self._budget)

    def end(self, process: LockedProcess, limits: RunLimits) -> None:
        self._ends += frame(_encode(("end", process.number)))

    def ending_of(self, process: LockedProcess) -> int:
        return int(self._ask("ending", process.number))

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        return lambda: float(self._ask("clock", process.number))

    def conclude(self, verdict: Verdict) -> None:
        """Send the verdict, which is the end."""
        self._request("verdict", encode_verdict(verdict))

    def _ask(self, *request: Any) -> Any:
        self._request(*request)
        return msgspec.msgpack.decode(read_frame(self._channel))

    def _request(self, *request: Any) -> None:
        requests, self._ends = self._ends + frame(_encode(request)), b""
        write_all(self._channel, requests)


def _make_receiver(channel: int) -> Callable[[], LockedProcess]:
    """A function that takes a process which is handed over on a channel.

    Made in the server: what a forked process has to look up costs it the copy of a page.
    """
    open_socket, family, kind = _socket.socket, int(socket.AF_UNIX), int(socket.SOCK_STREAM)
    space, unpack = socket.CMSG_SPACE(DESCRIPTORS.size), DESCRIPTORS.unpack

    def next_process() -> LockedProcess:
        ours = open_socket(family, kind, 0, channel)
        number, received, _, _ = ours.recvmsg(4, space)
        ours.detach()
        if not received:
            raise EOFError("no more programs")
        [(_, _, descriptors)] = received
        theirs, process, stdin, stdout, stderr = unpack(descriptors)
        return LockedProcess(theirs, process, stdin, stdout, stderr, int.from_bytes(number, "little"))

    return next_process


def make_service() -> Callable[[], None]:
    """The function that forms one verdict."""
    discard, receive = _Discard(), _make_receiver(CHANNEL)
    if "numpy" in sys.modules:
        guard_comparisons(sys.modules["numpy"])

    def serve() -> None:
        gc.disable()  # most are gone before that would pay
        sys.stdout = sys.stderr = discard
        with contextlib.suppress(EOFError):  # the client has no more
            for count in itertools.count(1):
                judge_next()
                if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_KEPT_KB:
                    return  # what a program made it take is not given back for sure, and the next may need it
                if count % COLLECT_KEPT_EVERY == 0:
                    gc.collect()

    def judge_next() -> None:
        programs = ClientPrograms(receive, CHANNEL)
        context = _contexts.decode(read_frame(CHANNEL))
        job = _jobs.decode(read_frame(CHANNEL))
        programs.tier = Tier(context.tier)
        programs.allow(job.wall_s)
        random.seed(context.seed)  # the same for every program of a group, and known to none of them
        signal.setitimer(signal.ITIMER_PROF, job.judge_cpu_s)
        verdict = Judge(programs, on_first_value=_mark_answered).judge(job)
        signal.setitimer(signal.ITIMER_PROF, 0)
        programs.conclude(verdict)

    return serve


def _mark_answered() -> None:
    os.pwrite(ANSWERED, b"a", 0)


class _Discard(io.TextIOBase):
    """Where tests print to: nobody reads it."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)


_prepared = [0]


def prepare(needs: bytes) -> None:
    """Parse and compile the tests of the next verdict, in the server, which keeps them for those after it."""
    if not needs:
        return
    try:
        for suite in _suites.decode(needs):
            prepare_suite(suite)
    except (PlauditError, UnsupportedTest, msgspec.MsgspecError, RecursionError):
        pass  # the verdict will say so
    _prepared[0] += 1
    if _prepared[0] % COLLECT_EVERY == 0:
        gc.collect()
    gc.freeze()  # a collection in a verdict's process would write to every page of what is kept here
