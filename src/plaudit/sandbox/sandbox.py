"""Run programs: a pool of servers, each with one program at a time.

Servers start when first needed. In a process that was forked from the owner the pool starts anew, since two processes
must not speak with one server.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from plaudit.errors import SandboxError
from plaudit.sandbox.canaries import CANARY_LIMITS, check_canaries
from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer
from plaudit.sandbox.tiers import Protections, Tier

__all__ = ["Sandbox"]

Item = TypeVar("Item")
Result = TypeVar("Result")
PATIENCE_S = 300.0
PROGRAMS_PER_SERVER = 20_000  # then a new one, whatever may have piled up in the old
TRIES = 3


class Sandbox:
    """Programs run here, at most `workers` at a time, from any thread."""

    def __init__(
        self,
        flavour: str = "plain",
        limits: RunLimits | None = None,
        workers: int = 1,
        *,
        allow_unsafe: bool = False,
        at_most: Tier = Tier.NAMESPACES,
    ) -> None:
        if workers < 1:
            raise SandboxError(f"a sandbox needs at least one worker, got {workers}")
        self.limits = limits or RunLimits()
        self._owner = os.getpid()
        self._idle: list[ForkServer] = []
        self._count = 0
        self._closed = False
        self._holders: list[int] = []  # threads with a program open
        self._protections: Protections | None = None
        self._changed = threading.Condition()
        self._flavour, self._workers, self._allow_unsafe, self._at_most = flavour, workers, allow_unsafe, at_most

    def open(self, limits: RunLimits | None = None) -> "OpenProgram":
        """A process for one program; use it in a `with` statement."""
        limits = limits or self.limits
        for tries_left in reversed(range(TRIES)):
            server = self._acquire(limits)
            try:
                return OpenProgram(self, server, limits)
            except SandboxError:
                self._drop(server)
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def run_many(self, work: Callable[[Program, Item], Result], items: Iterable[Item]) -> list[Result]:
        """What `work` gives for each item, in order; each has a program of its own, and another when that is lost."""
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(lambda item: self._run(work, item), items))

    def _run(self, work: Callable[[Program, Item], Result], item: Item) -> Result:
        for tries_left in reversed(range(TRIES)):
            try:
                with self.open() as program:
                    return work(program, item)
            except SandboxError:
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    @property
    def protections(self) -> Protections:
        """The walls around programs here."""
        if self._protections is None:
            self._release(self._acquire(self.limits))
        assert self._protections is not None
        return self._protections

    def close(self) -> None:
        """End all servers."""
        with self._changed:
            self._closed = True
            servers, self._idle = self._idle, []
            self._count -= len(servers)
        for server in servers:
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _acquire(self, limits: RunLimits) -> ForkServer:
        if self._owner != os.getpid():  # a forked process: the servers are its parent's
            self._owner, self._idle, self._holders, self._count = os.getpid(), [], [], 0
            self._changed = threading.Condition()
        if self._closed:
            raise SandboxError("this sandbox is closed")
        deadline = time.monotonic() + PATIENCE_S
        with self._changed:
            while not self._idle and self._count >= self._workers:
                if self._holders.count(threading.get_ident()) >= self._workers:
                    raise SandboxError(
                        f"this thread has all {self._workers} workers of the sandbox open; close one first"
                    )
                if not self._changed.wait(deadline - time.monotonic()):
                    raise SandboxError(f"all {self._workers} workers of the sandbox are busy; are programs left open?")
            self._holders.append(threading.get_ident())
            fitting = [server for server in self._idle if server.fits(limits)]
            if fitting:
                self._idle.remove(fitting[-1])
                return fitting[-1]
            unfit = self._idle.pop() if self._count >= self._workers else None
            self._count += unfit is None
        try:
            if unfit is not None:
                unfit.close()
            return self._start(limits.scratch_mb)
        except BaseException:
            self._forget()
            raise

    def _start(self, scratch_mb: int) -> ForkServer:
        server = ForkServer(self._flavour, self._at_most, scratch_mb)
        self._protections = server.protections
        if server.protections.tier is Tier.NONE and not self._allow_unsafe:
            server.close()
            why = "; ".join(f"{wall.name}: {wall.detail}" for wall in server.protections.walls if not wall.active)
            raise SandboxError(f"no protection is available here ({why}); allow_unsafe=True runs programs without any")
        try:
            for limits in (CANARY_LIMITS, replace(CANARY_LIMITS, scratch_mb=scratch_mb))[: 1 + bool(scratch_mb)]:
                check_canaries(partial(_open_program, server, limits), walled=not self._allow_unsafe)
        except BaseException:
            server.close()
            raise
        return server

    def _release(self, server: ForkServer, holder: int | None = None) -> None:
        with self._changed:
            if not self._closed and server.owner == os.getpid() and server.taken < PROGRAMS_PER_SERVER:
                self._holders.remove(holder or threading.get_ident())
                self._idle.append(server)
                self._changed.notify()
                return
        self._drop(server, holder)

    def _drop(self, server: ForkServer, holder: int | None = None) -> None:
        server.close()
        self._forget(holder)

    def _forget(self, holder: int | None = None) -> None:
        with self._changed:
            self._count -= 1
            self._holders.remove(holder or threading.get_ident())
            self._changed.notify()


def _open_program(server: ForkServer, limits: RunLimits) -> Program:
    return Program(server, server.take(limits), limits)


class OpenProgram(Program):
    """A program of a pool: closing it gives its server back."""

    def __init__(self, sandbox: Sandbox, server: ForkServer, limits: RunLimits) -> None:
        self._sandbox, self._holder = sandbox, threading.get_ident()
        super().__init__(server, server.take(limits), limits)

    def close(self) -> None:
        """Kill the process and free the worker."""
        if self._closed:
            return
        try:
            super().close()
        except SandboxError:  # the server is gone, and its children with it
            self._sandbox._drop(self._server, self._holder)
        else:
            self._sandbox._release(self._server, self._holder)
