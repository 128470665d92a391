"""Compile a program in confinement, because a compiler reads any file that the program names.

`#include "/etc/passwd"`, `.incbin`, `include_str!` and the like find nothing, since the compiler sees its installation,
the system's headers and libraries, and an empty work folder; there is no network, and time, memory and output are
limited. A compile error or a timeout is the program's failure.
"""

import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache

from plaudit.errors import SandboxError
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.confined_process import RunLimits, Tier
from plaudit.sandbox.languages.toolchains import Toolchain
from plaudit.sandbox.outcome import CallStatus, Outcome
from plaudit.sandbox.program import Program
from plaudit.sandbox.server import ForkServer

OUT = "program"
MESSAGE = 500


class CompileError(Exception):
    """The compiler refused a program; the first of its messages."""


@dataclass(frozen=True, slots=True)
class CompileLimits:
    """The limits of a compilation; processor time is that of the language, wall-clock time ten times that."""

    memory_mb: int = 2048
    output_mb: int = 64
    work_mb: int = 1024


COMPILE_LIMITS = CompileLimits()


def main_class(source: str) -> str:
    """The class of a Java program that has `main`: the last one begun before it."""
    main = re.search(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(|\bvoid\s+static\s+main\s*\(", source)
    classes = re.findall(
        r"^(?:\w+\s+)*?(?:class|record|enum|interface)\s+(\w+)",
        source[: main.start()] if main else source,
        re.MULTILINE,
    )
    return classes[-1] if classes else "Main"


@lru_cache(maxsize=16)
def compile_program(
    toolchain: Toolchain, source: str, limits: CompileLimits = COMPILE_LIMITS, at_most: Tier = Tier.NAMESPACES
) -> bytes:
    """The compiled program, or a script unchanged; CompileError if the compiler refuses it."""
    language = toolchain.language
    if not language.compile:
        return source.encode()
    profile = Profile(
        executes=True,
        compiles=True,
        reads=toolchain.compile_reads,
        folder_mb=limits.work_mb,
        stack_mb=64 if language.run == () else 8,
        descriptors=256,
    )
    server = ForkServer(at_most=at_most, profile=profile)
    cpu_s = language.compile_cpu_s
    bounds = RunLimits(cpu_s, 10 * cpu_s, limits.memory_mb, output_bytes=limits.output_mb << 20)
    try:
        name = language.file(source)
        server.place(source.encode(), name)
        for line in _lines(toolchain, server.folder, name, source):
            with Program(server, server.take(bounds), bounds) as compiler:
                outcome = compiler.execute(line, _environment(toolchain, server.folder), b"", placed=False)
            if refusal := _refusal(toolchain, outcome):
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


def _refusal(toolchain: Toolchain, outcome: Outcome) -> str:
    """The compiler's message about why it built no program; empty if it built one."""
    if outcome.status is CallStatus.EXITED and outcome.exit_code == 0:
        return ""
    if outcome.status in (CallStatus.CPU_LIMIT, CallStatus.WALL_LIMIT):
        return f"compiling took more than {toolchain.language.compile_cpu_s:g} s"
    messages = (outcome.stderr or outcome.stdout).decode(errors="replace")
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    first = next((line for line in lines if re.search(r"\b(?:error|fatal)\b", line, re.IGNORECASE)), "")
    return (first or (lines[0] if lines else f"the compiler ended: {outcome.reason}"))[:MESSAGE]


def _program(server: ForkServer, most_bytes: int) -> bytes:
    """The file that a compiler left: unread until now, so it may be anything."""
    with os.fdopen(server.fetch(OUT), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SandboxError("the compiler succeeded, but what it left is not a file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise SandboxError(f"the compiler succeeded, but it left more than {most_bytes} bytes")
    return content
