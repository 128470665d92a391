"""Run compiled programs and scripts, each run in a locked-down process of its own, and tell how it ended.

Servers are kept warm per tool-chain, shared by all threads of this process and started anew in a process that was
forked from it. A compiled program is executed from memory and may open no file; a runtime may open itself and its
libraries. Writable memory is limited (`RLIMIT_DATA`), since runtimes reserve addresses far beyond what they use.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import replace

from plaudit.errors import SandboxError
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.confined_process import RunLimits, Tier
from plaudit.sandbox.languages.binaries import BinaryCache
from plaudit.sandbox.languages.commands import Command, CommandEnd, memory_file, run_command
from plaudit.sandbox.languages.compiling import SIGXCPU, SIGXFSZ, compile_program
from plaudit.sandbox.languages.toolchains import Toolchain
from plaudit.sandbox.outcome import CallStatus, Outcome
from plaudit.sandbox.server import ForkServer

__all__ = ["CommandPool", "LoadedProgram"]

TRIES = 3
MOST_IDLE = 8
WORK_MB = 64
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "HOME": "/",
    "OPENSSL_CONF": "/dev/null",
}  # node ends where that file exists and is closed


class CommandPool:
    """Warm servers for programs; as a context manager it leaves no process behind."""

    def __init__(self, cache: BinaryCache | None = None, at_most: Tier = Tier.NAMESPACES) -> None:
        self.cache, self.at_most = cache or BinaryCache(), at_most
        self._idle: list[tuple[Profile, ForkServer]] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    @contextlib.contextmanager
    def load(self, toolchain: Toolchain, source: str, limits: RunLimits) -> Iterator["LoadedProgram"]:
        """A program, compiled and ready to be run any number of times; CompileError if it cannot be compiled."""
        content = compile_program(toolchain, source, self.cache, at_most=self.at_most)
        file = memory_file("program", content, executable=not toolchain.language.run)
        program = LoadedProgram(self, toolchain, source, file, limits)
        try:
            yield program
        finally:
            program.close()
            os.close(file)

    def acquire(self, profile: Profile) -> ForkServer:
        """A server whose programs have this profile."""
        with self._lock:
            if self._owner != os.getpid():  # we are a fork: these servers answer to another process
                self._idle, self._owner = [], os.getpid()
            for index, (known, server) in enumerate(self._idle):
                if known == profile:
                    del self._idle[index]
                    return server
        return ForkServer(at_most=self.at_most, profile=profile)

    def give_back(self, profile: Profile, server: ForkServer) -> None:
        """Take a server back, to be used again unless it was lost."""
        with self._lock:
            if not server.lost and len(self._idle) < MOST_IDLE:
                self._idle.append((profile, server))
                return
        server.close()

    def close(self) -> None:
        """End every server that is not at work."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, server in idle:
            server.close()

    def __enter__(self) -> "CommandPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LoadedProgram:
    """One program on one server; runs are independent of each other."""

    def __init__(self, pool: CommandPool, toolchain: Toolchain, source: str, file: int, limits: RunLimits) -> None:
        language = toolchain.language
        self._pool, self._toolchain, self._file, self._limits = pool, toolchain, file, limits
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
                ended = run_command(server, self._command(server.folder), self._with_runtime, stdin)
                return self._outcome(ended, server.protections.tier)
            except SandboxError:
                self.close()
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Give the server back."""
        server, self._server = self._server, None
        if server is not None:
            self._pool.give_back(self._profile, server)

    def _ready_server(self) -> ForkServer:
        if self._server is None:
            self._server = self._pool.acquire(self._profile)
            self._server.place(self._file, self._name if self._toolchain.language.run else "")
        return self._server

    def _command(self, work: str) -> Command:
        words = {
            "tool": self._toolchain.tool,
            "bin": os.path.dirname(self._toolchain.tool),
            "memory": self._limits.memory_mb,
            "program": f"{work}/{self._name}",
        }
        line = [part.format_map(words) for part in self._toolchain.language.run]
        return Command(line or ["program"], ENVIRONMENT, placed=not line)

    def _outcome(self, ended: CommandEnd, tier: Tier) -> Outcome:
        printed = max(len(ended.stdout), len(ended.stderr))
        if ended.code == -SIGXFSZ or printed > self._limits.output_bytes:
            status = CallStatus.OUTPUT_LIMIT
        elif ended.over or ended.code == -SIGXCPU:
            status = CallStatus.WALL_LIMIT if ended.over == "wall" else CallStatus.CPU_LIMIT
        else:
            status = CallStatus.CRASHED if ended.code < 0 else CallStatus.EXITED
        return Outcome(
            status,
            exit_code=ended.code if ended.code >= 0 else None,
            signal=-ended.code if ended.code < 0 else None,
            stdout=ended.stdout,
            stderr=ended.stderr,
            cpu_s=ended.cpu_s,
            tier=tier,
        )
