"""The judge's handle on one fork server.

Servers are started by exec, so the size of the process that starts them does not matter, with an environment of one
constant: a fixed hash seed, so that a program that prints a set prints it the same way every time. A server has one
running child at a time, and one that waits: it was asked for when the one before it was done with.
"""

import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from plaudit.errors import MissingPackage, SandboxError
from plaudit.sandbox.inside.requests import BURY, LIMITS, NEXT, QUIT, STATUS, TAKE
from plaudit.sandbox.inside.service import ServerSettings
from plaudit.sandbox.limits import RunLimits
from plaudit.sandbox.locked_process import LockedProcess
from plaudit.sandbox.tiers import Protection, Protections, Tier

__all__ = ["JUDGES", "ForkServer"]

START_S, ANSWER_S = 60.0, 30.0
DESCRIPTORS = 5
PACKAGE = Path(__file__).resolve().parents[1]
# The packages are named without running their __init__: a server needs nothing of plaudit but what is inside.
BOOT = """
import sys
for name, folder in (("plaudit", sys.argv[2]), ("plaudit.sandbox", sys.argv[2] + "/sandbox")):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = [folder]
from plaudit.sandbox.inside.layout import prepare_layout
prepare_layout()
import json
settings = json.loads(sys.argv[1])
sys.path.extend(settings["paths"])
from plaudit.sandbox.inside.server_loop import ServerSettings, main
main(ServerSettings(**settings))
"""
PROGRAMS, JUDGES = "plaudit.sandbox.inside.warm_up", "plaudit.sandbox.judging.verdict_process"
NEEDED = {JUDGES: ("msgspec",)}
MOST_NEEDS = 1 << 16


class ForkServer:
    """One warm server; `close()` leaves no process behind."""

    clock_is_near = True

    def __init__(
        self,
        modules: Sequence[str] = (),
        at_most: Tier = Tier.NAMESPACES,
        scratch_mb: int = 0,
        *,
        service: str = PROGRAMS,
        core: int | None = None,
    ) -> None:
        if sys.platform != "linux":
            raise SandboxError(f"programs can be run safely on Linux only; this is {sys.platform}")
        self._owner, self.taken = os.getpid(), 0
        self._is_lost, self._service = False, service
        self.scratch_mb = scratch_mb
        self._promised = b""  # the limits of the child that was asked for and not taken yet
        self._folder = tempfile.mkdtemp(prefix=f"plaudit-scratch-{os.getpid()}-") if scratch_mb else ""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            paths = sorted({_folder_of(module.partition(".")[0]) for module in (*modules, *NEEDED.get(service, ()))})
            settings = ServerSettings(
                service, str(PACKAGE), paths, modules, int(at_most), theirs.fileno(), scratch_mb, self._folder, core
            )
            self._control, self._process = ours, _start(settings, theirs)
            self._hung_up = select.poll()
            self._hung_up.register(self._control, 0)  # that the other end is closed is told in any case
            self.protections = self._hello()
            self.tier = self.protections.tier
        except BaseException:
            ours.close()
            theirs.close()
            self._remove_folder()
            raise
        if scratch_mb and not self.protections.active("scratch"):
            why = next((wall.detail for wall in self.protections.walls if wall.name == "scratch"), "")
            self.close()
            raise SandboxError(f"programs can have no scratch space here, so scratch_mb must be 0: {why}")

    def take(self, limits: RunLimits, needs: bytes = b"") -> LockedProcess:
        """A process with these limits, alone with its program to be; `needs` is for the service to prepare."""
        wanted = _pack(limits)
        try:
            if self._promised and self._promised != wanted:
                self._decline()
            if not self._promised:
                self._control.send(TAKE + wanted + (needs if len(needs) <= MOST_NEEDS else b""))
            child = self._receive()
        except OSError as error:
            raise self._lost(error) from error
        self.taken += 1
        return child

    def end(self, process: LockedProcess, limits: RunLimits) -> None:
        """Kill a process, have it buried, and ask for the next, as most often it has the same limits.

        Scratch space is for one program at a time, so then the next is not asked for before the last is gone; nor is
        a judge, who is asked for with what it needs.
        """
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process.process, signal.SIGKILL)
        number, wanted = str(process.number).encode(), _pack(limits)
        try:
            if limits.scratch_mb or self._service != PROGRAMS:
                self._control.send(BURY + number)
            else:
                self._control.send(NEXT + wanted + number)
                self._promised = wanted
        except OSError as error:
            raise self._lost(error) from error

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        """A function that tells the processor seconds that a process has used, all its threads together."""
        clock, seen = _processor_clock(process.process), [0.0]

        def seconds() -> float:
            with contextlib.suppress(OSError):  # it is dead
                seen[0] = time.clock_gettime(clock)
            return seen[0]

        return seconds

    def ending_of(self, process: LockedProcess) -> int:
        """How a process that is dead ended: its exit code, or minus the signal that killed it."""
        try:
            self._control.send(STATUS + str(process.number).encode())
            return int(self._control.recv(256))
        except (OSError, ValueError) as error:
            raise self._lost(error) from error

    def fits(self, limits: RunLimits) -> bool:
        """Whether programs with these limits can run here: scratch space is of one size per server."""
        return limits.scratch_mb in (0, self.scratch_mb)

    def close(self) -> None:
        """End the server and what it forked."""
        if self._owner != os.getpid():
            self._control.close()
            return  # a copy in a forked process; the server belongs to its parent
        with contextlib.suppress(OSError):
            self._control.send(QUIT)
        self._control.close()
        self._is_lost = True
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._remove_folder()

    def _receive(self) -> LockedProcess:
        """The child that was asked for."""
        self._promised = b""
        answer, descriptors, *_ = socket.recv_fds(self._control, 256, DESCRIPTORS)
        if len(descriptors) != DESCRIPTORS:
            for descriptor in descriptors:
                os.close(descriptor)
            raise self._lost(answer.decode(errors="replace") or "it closed the connection")
        channel, process, stdin, stdout, stderr = descriptors
        child = LockedProcess(channel, process, stdin, stdout, stderr, number=int(answer))
        if self._hung_up.poll(0):  # it was asked for a while ago
            child.close()
            raise self._lost("it closed the connection")
        return child

    def _decline(self) -> None:
        """Do without the child that was asked for."""
        child = self._receive()
        signal.pidfd_send_signal(child.process, signal.SIGKILL)
        child.close()
        self._control.send(BURY + str(child.number).encode())

    def _remove_folder(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _hello(self) -> Protections:
        self._control.settimeout(START_S)
        try:
            report = json.loads(self._control.recv(1 << 16))
        except (OSError, ValueError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            said = self._process.stderr.read(2000).decode(errors="replace") if self._process.stderr else ""
            self._process.kill()
            self._process.wait()
            raise SandboxError(f"the sandbox server did not start: {said.strip()[-500:] or error}") from error
        finally:
            if self._process.stderr:
                self._process.stderr.close()
        self._control.settimeout(ANSWER_S)
        return Protections(tuple(Protection(name, active, detail) for name, (active, detail) in report.items()))

    @property
    def lost(self) -> bool:
        """Whether it is gone, or belongs to the process that this one was forked from."""
        return self._is_lost or self._owner != os.getpid()

    def _lost(self, why: object) -> SandboxError:
        self._is_lost = True
        return SandboxError(f"the sandbox server was lost: {why}")


def _pack(limits: RunLimits) -> bytes:
    cpu_s = 60 + 100 * int(limits.cpu_s + 1)
    return LIMITS.pack(limits.memory_mb << 20, cpu_s, limits.output_bytes + 1, limits.scratch_mb << 20)


def _start(settings: ServerSettings, control: socket.socket) -> "subprocess.Popen[bytes]":
    with control:
        return subprocess.Popen(
            [sys.executable, "-s", "-P", "-S", "-B", "-X", "utf8", "-c", BOOT, settings.to_json(), str(PACKAGE)],
            env={"PYTHONHASHSEED": "0"},
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )


def _folder_of(package: str) -> str:
    """The folder a package is imported from."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPackage(f"a sandbox with {package} needs it installed: pip install {package}", name=package)
    return str(Path(spec.origin).parents[1])


def _processor_clock(process: int) -> int:
    """The number of the clock that counts the processor time of all threads of a process."""
    descriptor = os.open(f"/proc/self/fdinfo/{process}", os.O_RDONLY)
    try:
        words = os.read(descriptor, 4096).split()
    finally:
        os.close(descriptor)
    pid = int(words[words.index(b"Pid:") + 1])  # as seen from here; the server may be in another namespace
    return (~pid << 3) | 2
