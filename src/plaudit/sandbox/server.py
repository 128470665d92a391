"""The owner's handle on one fork server.

Servers are started by exec, so the size of the process that starts them does not matter, with an environment of one
constant: a fixed hash seed, so that a program that prints a set prints it the same way every time.
"""

import contextlib
import errno
import importlib.util
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from plaudit.errors import MissingPackage, SandboxError
from plaudit.sandbox.child.confinement.profiles import PROGRAM, Profile
from plaudit.sandbox.child.protocol import FETCH, LIMITS, PLACE, QUIT, REAP, STATUS, TAKE, ServerSettings
from plaudit.sandbox.child.system_limits import explain_error, find_small_limit
from plaudit.sandbox.confined_process import LockedProcess, Protection, Protections, RunLimits, Tier, write_sealed

START_S, ANSWER_S = 60.0, 30.0
DESCRIPTORS = 5
MFD_EXEC = 0x10  # which kernels before 6.3 do not know
PACKAGE = Path(__file__).resolve().parents[1]
# The packages are named without running their __init__: a server needs nothing of plaudit but what is in `child`.
BOOT = """
import sys
for name, folder in (("plaudit", sys.argv[2]), ("plaudit.sandbox", sys.argv[2] + "/sandbox")):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = [folder]
from plaudit.sandbox.child.system_limits import explain_error
try:
    from plaudit.sandbox.child.server_loop import ServerSettings, main
    main(ServerSettings.from_json(sys.argv[1]))
except (OSError, MemoryError) as error:
    sys.exit(explain_error(error))
"""
ZONES = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
SERVER_BYTES = 512 << 20  # of address space that a server needs
SERVER_NEEDS = {resource.RLIMIT_NOFILE: 64, resource.RLIMIT_AS: SERVER_BYTES, resource.RLIMIT_FSIZE: 64 << 20}


class ForkServer:
    """One warm server; `close()` leaves no process behind."""

    clock_is_local = True

    def __init__(
        self,
        modules: Sequence[str] = (),
        at_most: Tier = Tier.NAMESPACES,
        scratch_mb: int = 0,
        *,
        core: int | None = None,
        profile: Profile = PROGRAM,
    ) -> None:
        if sys.platform != "linux":
            raise SandboxError(f"programs can be run safely on Linux only; this is {sys.platform}")
        if small := find_small_limit(SERVER_NEEDS):
            raise SandboxError(f"a sandbox cannot be started: {small}")
        self._owner, self.taken = os.getpid(), 0
        self._is_lost = False
        self.scratch_mb, self._profile = scratch_mb, replace(profile, folder_mb=scratch_mb or profile.folder_mb)
        self._packed: dict[RunLimits, bytes] = {}
        needs_folder = profile.executes and profile.folder_mb
        self._folder = tempfile.mkdtemp(prefix=f"plaudit-work-{os.getpid()}-") if needs_folder else ""
        packages = (*modules, "msgspec") if profile.receives_descriptors else modules
        paths = sorted({_folder_of(module.partition(".")[0]) for module in packages})
        try:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            settings = ServerSettings(
                paths, modules, int(at_most), theirs.fileno(), self._profile, self._folder, _zones(), core
            )
            self._process = _start(settings, theirs)
        except OSError as error:
            self._remove_folder()
            raise SandboxError(f"a sandbox cannot be started: {explain_error(error)}") from error
        try:
            self.folder, self.protections = self._hello()
            self.tier = self.protections.tier
            self._check_protections()
        except BaseException:
            self.close()
            raise

    def take(self, limits: RunLimits) -> LockedProcess:
        """A process with these limits."""
        wanted = self._pack(limits)
        try:
            self._control.send(TAKE + wanted)
            child = self._receive()
        except OSError as error:
            raise self._lost(explain_error(error)) from error
        self.taken += 1
        return child

    def end(self, process: LockedProcess) -> None:
        """Kill a process, and have it reaped."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process.process, signal.SIGKILL)
        try:
            self._control.send(REAP + str(process.number).encode())
        except OSError as error:
            raise self._lost(error) from error

    def clock_of(self, process: LockedProcess) -> Callable[[], float]:
        """A function that gives the processor seconds that a process has used, all its threads together."""
        clock, seen = processor_clock(process.process), [0.0]

        def seconds() -> float:
            with contextlib.suppress(OSError):  # it is dead
                seen[0] = time.clock_gettime(clock)
            return seen[0]

        return seconds

    def exit_code_of(self, process: LockedProcess) -> int:
        """The exit code of a dead process, or minus the number of the signal that killed it."""
        try:
            self._control.send(STATUS + str(process.number).encode())
            return int(self._control.recv(256))
        except (OSError, ValueError) as error:
            raise self._lost(error) from error

    def place(self, content: bytes, name: str = "") -> None:
        """Put a file into the folder, replacing the one before it; without a name it is the program to execute."""
        file = _memory_file(content, executable=not name)
        try:
            socket.send_fds(self._control, [PLACE + name.encode()], [file])
            answer = self._control.recv(256)
        except OSError as error:
            raise self._lost(error) from error
        finally:
            os.close(file)
        if answer != b"placed":
            raise self._lost("it could not place a file")

    def fetch(self, name: str) -> int:
        """A descriptor of a file that a command left in the folder; SandboxError if there is none."""
        try:
            self._control.send(FETCH + name.encode())
            answer, descriptors, *_ = socket.recv_fds(self._control, 1 << 12, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            raise self._lost(error) from error
        if not descriptors:
            raise SandboxError(f"the command left no file {name!r}: {answer.decode(errors='replace')}")
        return descriptors[0]

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

    @property
    def lost(self) -> bool:
        """Whether it is gone, or belongs to the process that this one was forked from."""
        return self._is_lost or self._owner != os.getpid()

    def _pack(self, limits: RunLimits) -> bytes:
        """The limits as the kernel is to enforce them; SandboxError if the system allows less."""
        if limits in self._packed:
            return self._packed[limits]
        executes, memory = self._profile.executes, limits.memory_mb << 20
        # Processor time is watched from outside; a compiler's processes are not, so each has the limit itself.
        cpu_s = int(limits.cpu_s) + 1 if self._profile.compiles else 60 + 100 * int(limits.cpu_s + 1)
        file_bytes = max(limits.output_bytes + 1, limits.scratch_mb << 20)
        needed = {resource.RLIMIT_FSIZE: file_bytes, resource.RLIMIT_CPU: int(limits.cpu_s) + 1}
        needed |= {} if executes else {resource.RLIMIT_AS: memory + SERVER_BYTES}
        if small := find_small_limit(needed):
            raise SandboxError(f"programs cannot have their limits here: {small}")
        self._packed[limits] = LIMITS.pack(memory, cpu_s, file_bytes)
        return self._packed[limits]

    def _receive(self) -> LockedProcess:
        """The child that was requested."""
        answer, descriptors, flags, _ = socket.recv_fds(self._control, 256, DESCRIPTORS)
        if len(descriptors) != DESCRIPTORS:
            for descriptor in descriptors:
                os.close(descriptor)
            if flags & socket.MSG_CTRUNC:  # the kernel installs only as many descriptors as there is room for
                raise self._lost(explain_error(OSError(errno.EMFILE, os.strerror(errno.EMFILE))))
            raise self._lost(answer.decode(errors="replace") or "it closed the connection")
        channel, process, stdin, stdout, stderr = descriptors
        return LockedProcess(channel, process, stdin, stdout, stderr, number=int(answer))

    def _remove_folder(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _hello(self) -> tuple[str, Protections]:
        self._control.settimeout(START_S)
        try:
            hello = json.loads(self._control.recv(1 << 16))
        except (OSError, ValueError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
            self._process.kill()
            printed = self._process.stderr.read(2000).decode(errors="replace") if self._process.stderr else ""
            reason = printed.strip()[-500:] or explain_error(error)
            raise SandboxError(f"the sandbox server did not start: {reason}") from error
        finally:
            if self._process.stderr:
                self._process.stderr.close()
        self._control.settimeout(ANSWER_S)
        report = hello["report"]
        protections = tuple(Protection(name, active, detail) for name, (active, detail) in report.items())
        return hello["folder"], Protections(protections)

    def _check_protections(self) -> None:
        """A folder and files that may be read need what decides about paths; scratch space is mounted or absent."""
        profile = self._profile
        needed = ["seccomp"] if profile.executes else []
        needed += ["Landlock"] if profile.reads or profile.compiles or self.scratch_mb else []
        needed += ["namespaces"] if self.scratch_mb else []
        for name in needed:
            if not self.protections.active(name):
                why = next((one.detail for one in self.protections.confinement if one.name == name), "")
                what = f"scratch_mb={self.scratch_mb}" if self.scratch_mb else "this"
                raise SandboxError(f"{what} needs {name}, which is not available here: {why}")

    def _lost(self, why: object) -> SandboxError:
        self._is_lost = True
        return SandboxError(f"the sandbox server was lost: {why}")


def processor_clock(process: int) -> int:
    """The number of the clock that counts the processor time of all threads of a process, given as a descriptor."""
    descriptor = os.open(f"/proc/self/fdinfo/{process}", os.O_RDONLY)
    try:
        words = os.read(descriptor, 4096).split()
    finally:
        os.close(descriptor)
    pid = int(words[words.index(b"Pid:") + 1])  # as seen from here; the server may be in another namespace
    return (~pid << 3) | 2


def _memory_file(content: bytes, *, executable: bool) -> int:
    """A descriptor of a file in memory that cannot be changed any more."""
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        descriptor = os.memfd_create("program", flags | (MFD_EXEC if executable else 0))
    except OSError:  # a kernel where all of them can be executed
        descriptor = os.memfd_create("program", flags)
    write_sealed(descriptor, content)
    return descriptor


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


def _zones() -> str:
    """The folder of time zone data: the system's, else that of the package tzdata, else none."""
    if system := next((path for path in ZONES if os.path.isdir(path)), ""):
        return system
    spec = importlib.util.find_spec("tzdata")
    return str(Path(spec.origin).parent / "zoneinfo") if spec and spec.origin else ""
