"""The judge's side: a locked-down process for one verdict, which alone holds tests and expected values.

It runs test code on values that a program chose, so it is confined as the program is, and its client ends it after the
verdict. It is forked from a server that has run no tests and seen no program, and gets tests as plans, which its client
has made. Only a process of stateless tests is kept. What needs a file or a process is requested from the client.
"""

import contextlib
import gc
import io
import itertools
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from plaudit.frames import frame, read_frame, write_all
from plaudit.sandbox.child.protocol import CHANNEL
from plaudit.sandbox.confined_process import Budget, LockedProcess, RunLimits, Tier
from plaudit.sandbox.judging.handles.arrays import guard_comparisons
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.judge import Judge
from plaudit.sandbox.judging.plan.test_plan import TestPlan
from plaudit.sandbox.judging.verdict import Verdict, encode_verdict
from plaudit.sandbox.program import Program

DESCRIPTORS = 5
ANSWERED = 0  # the descriptor that holds a byte once the program has answered, whatever becomes of this process
COLLECT_EVERY = 50
MOST_KEPT_KB = 128 << 10  # of memory that a judge ever took and is still kept; it begins with some 40 MiB
_jobs = msgspec.msgpack.Decoder(Job)
_encode = msgspec.msgpack.Encoder().encode


class ClientPrograms:
    """Programs in processes that the client hands over; also the host of these processes."""

    clock_is_local = False
    lost = False

    def __init__(self, first: LockedProcess, tier: Tier, wall_s: float) -> None:
        self.tier = tier
        self._waiting = [first]
        self._ends = b""  # requests without a reply, which are sent with the next
        self._budget = Budget(wall_s, lambda: float(self._ask("used")))

    def open(self, limits: RunLimits) -> Program:
        """A process for one program."""
        if not self._waiting:
            self._request("open")
            self._waiting.append(_receive_process())
        return Program(self, self._waiting.pop(), limits, self._budget)

    def end(self, process: LockedProcess) -> None:
        self._ends += frame(_encode(("end", process.number)))

    def exit_code_of(self, process: LockedProcess) -> int:
        return int(self._ask("exit code", process.number))

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        return lambda: float(self._ask("clock", process.number))

    def conclude(self, verdict: Verdict) -> None:
        """Send the verdict; the client takes no further request."""
        self._request("verdict", encode_verdict(verdict))

    def _ask(self, *request: Any) -> Any:
        self._request(*request)
        return msgspec.msgpack.decode(read_frame(CHANNEL))

    def _request(self, *request: Any) -> None:
        requests, self._ends = self._ends + frame(_encode(request)), b""
        write_all(CHANNEL, requests)


def _receive_process() -> LockedProcess:
    """The next process that the client hands over; EOFError if the client is gone."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, CHANNEL)
    number, descriptors, *_ = socket.recv_fds(channel, 4, DESCRIPTORS)
    channel.detach()
    if not descriptors:
        raise EOFError("no more programs")
    theirs, process, stdin, stdout, stderr = descriptors
    return LockedProcess(theirs, process, stdin, stdout, stderr, int.from_bytes(number, "little"))


def make_service() -> Callable[[], None]:
    """The function that forms verdicts."""
    discard = _Discard()
    if "numpy" in sys.modules:
        guard_comparisons(sys.modules["numpy"])

    def serve() -> None:
        gc.disable()  # most are gone before that would pay
        sys.stdout = sys.stderr = discard
        with contextlib.suppress(EOFError):  # the client has no more
            for count in itertools.count(1):
                _judge_next()
                if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_KEPT_KB:
                    return  # what a program made it take is not given back for sure, and the next may need it
                if count % COLLECT_EVERY == 0:
                    gc.collect()

    return serve


def _judge_next() -> None:
    first = _receive_process()
    tier, seed = msgspec.msgpack.decode(read_frame(CHANNEL))
    job = _jobs.decode(read_frame(CHANNEL))
    plans = [TestPlan.from_bytes(plan) for plan in msgspec.msgpack.decode(read_frame(CHANNEL))]
    programs = ClientPrograms(first, Tier(tier), job.wall_s)
    random.seed(seed)  # the same for every program of a group, and known to none of them
    signal.setitimer(signal.ITIMER_PROF, job.judge_cpu_s)
    verdict = Judge(programs, on_first_value=_mark_answered).judge(job, plans)
    signal.setitimer(signal.ITIMER_PROF, 0)
    programs.conclude(verdict)


def _mark_answered() -> None:
    os.pwrite(ANSWERED, b"a", 0)


class _Discard(io.TextIOBase):
    """Discards what tests print."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)
