"""Run commands that nobody trusts, one at a time, in a process that can reach nothing else: the owner's end of it.

Everything a command leaves (output, a file) is bytes with a length; nothing here believes them.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plaudit.errors import SandboxError
from plaudit.sandbox.languages.inside.command_loop import CommandLimits, CommandSettings
from plaudit.sandbox.tiers import Protection, Protections, Tier

__all__ = ["Command", "CommandEnd", "CommandServer", "memory_file"]

START_S, ANSWER_S = 60.0, 30.0
LOOK_S = 0.05
PACKAGE = Path(__file__).resolve().parents[2]
BOOT = """
import sys, types
for name, folder in (("plaudit", sys.argv[1]), ("plaudit.sandbox", sys.argv[1] + "/sandbox")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from plaudit.sandbox.languages.inside.command_loop import start
start()
"""
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
EXECUTABLE = 0x10  # MFD_EXEC, which kernels before 6.3 do not know


@dataclass(frozen=True, slots=True)
class Command:
    """What to start and what it may use; `program` is a descriptor of what is executed, where that is no path."""

    argv: Sequence[str]
    limits: CommandLimits
    cpu_s: float
    wall_s: float
    environment: dict[str, str] = field(default_factory=dict)
    program: int | None = None


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended: exit code or minus a signal, the limit that ended it, what it printed and used."""

    code: int
    stdout: bytes
    stderr: bytes
    cpu_s: float
    over: str = ""  # "cpu", "wall" or "output" where that limit ended it


class CommandServer:
    """A warm process that starts commands; `close()` leaves no process and no file behind."""

    def __init__(
        self, reads: Sequence[str] = (), at_most: Tier = Tier.NAMESPACES, *, work_mb: int = 64, compiles: bool = False
    ) -> None:
        if sys.platform != "linux":
            raise SandboxError(f"programs can be run safely on Linux only; this is {sys.platform}")
        self._owner, self.lost = os.getpid(), False
        self._folder = tempfile.mkdtemp(prefix=f"plaudit-work-{os.getpid()}-")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        settings = CommandSettings(theirs.fileno(), int(at_most), list(reads), work_mb, self._folder, compiles)
        self._control, self._process = ours, _start(settings, theirs)
        try:
            self.work, self.protections = self._hello()
            self._check_protections(bool(reads) or compiles)
        except BaseException:
            self.close()
            raise
        self._control.settimeout(ANSWER_S)

    def place(self, name: str, file: int) -> None:
        """Put a file, given as a descriptor, into the work folder in place of the one before it."""
        self._ask({"do": "place", "name": name}, [file])

    def run(self, command: Command, stdin: bytes = b"", most_output: int = 1 << 20) -> CommandEnd:
        """Run a command to its end, or to the end of what it may use; at most `most_output` + 1 bytes of its prints."""
        given = memory_file("in", stdin)
        files = [given, os.memfd_create("out"), os.memfd_create("err")]
        extra = [] if command.program is None else [command.program]
        request = {"do": "start", "argv": list(command.argv), "environment": command.environment}
        try:
            answer, (process,) = self._ask({**request, "limits": asdict(command.limits)}, [*files, *extra], 1)
            try:
                if answer["refusal"]:
                    self._ask({"do": "bury", "pid": answer["pid"], "kill": False})
                    raise SandboxError(f"{command.argv[0]} could not be started: {answer['refusal']}")
                over = _wait(process, command, files[1:])
                ended, _ = self._ask({"do": "bury", "pid": answer["pid"], "kill": bool(over)})
            finally:
                os.close(process)
            out, err = (os.pread(file, most_output + 1, 0) for file in files[1:])
            return CommandEnd(ended["code"], out, err, ended["cpu_s"], over)
        finally:
            for file in files:
                os.close(file)

    def fetch(self, name: str, most_bytes: int) -> bytes:
        """A file that a command left in the work folder; SandboxError where there is no such file."""
        answer, descriptors = self._ask({"do": "fetch", "name": name}, [], 1)
        if not descriptors:
            raise SandboxError(f"the command left no file {name!r}: {answer['refusal']}")
        with os.fdopen(descriptors[0], "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SandboxError(f"the command left something that is not a file as {name!r}")
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise SandboxError(f"the command left more than {most_bytes} bytes as {name!r}")
        return content

    def close(self) -> None:
        """End the server and what it started."""
        self.lost = True
        self._control.close()
        if self._owner != os.getpid():
            return  # a copy in a forked process; the server belongs to its parent
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, request: dict[str, Any], descriptors: Sequence[int] = (), most: int = 0
    ) -> tuple[dict[str, Any], list[int]]:
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            answer, received, *_ = socket.recv_fds(self._control, 1 << 16, most, socket.MSG_CMSG_CLOEXEC)
            return json.loads(answer), received
        except (OSError, ValueError) as error:
            self.lost = True
            raise SandboxError(f"the process that starts commands was lost: {error}") from error

    def _hello(self) -> tuple[str, Protections]:
        self._control.settimeout(START_S)
        try:
            told = json.loads(self._control.recv(1 << 16))
        except (OSError, ValueError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._process.kill()
            said = self._process.stderr.read(2000).decode(errors="replace") if self._process.stderr else ""
            raise SandboxError(f"commands cannot be started: {said.strip()[-500:] or error}") from error
        walls = tuple(Protection(name, not why, why) for name, why in told["walls"].items())
        return told["work"], Protections(walls)

    def _check_protections(self, needs_files: bool) -> None:
        """Commands that read files need Landlock, as the system-call filter does not look at paths."""
        missing = [
            name for name in ("seccomp", *(["Landlock"] if needs_files else [])) if not self.protections.active(name)
        ]
        if missing:
            why = next(wall.detail for wall in self.protections.walls if wall.name == missing[0])
            raise SandboxError(f"this needs {missing[0]}, which cannot be had here: {why}")


def memory_file(name: str, content: bytes, *, executable: bool = False) -> int:
    """A descriptor of a file in memory that nobody can change any more."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create(name, flags | (EXECUTABLE if executable else 0))
    except OSError:  # a kernel where all of them can be executed
        descriptor = os.memfd_create(name, flags)
    left, place = memoryview(content), 0
    while left:
        written = os.pwrite(descriptor, left, place)
        left, place = left[written:], place + written
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    return descriptor


def _start(settings: CommandSettings, control: socket.socket) -> "subprocess.Popen[bytes]":
    with control:
        return subprocess.Popen(
            [sys.executable, "-s", "-P", "-S", "-B", "-X", "utf8", "-c", BOOT, str(PACKAGE), settings.to_json()],
            env={},
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )


def _wait(process: int, command: Command, prints: Sequence[int]) -> str:
    """Wait for the end of a process, or of what it may use; which limit it was, empty where it ended by itself.

    Who prints on where no more can be printed (Java does not tell its programs) is ended as well.
    """
    ending, began, used = select.poll(), time.monotonic(), _clock(process)
    ending.register(process, select.POLLIN)
    patience_s = min(command.cpu_s, LOOK_S)
    while not ending.poll(patience_s * 1000):
        cpu_left, wall_left = command.cpu_s - used(), command.wall_s - (time.monotonic() - began)
        is_full = any(os.fstat(file).st_size >= command.limits.file_bytes for file in prints)
        if cpu_left <= 0 or wall_left <= 0 or is_full:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            return "output" if is_full else "cpu" if cpu_left <= 0 else "wall"
        patience_s = min(max(cpu_left, 0.001), wall_left, LOOK_S)
    return ""


def _clock(process: int) -> Callable[[], float]:
    """A function that tells the processor seconds of all threads of a process."""
    with open(f"/proc/self/fdinfo/{process}") as file:
        pid = next(int(line.split()[1]) for line in file if line.startswith("Pid:"))
    clock = (~pid << 3) | 2

    def seconds() -> float:
        try:
            return time.clock_gettime(clock)
        except OSError:  # it is dead
            return 0.0

    return seconds
