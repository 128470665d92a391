"""The process that starts commands nobody trusts: compilers, and programs that are executed.

Started by exec with an empty environment, it takes leave of everything the commands must not reach, says which walls
stand, and then forks for each request. It never reads a byte that a command wrote.
"""

import contextlib
import errno
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.sandbox.inside.walls import namespaces
from plaudit.sandbox.inside.walls.kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, Kernel
from plaudit.sandbox.inside.walls.lockdown import FIRST_DESCRIPTOR, FIRST_UID, NOBODY, UIDS
from plaudit.sandbox.languages.inside.command_filter import compiler_filter, program_filter
from plaudit.sandbox.languages.inside.command_root import WORK, build_root, file_rules

__all__ = ["CommandLimits", "CommandSettings", "main"]

CONTROL = FIRST_DESCRIPTOR
MESSAGE = 1 << 18
PARENT_CHECK_MS = 5_000
AMONG_OTHERS = 2048  # where the limit counts what else the user runs
NOT_STARTED = 71  # how a process ends that could not become its command


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """How a server is started: which walls, what its commands may read, and whether they are compilers."""

    control: int
    at_most: int
    reads: list[str]
    work_mb: int
    folder: str  # the work folder, where there can be no root of our own
    compiles: bool

    def to_json(self) -> str:
        """The settings as the one argument of the server's process."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """What the kernel enforces on each process of a command."""

    data_bytes: int
    stack_bytes: int
    cpu_s: int
    file_bytes: int
    processes: int
    descriptors: int


def main(settings: CommandSettings) -> None:
    """Put the walls up, say which stand, then start commands until the owner is gone."""
    if settings.control != CONTROL:
        os.dup2(settings.control, CONTROL, inheritable=False)
        os.close(settings.control)
    os.set_inheritable(CONTROL, False)
    control, report = socket.socket(fileno=CONTROL), dict[str, str]()
    kernel = Kernel()
    parent, others = os.getppid(), _tasks_of(os.geteuid()) + AMONG_OTHERS if os.geteuid() else 0
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # when memory runs out, it is a command that goes
    report["namespaces"] = namespaces.trial(kernel) if settings.at_most >= 3 else "switched off"
    work = settings.folder
    if not report["namespaces"]:
        namespaces.enter(kernel)
        namespaces.become_first_process(kernel)
        parent = os.getppid()
        with contextlib.suppress(OSError):
            os.rmdir(settings.folder)  # not needed, and out of reach from now on
        build_root(kernel, settings.reads, settings.work_mb)
        work = WORK
    walls = CommandWalls(kernel, settings, work, report)
    walls.others = others
    if not report["namespaces"]:
        kernel.die_with_parent()  # again: becoming another user has undone it
    control.send(json.dumps({"work": work, "walls": report}).encode())
    CommandLoop(control, walls, work, parent).run()


class CommandWalls:
    """What stands around commands; `report` says of each wall why it does not stand, or nothing."""

    def __init__(self, kernel: Kernel, settings: CommandSettings, work: str, report: dict[str, str]) -> None:
        self.report, self._kernel = report, kernel
        self.others = 0  # processes of the same user, where we could not become another
        self._attempt("new user", lambda: _leave_user(work))
        self._attempt("no capabilities", kernel.drop_capabilities)
        self._attempt("no new privileges", lambda: kernel.prctl(PR_SET_NO_NEW_PRIVS, 1))
        self._attempt("memory not readable by others", lambda: kernel.prctl(PR_SET_DUMPABLE, 0))
        self._landlock: Callable[[], int] | None = None
        report |= {"Landlock": "switched off", "seccomp": "switched off"}
        if settings.at_most >= 2:
            self._attempt("Landlock", lambda: self._try_landlock(settings, work))
        if settings.at_most >= 1:
            self._attempt("seccomp", lambda: self._try_seccomp(settings))

    def put_up(self, limits: CommandLimits) -> None:
        """Lock this process down, for good; OSError when a wall that stood in the trial does not."""
        self._kernel.die_with_parent()
        os.setsid()
        for kind, value in (
            (resource.RLIMIT_DATA, limits.data_bytes),
            (resource.RLIMIT_STACK, limits.stack_bytes),
            (resource.RLIMIT_CPU, limits.cpu_s),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
            (resource.RLIMIT_NPROC, limits.processes + self.others),
            (resource.RLIMIT_NOFILE, limits.descriptors),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            _, hard = resource.getrlimit(kind)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        for step in (self._landlock, self._take_filter):
            if step is not None and step():
                raise OSError("the kernel refuses a wall")

    def _take_filter(self) -> int:
        if self.report["seccomp"]:
            return 0
        for place in self._filter.own_pid:
            self._filter.words[place] = os.getpid()
        return self._kernel.seccomp(self._filter.address)()

    def _attempt(self, wall: str, build: Callable[[], None]) -> None:
        try:
            build()
        except (OSError, KeyError) as error:
            self.report[wall] = str(error) or type(error).__name__
        else:
            self.report[wall] = ""

    def _try_landlock(self, settings: CommandSettings, work: str) -> None:
        ruleset = file_rules(self._kernel, settings.reads, work, writes=settings.compiles)
        landlock = self._kernel.landlock(ruleset)
        _try_in_child(landlock, lambda: os.open("/", os.O_RDONLY), errno.EACCES)
        self._landlock = landlock

    def _try_seccomp(self, settings: CommandSettings) -> None:
        if settings.compiles:
            self._filter = compiler_filter()
        else:
            self._filter = program_filter(paths=not self.report["Landlock"])
        self.report["seccomp"] = ""
        _try_in_child(self._take_filter, lambda: socket.socket(socket.AF_INET), errno.EPERM)


class CommandLoop:
    """Starts commands, hands over their processes, and buries them."""

    def __init__(self, control: socket.socket, walls: CommandWalls, work: str, parent: int) -> None:
        self._control, self._walls, self._work, self._parent = control, walls, work, parent
        self._running: set[int] = set()
        self._requests: dict[str, Callable[[dict[str, Any], list[int]], None]] = {
            "place": self._place,
            "start": self._start,
            "bury": self._bury,
            "fetch": self._fetch,
        }

    def run(self) -> None:
        """Serve until the owner is gone, or asks for the end."""
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.chdir(self._work)
        while message := self._next_message():
            text, descriptors = message
            request = json.loads(text)
            try:
                self._requests[request.pop("do")](request, descriptors)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
        for pid in self._running:
            _kill_group(pid)
            os.waitpid(pid, 0)
        os._exit(0)

    def _next_message(self) -> tuple[bytes, list[int]] | None:
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        while not waiting.poll(PARENT_CHECK_MS):
            if os.getppid() != self._parent:
                return None  # the owner is gone, and a relative of it keeps the connection open
        text, descriptors, *_ = socket.recv_fds(self._control, MESSAGE, 8, socket.MSG_CMSG_CLOEXEC)
        return (text, descriptors) if text else None

    def _place(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Put a file into the work folder in place of the one before it."""
        for name in os.listdir(self._work):
            os.unlink(name)
        target = os.open(request["name"], os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o444)
        with os.fdopen(target, "wb") as file, os.fdopen(os.dup(descriptors[0]), "rb") as source:
            source.seek(0)
            shutil.copyfileobj(source, file)
        self._control.send(b"{}")

    def _start(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Fork, lock the new process down and have it become the command; the descriptor of the process goes back."""
        limits = CommandLimits(**request["limits"])
        reading, writing = os.pipe2(os.O_CLOEXEC)  # closed by a successful exec, else it holds the reason
        pid = os.fork()
        if pid == 0:
            try:
                for place, descriptor in enumerate(descriptors[:3]):
                    os.dup2(descriptor, place)
                program = descriptors[3] if len(descriptors) > 3 else request["argv"][0]
                self._walls.put_up(limits)
                os.execve(program, request["argv"], request["environment"])
            except BaseException as error:  # noqa: BLE001 - nothing may go on as the server
                os.write(writing, str(error).encode()[:500])
            finally:
                os._exit(NOT_STARTED)
        os.close(writing)
        with os.fdopen(reading, "rb") as told:
            refusal = told.read()
        process = os.pidfd_open(pid)
        self._running.add(pid)
        answer = json.dumps({"pid": pid, "refusal": refusal.decode(errors="replace")})
        socket.send_fds(self._control, [answer.encode()], [process])
        os.close(process)

    def _bury(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Kill what is left of a command and tell how it ended and what it used."""
        pid = request["pid"]
        if request["kill"]:
            _kill_group(pid)
        _, status, usage = os.wait4(pid, 0)
        _kill_group(pid)  # what it started and left behind
        self._running.discard(pid)
        cpu_s = usage.ru_utime + usage.ru_stime
        self._control.send(json.dumps({"code": os.waitstatus_to_exitcode(status), "cpu_s": cpu_s}).encode())

    def _fetch(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Hand over a file from the work folder, unread."""
        try:
            file = os.open(request["name"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self._control.send(json.dumps({"refusal": str(error)}).encode())
            return
        socket.send_fds(self._control, [json.dumps({"refusal": ""}).encode()], [file])
        os.close(file)


def _kill_group(pid: int) -> None:
    """Kill a command and all it started: none of them can leave its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _leave_user(work: str) -> None:
    """Become a user that nothing belongs to; one per server, so that no other process counts as its own."""
    if os.geteuid() != 0:
        raise PermissionError(f"only root can become another user; stays user {os.geteuid()}")
    number = FIRST_UID + int.from_bytes(os.urandom(4), "little") % UIDS
    os.setgroups([])
    try:
        _become(number, work)
    except OSError:  # a container that has only so many users
        _become(NOBODY, work)


def _become(number: int, work: str) -> None:
    if work != WORK:
        os.chown(work, number, number)
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)


def _try_in_child(wall: Callable[[], int], deed: Callable[[], object], refused: int) -> None:
    """Put a wall up in a child and try what it must refuse; OSError when it does not."""
    pid = os.fork()
    if pid == 0:
        try:
            if wall():
                os._exit(2)
            deed()
        except OSError as error:
            os._exit(0 if error.errno == refused else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise OSError("it does not refuse what it should" if code == 1 else f"it cannot be put up (status {code})")


def _tasks_of(uid: int) -> int:
    """How many processes and threads a user has."""
    count = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):  # gone meanwhile
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def start() -> None:
    """Run as a process of its own, with the settings as the last argument."""
    main(CommandSettings(**json.loads(sys.argv[-1])))
