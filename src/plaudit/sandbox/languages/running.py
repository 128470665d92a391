"""Run compiled programs and scripts, each run in a locked-down process of its own, and tell how it ended.

Servers are kept warm per tool-chain, shared by all threads of this process and started anew in a process that was
forked from it. A compiled program is executed from memory and may open no file; a runtime may open itself and its
libraries. Writable memory is limited (`RLIMIT_DATA`), since runtimes reserve addresses far beyond what they use.
"""

import contextlib
import os
import threading
from collections.abc import Iterator

from plaudit.errors import SandboxError
from plaudit.sandbox.languages.binaries import BinaryCache
from plaudit.sandbox.languages.commands import Command, CommandEnd, CommandServer, memory_file
from plaudit.sandbox.languages.compiling import SIGXCPU, SIGXFSZ, compile_program
from plaudit.sandbox.languages.inside.command_loop import CommandLimits
from plaudit.sandbox.languages.toolchains import Toolchain
from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.outcome import Ending, Outcome
from plaudit.sandbox.tiers import Tier

__all__ = ["CommandPool", "LoadedProgram"]

THREADS, DESCRIPTORS = 128, 64
TRIES = 3
MOST_IDLE = 8
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "HOME": "/",
    "OPENSSL_CONF": "/dev/null",
}  # node ends where that file exists and is closed


class CommandPool:
    """Warm servers for programs; as a context manager it leaves no process behind."""

    def __init__(self, cache: BinaryCache | None = None, at_most: Tier = Tier.NAMESPACES) -> None:
        self.cache, self.at_most = cache or BinaryCache(), at_most
        self._idle: list[tuple[tuple[str, ...], CommandServer]] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    @contextlib.contextmanager
    def load(self, toolchain: Toolchain, source: str, limits: RunLimits) -> Iterator["LoadedProgram"]:
        """A program, compiled and ready to be run any number of times; CompileError where it cannot be compiled."""
        content = compile_program(toolchain, source, self.cache, at_most=self.at_most)
        file = memory_file("program", content, executable=not toolchain.language.run)
        program = LoadedProgram(self, toolchain, source, file, limits)
        try:
            yield program
        finally:
            program.close()
            os.close(file)

    def acquire(self, reads: tuple[str, ...]) -> CommandServer:
        """A server whose programs may read these files."""
        with self._lock:
            if self._owner != os.getpid():  # we are a fork: these servers answer to somebody else
                self._idle, self._owner = [], os.getpid()
            for place, (files, server) in enumerate(self._idle):
                if files == reads:
                    del self._idle[place]
                    return server
        return CommandServer(reads, self.at_most)

    def give_back(self, reads: tuple[str, ...], server: CommandServer) -> None:
        """Take a server back, to be used again unless it was lost."""
        with self._lock:
            if not server.lost and len(self._idle) < MOST_IDLE:
                self._idle.append((reads, server))
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
        self._pool, self._toolchain, self._file, self._limits = pool, toolchain, file, limits
        self._name = toolchain.language.file(source) if not toolchain.language.compile else "program.jar"
        self._server: CommandServer | None = None

    def run(self, stdin: bytes) -> Outcome:
        """Run it once on a standard input; a server that is lost is replaced."""
        for tries_left in reversed(range(TRIES)):
            server = self._ready_server()
            try:
                ended = server.run(self._command(server.work), stdin, self._limits.output_bytes)
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
            self._pool.give_back(self._toolchain.run_reads, server)

    def _ready_server(self) -> CommandServer:
        if self._server is None:
            self._server = self._pool.acquire(self._toolchain.run_reads)
            if self._toolchain.language.run:
                self._server.place(self._name, self._file)
        return self._server

    def _command(self, work: str) -> Command:
        language, limits = self._toolchain.language, self._limits
        cpu_s = limits.cpu_s + language.runtime_s
        bounds = CommandLimits(
            data_bytes=(limits.memory_mb + language.runtime_mb) << 20,
            stack_bytes=language.stack_mb << 20,
            cpu_s=60 + 100 * int(cpu_s + 1),
            file_bytes=limits.output_bytes + 1,
            processes=THREADS,
            descriptors=DESCRIPTORS,
        )
        words = {
            "tool": self._toolchain.tool,
            "bin": os.path.dirname(self._toolchain.tool),
            "memory": limits.memory_mb,
            "program": f"{work}/{self._name}",
        }
        line = [part.format_map(words) for part in language.run] or ["program"]
        return Command(line, bounds, cpu_s, limits.wall_s, ENVIRONMENT, program=None if language.run else self._file)

    def _outcome(self, ended: CommandEnd, tier: Tier) -> Outcome:
        printed = max(len(ended.stdout), len(ended.stderr))
        if ended.code == -SIGXFSZ or printed > self._limits.output_bytes:
            ending = Ending.OUTPUT_LIMIT
        elif ended.over or ended.code == -SIGXCPU:
            ending = Ending.WALL_LIMIT if ended.over == "wall" else Ending.CPU_LIMIT
        else:
            ending = Ending.CRASHED if ended.code < 0 else Ending.EXITED
        return Outcome(
            ending,
            exit_code=ended.code if ended.code >= 0 else None,
            signal=-ended.code if ended.code < 0 else None,
            stdout=ended.stdout,
            stderr=ended.stderr,
            cpu_s=ended.cpu_s,
            tier=tier,
        )
