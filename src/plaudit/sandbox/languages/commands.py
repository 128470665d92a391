"""Run one untrusted command to its end: a compiler, a compiled program, or a runtime with its script.

Everything a command leaves (output, a file) is bytes with a length; nothing here trusts them.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plaudit.errors import SandboxError
from plaudit.frames import frame, read_frame
from plaudit.sandbox.child.protocol import READY
from plaudit.sandbox.confined_process import LockedProcess, RunLimits
from plaudit.sandbox.server import ForkServer

__all__ = ["Command", "CommandEnd", "memory_file", "run_command"]

LOOK_S = 0.05
START_S = 60.0
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
EXECUTABLE = 0x10  # MFD_EXEC, which kernels before 6.3 do not know


@dataclass(frozen=True, slots=True)
class Command:
    """What to start; `placed` says that the program that was placed without a name is executed, not a path."""

    argv: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    placed: bool = False


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended: exit code or minus a signal, the limit that ended it, what it printed and used."""

    code: int
    stdout: bytes
    stderr: bytes
    cpu_s: float
    over: str = ""  # "cpu", "wall" or "output" where that limit ended it


def run_command(server: ForkServer, command: Command, limits: RunLimits, stdin: bytes = b"") -> CommandEnd:
    """Run a command until it ends or reaches a limit; gives at most `output_bytes` + 1 bytes of each output."""
    process = server.take(limits)
    clock = server.clock_of(process)
    try:
        _fill(process.stdin, stdin)
        refusal = _start(process, command)
        over = "" if refusal else _wait(process, limits, clock)
        used_s, code = clock(), server.exit_code_of(process)
        if refusal:
            raise SandboxError(f"{command.argv[0]} could not be started: {refusal}")
        out, err = (os.pread(file, limits.output_bytes + 1, 0) for file in (process.stdout, process.stderr))
        return CommandEnd(code, out, err, used_s, over)
    finally:
        process.close()


def memory_file(name: str, content: bytes, *, executable: bool = False) -> int:
    """A descriptor of a file in memory that cannot be changed any more."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create(name, flags | (EXECUTABLE if executable else 0))
    except OSError:  # a kernel where all of them can be executed
        descriptor = os.memfd_create(name, flags)
    _fill(descriptor, content)
    return descriptor


def _fill(descriptor: int, content: bytes) -> None:
    """Write content to a file in memory, and seal it."""
    left, offset = memoryview(content), 0
    while left:
        written = os.pwrite(descriptor, left, offset)
        left, offset = left[written:], offset + written
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)


def _start(process: LockedProcess, command: Command) -> str:
    """Have a process become its command; why it did not, empty when it did."""
    request = {"argv": list(command.argv), "environment": command.environment, "placed": command.placed}
    try:
        if os.read(process.channel, len(READY)) != READY:
            return os.pread(process.stderr, 500, 0).decode(errors="replace") or "it could not be confined"
        os.write(process.channel, frame(json.dumps(request).encode()))
        return read_frame(process.channel, time.monotonic() + START_S).decode(errors="replace")
    except EOFError:  # the channel is closed by the exec
        return ""
    except OSError as error:
        return str(error)


def _wait(process: LockedProcess, limits: RunLimits, clock: Callable[[], float]) -> str:
    """Wait until a process ends or reaches a limit; which limit it was, empty if it ended by itself.

    A process that continues printing where no more can be printed (Java does not report it) is ended as well.
    """
    end, began = select.poll(), time.monotonic()
    end.register(process.process, select.POLLIN)
    patience_s = min(limits.cpu_s, LOOK_S)
    while not end.poll(patience_s * 1000):
        cpu_left, wall_left = limits.cpu_s - clock(), limits.wall_s - (time.monotonic() - began)
        is_full = any(os.fstat(file).st_size > limits.output_bytes for file in (process.stdout, process.stderr))
        if cpu_left <= 0 or wall_left <= 0 or is_full:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process.process, signal.SIGKILL)
            return "output" if is_full else "cpu" if cpu_left <= 0 else "wall"
        patience_s = min(max(cpu_left, 0.001), wall_left, LOOK_S)
    return ""
