"""The judges of one client: locked-down processes, each for one verdict, but for tests that only compare.

Those leave nothing behind in their judge, so it is kept for the next of them; it is let go when anything was out of the
ordinary. A process that ran any other test is ended with its verdict.
"""

import contextlib
import os
import select

from plaudit.errors import SandboxError
from plaudit.sandbox.child.confinement.profiles import JUDGE
from plaudit.sandbox.confined_process import LockedProcess, RunLimits
from plaudit.sandbox.sandbox import PROGRAMS_PER_SERVER
from plaudit.sandbox.server import ForkServer

__all__ = ["JudgeProcesses"]

JUDGE_LIMITS = RunLimits(cpu_s=3600.0, wall_s=36000.0, memory_mb=2048, output_bytes=1 << 30)
VERDICTS = 2_000  # of a judge that is kept: then a new one, whatever may have piled up in the old


class JudgeProcesses:
    """A server for judges, started when first needed and replaced when lost."""

    def __init__(self, imports: tuple[str, ...], core: int | None) -> None:
        self._imports, self._core = imports, core
        self._server: ForkServer | None = None
        self._kept: LockedProcess | None = None
        self._left = 0  # verdicts until the kept judge is let go

    @property
    def alive(self) -> bool:
        """Whether there is a server."""
        return self._server is not None and not self._server.lost

    def take(self, needs: bytes, *, keep: bool) -> tuple[LockedProcess, bool]:
        """A judge, and whether it is new; the one that is kept is for tests that only compare."""
        server = self._ready_server()
        if not keep:
            return server.take(JUDGE_LIMITS, needs), True
        kept, self._kept = self._kept, None
        if kept is not None and not _is_stray(kept):
            os.ftruncate(kept.stdin, 0)  # where it notes that the program has answered
            self._left -= 1
            return kept, False
        if kept is not None:
            self.end(kept)
        self._left = VERDICTS
        return server.take(JUDGE_LIMITS), True

    def keep(self, judge: LockedProcess) -> None:
        """Have a judge again for the next tests that only compare."""
        if self._left > 0 and self._kept is None and self.alive:
            self._kept = judge
        else:
            self.end(judge)

    def end(self, judge: LockedProcess) -> None:
        """Kill a judge."""
        if self._server is not None:
            with contextlib.suppress(SandboxError):  # the server is gone, and its processes with it
                self._server.end(judge, JUDGE_LIMITS)
        judge.close()

    def ending_of(self, judge: LockedProcess) -> int:
        """How a judge that is dead ended."""
        if self._server is None:
            raise SandboxError("the judges are gone")
        return self._server.ending_of(judge)

    def close(self) -> None:
        """End the server and every judge of it."""
        server, self._server = self._server, None
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()
        if server is not None:
            server.close()

    def _ready_server(self) -> ForkServer:
        server = self._server
        if server is None or server.lost or server.taken >= PROGRAMS_PER_SERVER:
            self.close()
            server = self._server = ForkServer(self._imports, core=self._core, profile=JUDGE)
        return server


def _is_stray(judge: LockedProcess) -> bool:
    """Whether a judge that should wait does anything else: it is dead, or has something to say."""
    poll = select.poll()
    poll.register(judge.process, select.POLLIN)
    poll.register(judge.channel, select.POLLIN)
    return bool(poll.poll(0))
