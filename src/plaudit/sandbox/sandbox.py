"""Run programs one after the other, each in a locked-down process of its own.

A server starts when first needed and is replaced when it is lost, has run very many programs, or has scratch space of
another size. Used by one thread; in a process that was forked from the owner it starts anew, since two processes must
not speak with one server.
"""

from dataclasses import replace
from typing import Self

from plaudit.errors import SandboxError, did_you_mean
from plaudit.sandbox.child.protocol import FLAVOURS
from plaudit.sandbox.confined_process import LockedProcess, Protections, RunLimits, Tier
from plaudit.sandbox.doctor import ATTEMPT_LIMITS, attempts
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer

PROGRAMS_PER_SERVER = 20_000  # then a new one, whatever may have piled up in the old
TRIES = 3


class _UnfitServer(SandboxError):
    """A server that did start must not be used; another one would be no better."""


class Sandbox:
    """A place to run programs, one at a time."""

    def __init__(
        self,
        flavour: str = "plain",
        limits: RunLimits | None = None,
        *,
        allow_unsafe: bool = False,
        at_most: Tier = Tier.NAMESPACES,
        core: int | None = None,
    ) -> None:
        if flavour not in FLAVOURS:
            hint = did_you_mean(flavour, FLAVOURS)
            raise SandboxError(f"no sandbox flavour {flavour!r}{hint}; there are {sorted(FLAVOURS)}")
        self.limits, self._core = limits or RunLimits(), core
        self._flavour, self._allow_unsafe, self._at_most = flavour, allow_unsafe, at_most
        self._server: ForkServer | None = None
        self._open: Program | None = None
        self._closed = False

    def open(self, limits: RunLimits | None = None) -> Program:
        """A process for one program; use it in a `with` statement."""
        limits = limits or self.limits
        if self._open is not None and self._open.open:
            raise SandboxError("a sandbox has one program open at a time; close the one before first")
        server, process = self.take(limits)
        self._open = Program(server, process, limits)
        return self._open

    def take(self, limits: RunLimits) -> tuple[ForkServer, LockedProcess]:
        """A locked-down process, not wrapped yet, and the server that holds it."""
        for tries_left in reversed(range(TRIES)):
            try:
                server = self._ready_server(limits)
                return server, server.take(limits)
            except _UnfitServer:
                raise
            except SandboxError:
                self._drop_server()
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    @property
    def lost(self) -> bool:
        """Whether its server is gone, and the next program will need another."""
        return self._server is not None and self._server.lost

    @property
    def protections(self) -> Protections:
        """The protections around programs here."""
        return self._ready_server(self.limits).protections

    def close(self) -> None:
        """End the server, and with it a program that is still open."""
        self._closed = True
        self._drop_server()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready_server(self, limits: RunLimits) -> ForkServer:
        if self._closed:
            raise SandboxError("this sandbox is closed")
        server = self._server
        if (
            server is None
            or server.scratch_mb != limits.scratch_mb
            or server.lost
            or server.taken >= PROGRAMS_PER_SERVER
        ):
            self._drop_server()
            server = self._server = self._start_server(limits.scratch_mb)
        return server

    def _drop_server(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _start_server(self, scratch_mb: int) -> ForkServer:
        server = ForkServer(FLAVOURS[self._flavour], self._at_most, scratch_mb, core=self._core)
        try:
            if not self._allow_unsafe:
                _check_server(server, replace(ATTEMPT_LIMITS, scratch_mb=scratch_mb))
        except BaseException:
            server.close()
            raise
        return server


def _check_server(server: ForkServer, limits: RunLimits) -> None:
    """Raise unless this server refuses its programs everything that the sandbox forbids."""
    if server.tier is Tier.NONE:
        why = "; ".join(f"{one.name}: {one.detail}" for one in server.protections.confinement if not one.active)
        raise _UnfitServer(f"no protection is available here ({why}); allow_unsafe=True runs programs without any")
    if possible := [deed for deed, succeeded in attempts(server, limits) if succeeded]:
        raise _UnfitServer(f"programs in the sandbox could {', '.join(possible)}; it must not be used")
