"""Run compiled programs and scripts, each run in a locked-down process of its own, and report the result.

Servers are kept warm per tool-chain, shared by all threads of this process and started anew in a process that was
forked from it. A compiled program is executed from memory and may open no file; a runtime may open itself and its
libraries. Writable memory is limited (`RLIMIT_DATA`), since runtimes reserve addresses far beyond what they use.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace

from plaudit.errors import SandboxError
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.confined_process import RunLimits, Tier
from plaudit.sandbox.idle_pool import IdlePool
from plaudit.sandbox.languages.compiling import compile_program
from plaudit.sandbox.languages.toolchains import Toolchain
from plaudit.sandbox.outcome import Outcome
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer

TRIES = 3
MOST_IDLE = 8
WORK_MB = 64
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "HOME": "/",
    "OPENSSL_CONF": "/dev/null",
}  # node ends where that file exists and is closed


class CommandPool(IdlePool[Profile, ForkServer]):
    """Warm servers for programs, by their profiles."""

    def __init__(self, at_most: Tier = Tier.NAMESPACES) -> None:
        super().__init__(MOST_IDLE, lambda profile: ForkServer(at_most=at_most, profile=profile))
        self.at_most = at_most

    @contextlib.contextmanager
    def load(self, toolchain: Toolchain, source: str, limits: RunLimits) -> Iterator["LoadedProgram"]:
        """A program, compiled and ready to be run any number of times; CompileError if it cannot be compiled."""
        content = compile_program(toolchain, source, at_most=self.at_most)
        with contextlib.closing(LoadedProgram(self, toolchain, source, content, limits)) as program:
            yield program


class LoadedProgram:
    """One program on one server; runs are independent of each other."""

    def __init__(self, pool: CommandPool, toolchain: Toolchain, source: str, content: bytes, limits: RunLimits) -> None:
        language = toolchain.language
        self._pool, self._toolchain, self._content, self._limits = pool, toolchain, content, limits
        self._name = language.file(source) if not language.compile else "program.jar"
        self._profile = Profile(
            executes=True,
            reads=toolchain.run_reads,
            folder_mb=WORK_MB if language.run else 0,
            stack_mb=language.stack_mb,
        )
        self._with_runtime = replace(
            limits, cpu_s=limits.cpu_s + language.runtime_s, memory_mb=limits.memory_mb + language.runtime_mb,
            wall_s=max(limits.wall_s, limits.cpu_s + language.runtime_s),
        )  # fmt: skip
        self._server: ForkServer | None = None

    def run(self, stdin: bytes) -> Outcome:
        """Run it once on a standard input; a server that is lost is replaced."""
        for tries_left in reversed(range(TRIES)):
            server = self._ready_server()
            try:
                with Program(server, server.take(self._with_runtime), self._with_runtime) as program:
                    line = self._command_line(server.folder)
                    return program.execute(line or ["program"], ENVIRONMENT, stdin, placed=not line)
            except SandboxError:
                self.close()
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Give the server back."""
        server, self._server = self._server, None
        if server is not None:
            self._pool.give_back(self._profile, server, usable=not server.lost)

    def _ready_server(self) -> ForkServer:
        if self._server is None:
            self._server = self._pool.acquire(self._profile)
            self._server.place(self._content, self._name if self._toolchain.language.run else "")
        return self._server

    def _command_line(self, work: str) -> list[str]:
        """The command that runs the program; empty where the program itself is executed."""
        words = {
            "tool": self._toolchain.tool,
            "bin": os.path.dirname(self._toolchain.tool),
            "memory": self._limits.memory_mb,
            "program": f"{work}/{self._name}",
        }
        return [part.format_map(words) for part in self._toolchain.language.run]
