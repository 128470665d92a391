"""The walls: those the server puts up once for all its children, and those each child puts up for itself.

What is inherited over a fork (identity, capabilities, no_new_privs, namespaces) is done once; the rest costs each child
well under a tenth of a millisecond. A wall that does not go up is reported, except the filter: without it there is no
sandbox, and the server says so.
"""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from plaudit.sandbox.inside.walls.kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, Kernel
from plaudit.sandbox.inside.walls.scratch import RIGHTS, Scratch
from plaudit.sandbox.inside.walls.seccomp import Filter, build_filter

__all__ = ["FIRST_DESCRIPTOR", "ChildLimits", "Walls", "move_descriptor"]

FIRST_UID, UIDS, NOBODY = 0x3000_0000, 0x0FFF_0000, 65534
THREADS, THREADS_AMONG_OTHERS = 128, 2048
STACK_BYTES = 64 << 20
DESCRIPTORS = 64
FIRST_DESCRIPTOR = 10  # of the server's own; those below are for a child to have in their places
UNLIMITED = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What the kernel enforces on one child."""

    memory_bytes: int
    cpu_s: int
    output_bytes: int
    scratch_bytes: int


class Walls:
    """What stands between a program and everything else; `report` says of each wall whether it went up."""

    def __init__(self, kernel: Kernel) -> None:
        self.report: dict[str, tuple[bool, str]] = dict.fromkeys(("Landlock", "seccomp"), (False, "switched off"))
        self._kernel = kernel
        self._filter: Filter | None = None
        self._die_with_parent = kernel.death_with_parent()
        self._landlock: Callable[[], int] | None = None
        self._seccomp: Callable[[], int] | None = None
        self.scratch: Scratch | None = None  # where it can be confined, with a filter and a ruleset of its own
        self._enter_scratch: Callable[[], None] | None = None
        self._server = 0
        self._processes = UNLIMITED
        self._hard: dict[int, int] = {}  # what this process was given, which only root can go beyond
        self._own_memory = 0
        self._belongings: list[int] = []  # folders that go with this process when it becomes another user

    def note(self, wall: str, reason: str) -> None:
        """Remember whether a wall stands: it does when there is no reason why not."""
        self.report[wall] = (not reason, reason)

    def measure(self) -> None:
        """Look at what needs files, while they can still be opened."""
        self._own_memory = _own_address_space()
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
            _, hard = resource.getrlimit(kind)
            self._hard[kind] = UNLIMITED if hard == resource.RLIM_INFINITY else hard
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # when memory runs out, it is a program that goes
        if os.geteuid() != 0:
            self._processes = _tasks_of(os.geteuid()) + THREADS_AMONG_OTHERS

    def prepare(self, *, seccomp: bool, landlock: bool, scratch: Scratch | None = None, judge: bool = False) -> None:
        """Put up, once, what children inherit, and build what they take on."""
        kernel = self._kernel
        self._belongings = [] if scratch is None else [scratch.folder]
        self._attempt("new user", self._leave_user)
        self._attempt("no capabilities", kernel.drop_capabilities)
        self._attempt("no new privileges", lambda: kernel.prctl(PR_SET_NO_NEW_PRIVS, 1))
        self._attempt("memory not readable by others", lambda: kernel.prctl(PR_SET_DUMPABLE, 0))
        if landlock:
            self._attempt("Landlock", self._try_landlock)
        if seccomp:
            self._attempt("seccomp", lambda: self._try_seccomp(judge=judge))
        if scratch is not None:
            self._attempt("scratch", lambda: self._try_scratch(scratch))
        self._attempt("limits", _limit_all)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # printing too much kills at once
        self._server = os.getpid()

    def lock_function(self, limits: ChildLimits) -> Callable[[], None]:
        """A function that puts up the rest, in a child, for good; OSError when a wall that stood in the trial does not.

        Everything is looked up beforehand: each object that a child touches costs it the copy of a page.
        """
        if limits.scratch_bytes:
            return self._lock_function_with_scratch(limits)
        getpid, getppid, server, landlock = os.getpid, os.getppid, self._server, self._landlock
        first = [self._die_with_parent, os.setsid, *self._limit_calls(limits), *([landlock] if landlock else [])]
        first.append(partial(os.closerange, 4, 1 << 16))
        words, places = (self._filter.words, self._filter.own_pid) if self._filter else (None, [])
        last = [self._seccomp] if self._seccomp else []

        def shut() -> None:
            for step in first:
                if step():
                    raise OSError("the kernel refuses a wall")
            if getppid() != server:
                os._exit(0)
            for place in places:
                words[place] = getpid()  # type: ignore[index]  # there are words where there are places
            for step in last:
                if step():
                    raise OSError("the kernel refuses the filter")

        return shut

    def _limit_calls(self, limits: ChildLimits) -> list[Callable[[], object]]:
        wanted = {
            resource.RLIMIT_AS: self._own_memory + limits.memory_bytes,
            resource.RLIMIT_CPU: limits.cpu_s,
            resource.RLIMIT_FSIZE: max(limits.output_bytes, limits.scratch_bytes),
            resource.RLIMIT_NPROC: self._processes,
        }
        values = {kind: min(value, self._hard[kind]) for kind, value in wanted.items()}
        return [partial(resource.setrlimit, kind, (value, value)) for kind, value in values.items()]

    def _lock_function_with_scratch(self, limits: ChildLimits) -> Callable[[], None]:
        """The same for a program that has scratch space; that they are rarer may cost a few pages."""
        first, enter = [self._die_with_parent, os.setsid, *self._limit_calls(limits)], self._enter_scratch

        def shut() -> None:
            if enter is None:
                raise OSError("there is no scratch space")
            for step in first:
                _put_up(step)
            if os.getppid() != self._server:
                os._exit(0)
            enter()

        return shut

    def _enter_function(self, scratch: Scratch, ruleset: int, code: Filter) -> Callable[[], None]:
        """A function that goes to the scratch folder and nowhere else."""
        landlock, seccomp = self._kernel.landlock(ruleset), self._kernel.seccomp(code.address)

        def enter() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file too long is an error, as a full disk is
            os.fchdir(scratch.folder)
            if scratch.path:
                self._kernel.prctl(PR_SET_DUMPABLE, 1)  # for the janitor; other programs are kept off by Landlock
            _put_up(landlock)
            os.closerange(4, 1 << 16)
            for place in code.own_pid:
                code.words[place] = os.getpid()
            _put_up(seccomp)

        return enter

    def _attempt(self, wall: str, build: Callable[[], None]) -> None:
        try:
            build()
        except (OSError, KeyError) as error:
            self.note(wall, str(error))
        else:
            self.note(wall, "")

    def _leave_user(self) -> None:
        """Become a user that nothing belongs to; one per server, so that no other process counts as its own."""
        if os.geteuid() != 0:
            raise PermissionError(f"only root can become another user; stays user {os.geteuid()}")
        os.setgroups([])
        number = FIRST_UID + int.from_bytes(os.urandom(4), "little") % UIDS
        try:
            self._become(number)
        except OSError:  # a container that has only so many users
            self._become(NOBODY)
        self._processes = THREADS

    def _become(self, number: int) -> None:
        for folder in self._belongings:
            os.fchown(folder, number, number)
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)

    def _try_landlock(self) -> None:
        ruleset = move_descriptor(self._kernel.landlock_ruleset())
        landlock = self._kernel.landlock(ruleset)
        _attempt_in_child(lambda: _put_up(landlock), {"open": errno.EACCES})
        self._landlock = landlock

    def _try_seccomp(self, *, judge: bool) -> None:
        code = build_filter(judge=judge)
        seccomp = self._kernel.seccomp(code.address)

        def take_on() -> None:
            for place in code.own_pid:
                code.words[place] = os.getpid()
            _put_up(seccomp)

        _attempt_in_child(
            take_on, {"open": errno.ENOENT, "fork": errno.EPERM, "socket": errno.EPERM, "signal": errno.EPERM}
        )
        self._filter, self._seccomp = code, seccomp

    def _try_scratch(self, scratch: Scratch) -> None:
        missing = [wall for wall in ("Landlock", "seccomp") if not self.report[wall][0]]
        if missing:
            raise OSError(f"it needs {' and '.join(missing)}, which cannot be had here ({self.report[missing[0]][1]})")
        scratch.try_watching(self._kernel)
        ruleset = move_descriptor(self._kernel.landlock_ruleset())
        self._kernel.landlock_allow(ruleset, scratch.folder, RIGHTS)
        enter = self._enter_function(scratch, ruleset, build_filter(scratch=True))
        refused = {"open": errno.EACCES, "fork": errno.EPERM, "socket": errno.EPERM, "signal": errno.EPERM}
        _attempt_in_child(enter, refused | {"write here": 0})
        os.unlink("trial", dir_fd=scratch.folder)
        self._enter_scratch, self.scratch = enter, scratch


def move_descriptor(descriptor: int) -> int:
    """A descriptor under a number that no child will have in its place; the old one is closed."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    os.close(descriptor)
    return moved


def _put_up(call: Callable[[], object]) -> None:
    if call():
        raise OSError("the kernel refuses a wall")


_DEEDS: dict[str, Callable[[], object]] = {
    "open": lambda: os.open("/", os.O_RDONLY),
    "fork": os.fork,
    "socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "signal": lambda: os.kill(os.getppid(), 0),
    "write here": lambda: os.close(os.open("trial", os.O_CREAT | os.O_WRONLY)),
}


def _attempt_in_child(wall: Callable[[], None], refused: dict[str, int]) -> None:
    """Put a wall up in a child and try what it must refuse; OSError when it does not."""
    pid = os.fork()
    if pid == 0:
        try:
            wall()
            os._exit(next((1 for deed, number in refused.items() if _errno_of(_DEEDS[deed]) != number), 0))
        finally:
            os._exit(2)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise OSError("it does not refuse what it should" if code == 1 else f"it cannot be put up (status {code})")


def _errno_of(deed: Callable[[], object]) -> int | None:
    """The number of the error that a deed ends with; 0 when it succeeds."""
    try:
        deed()
    except OSError as error:
        return error.errno
    return 0


def _limit_all() -> None:
    """The limits that are the same for all children, and do no harm to the server."""
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    stack = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    for kind, value in (
        (resource.RLIMIT_NOFILE, DESCRIPTORS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_STACK, stack),
    ):
        resource.setrlimit(kind, (value, value))


def _own_address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _tasks_of(uid: int) -> int:
    """How many processes and threads a user has."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # gone meanwhile
    return count
