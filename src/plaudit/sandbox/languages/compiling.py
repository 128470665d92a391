"""Compile a program in confinement, because a compiler reads any file that the program names.

`#include "/etc/passwd"`, `.incbin`, `include_str!` and the like find nothing, since the compiler sees its installation,
the system's headers and libraries, and an empty work folder; there is no network, and time, memory and output are
limited. A compile error or a timeout is the program's failure.
"""

import os
import re
import stat
from dataclasses import dataclass

from plaudit.errors import SandboxError
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.confined_process import RunLimits, Tier
from plaudit.sandbox.languages.binaries import BinaryCache
from plaudit.sandbox.languages.commands import Command, CommandEnd, memory_file, run_command
from plaudit.sandbox.languages.toolchains import Toolchain
from plaudit.sandbox.server import ForkServer

__all__ = ["COMPILE_LIMITS", "CompileError", "CompileLimits", "compile_program", "main_class"]

OUT = "program"
MESSAGE = 500
FORMAT = "2"  # of an entry of the cache: the bytes of the program
SIGXCPU, SIGXFSZ = 24, 25


class CompileError(Exception):
    """The compiler refused a program; the first of its messages."""


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """What a compilation may use; processor time is that of the language, times of the clock ten times that."""

    memory_mb: int = 2048
    output_mb: int = 64
    work_mb: int = 1024
    processes: int = 128


COMPILE_LIMITS = CompileLimits()


def compile_program(
    toolchain: Toolchain,
    source: str,
    cache: BinaryCache,
    limits: CompileLimits = COMPILE_LIMITS,
    at_most: Tier = Tier.NAMESPACES,
) -> bytes:
    """The compiled program; CompileError if the compiler refuses it."""
    language = toolchain.language
    if not language.compile:
        return source.encode()
    tool = (toolchain.tool, toolchain.version)
    key = "\0".join((FORMAT, language.name, *tool, repr(language.compile), repr(limits), source))
    return cache.get(key.encode(), lambda: _compile(toolchain, source, limits, at_most))


def main_class(source: str) -> str:
    """The class of a Java program that has `main`: the last one begun before it."""
    main = re.search(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(|\bvoid\s+static\s+main\s*\(", source)
    classes = re.findall(
        r"^(?:\w+\s+)*?(?:class|record|enum|interface)\s+(\w+)",
        source[: main.start()] if main else source,
        re.MULTILINE,
    )
    return classes[-1] if classes else "Main"


def _compile(toolchain: Toolchain, source: str, limits: CompileLimits, at_most: Tier) -> bytes:
    language = toolchain.language
    profile = Profile(
        executes=True,
        compiles=True,
        reads=toolchain.compile_reads,
        folder_mb=limits.work_mb,
        stack_mb=64 if language.run == () else 8,
        processes=limits.processes,
        descriptors=256,
    )
    server = ForkServer(at_most=at_most, profile=profile)
    cpu_s = language.compile_cpu_s
    bounds = RunLimits(cpu_s, 10 * cpu_s, limits.memory_mb, output_bytes=limits.output_mb << 20)
    try:
        name = language.file(source)
        text = memory_file("source", source.encode())
        try:
            server.place(text, name)
        finally:
            os.close(text)
        for line in _lines(toolchain, server.folder, name, source):
            ended = run_command(server, Command(line, _environment(toolchain, server.folder)), bounds)
            if refusal := _refusal(toolchain, ended):
                raise CompileError(refusal)
        return _program(server, limits.output_mb << 20)
    finally:
        server.close()


def _lines(toolchain: Toolchain, work: str, name: str, source: str) -> list[list[str]]:
    words = {
        "tool": toolchain.tool,
        "bin": os.path.dirname(toolchain.tool),
        "cc": toolchain.linker,
        "source": f"{work}/{name}",
        "out": f"{work}/{OUT}",
        "main": main_class(source),
    }
    return [[part.format_map(words) for part in line] for line in toolchain.language.compile]


def _environment(toolchain: Toolchain, work: str) -> dict[str, str]:
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": work, "TMPDIR": work}
    environment |= {"GOCACHE": toolchain.library, "GOPATH": f"{work}/go"}
    return environment | dict(toolchain.language.compile_environment)


def _refusal(toolchain: Toolchain, ended: CommandEnd) -> str:
    """The compiler's message about why it built no program; empty if it built one."""
    if ended.code == 0 and not ended.over:
        return ""
    if ended.over in ("cpu", "wall") or ended.code == -SIGXCPU:
        return f"compiling took more than {toolchain.language.compile_cpu_s:g} s"
    messages = (ended.stderr or ended.stdout).decode(errors="replace")
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    first = next((line for line in lines if re.search(r"\b(?:error|fatal)\b", line, re.IGNORECASE)), "")
    return (first or (lines[0] if lines else f"the compiler ended with {ended.code}"))[:MESSAGE]


def _program(server: ForkServer, most_bytes: int) -> bytes:
    """The file that a compiler left: unread until now, so it may be anything."""
    with os.fdopen(server.fetch(OUT), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SandboxError("the compiler succeeded, but what it left is not a file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise SandboxError(f"the compiler succeeded, but it left more than {most_bytes} bytes")
    return content
