"""The user's end of one judge process: give it a job, wait for the verdict, tell apart the ways it can be lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from plaudit.errors import SandboxError
from plaudit.frames import read_frame, write_frame
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.verdict import Conclusion, Verdict

__all__ = ["JudgeLost", "JudgeProcess"]

START_S = 60.0
WALL_S = 300.0  # beyond what all runs of the program may take; only a judge that sleeps reaches it
CODE = """
import sys
sys.path[:0] = {path!r}
from plaudit.sandbox.judging.verdict_process import start
start(sys.argv[1:])
"""


class JudgeLost(Exception):
    """The judge process died, for reasons that are not the program's."""


class JudgeProcess:
    """A judge process, started by exec and ready when built; on a core of its own where `one_core`."""

    def __init__(self, flavour: str, *, allow_unsafe: bool = False, one_core: bool = False) -> None:
        incoming, self._writing = os.pipe()
        self._reading, outgoing = os.pipe()
        self._answered, answered = os.pipe()  # holds a byte when the program at hand has answered
        os.set_blocking(self._answered, False)
        theirs = (incoming, outgoing, answered)
        try:
            command = [sys.executable, "-P", "-s", "-c", CODE.format(path=_search_path())]
            ways = ["unsafe" if allow_unsafe else "safe", "one core" if one_core else "any core"]
            self._process = subprocess.Popen(
                [*command, *map(str, theirs), flavour, *ways],
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                env={"PYTHONHASHSEED": "0"},  # the same verdict in every process
            )
        finally:
            for fd in theirs:
                os.close(fd)
        self._greet()

    def judge(self, job: Job, packed: bytes) -> Verdict:
        """The verdict on a job, given as it is and as it travels.

        Raises JudgeLost when the judge died of something else than the program's values.
        """
        self._has_answered()  # what is said of the one before is read away
        deadline = time.monotonic() + WALL_S + _runs(job) * job.limits.wall_s
        try:
            write_frame(self._writing, packed)
            return msgspec.msgpack.decode(read_frame(self._reading, deadline), type=Verdict)
        except (EOFError, BrokenPipeError, TimeoutError) as error:
            return self._judge_overrun(job, error)

    def _judge_overrun(self, job: Job, error: Exception) -> Verdict:
        if isinstance(error, TimeoutError):
            self._process.kill()
        code = self._process.wait()
        if code != -signal.SIGPROF and not isinstance(error, TimeoutError):
            raise JudgeLost(f"exit code {code}")
        if self._has_answered():
            reason = f"the tests did not end within {job.judge_cpu_s:g} s on what the program returned"
            return Verdict(conclusion=Conclusion.TIMEOUT, reason=reason, calls=1)
        return Verdict(refusal=f"the tests ran for {job.judge_cpu_s:g} s without an answer of the program")

    def _has_answered(self) -> bool:
        try:
            return bool(os.read(self._answered, 1 << 16))
        except BlockingIOError:
            return False

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End it; it has nothing that would need saving."""
        for fd in (self._writing, self._reading, self._answered):
            os.close(fd)
        self._process.kill()
        self._process.wait()

    def _greet(self) -> None:
        try:
            refusal = read_frame(self._reading, time.monotonic() + START_S).decode()
        except (EOFError, TimeoutError) as error:
            self.close()
            raise SandboxError(f"the judge process did not start: {error}") from None
        if refusal:
            self.close()
            raise SandboxError(refusal)


def _runs(job: Job) -> int:
    return sum(len(getattr(suite, "inputs", ())) + 3 for suite in job.suites)


def _search_path() -> list[str]:
    """Where modules are found here; the folder of a script is left out, or a file in it could pass for a module."""
    ours = str(Path(__file__).resolve().parents[3])
    return [ours, *(path for path in sys.path if path and "site-packages" in path)]
