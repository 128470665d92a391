"""Form verdicts in a judges' server before its first fork, on programs of our own that run beside it.

What a forked process would learn (adapted code, pages of libraries, caches of attributes) is then learnt once. The
programs are ours, so they need no walls.
"""

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

from plaudit.sandbox.child.protocol import READY
from plaudit.sandbox.child.runtime import make_service
from plaudit.sandbox.confined_process import LockedProcess, RunLimits, Tier
from plaudit.sandbox.judging.handles.arrays import guard_comparisons
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.judge import Judge
from plaudit.sandbox.judging.suites import AssertSuite
from plaudit.sandbox.judging.verdict import encode_verdict
from plaudit.sandbox.program import Program

__all__ = ["warm_up"]

TIMES = 12  # code is adapted once it has run some eight times
SOURCE = "def f(numbers):\n    return sorted(numbers)\n"
TESTS = """
METADATA = {"author": "us"}


def check(candidate):
    assert candidate([3, 1, 2]) == [1, 2, 3], "message"
    assert candidate([]) == []
    assert abs(candidate([2.5, 1.0])[0] - 1.0) < 1e-6
    assert candidate(["b", "a"]) == ["a", "b"]
    assert candidate([True, False]) == [False, True]
"""
PROMPT = 'from typing import List\n\n\ndef f(numbers: List[int]) -> List[int]:\n    """Sort them."""\n'


def warm_up() -> None:
    """Judge a few programs of our own."""
    if "numpy" in sys.modules:
        guard_comparisons(sys.modules["numpy"])
    programs = OwnPrograms()
    for suite in (AssertSuite([TESTS], "f", [], PROMPT), AssertSuite(["assert f([2, 1]) == [1, 2]"])):
        for _ in range(TIMES):
            encode_verdict(Judge(programs).judge(Job(SOURCE, [suite])))


class OwnPrograms:
    """Programs in plain forks of this process; also the host of these."""

    clock_is_local, lost, tier = False, False, Tier.NONE

    def open(self, limits: RunLimits) -> Program:
        """A process for one program of ours."""
        ours, theirs = socket.socketpair()
        files = [os.memfd_create(name, os.MFD_CLOEXEC) for name in ("in", "out", "err")]
        pid = os.fork()
        if pid == 0:
            try:
                os.write(theirs.fileno(), READY)
                make_service(theirs.fileno())()
            finally:
                os._exit(0)
        theirs.close()
        return Program(
            self, LockedProcess(ours.detach(), os.pidfd_open(pid), files[0], files[1], files[2], pid), limits
        )

    def end(self, process: LockedProcess, limits: RunLimits) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process.process, signal.SIGKILL)
        self.ending_of(process)

    def ending_of(self, process: LockedProcess) -> int:
        _, status = os.waitpid(process.number, 0)
        return os.waitstatus_to_exitcode(status)

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        return time.monotonic
