"""The confinement of a server's children: the steps that the server does once, and those that each child does.

What is inherited over a fork (identity, capabilities, no_new_privs, namespaces) is done once; the rest costs each child
well under a tenth of a millisecond. A protection that is not available is reported, except the filter: without it
there is no sandbox, and the server says so. All kinds of children are confined here, from a `Profile`.
"""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from plaudit.sandbox.child.confinement.kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, Kernel
from plaudit.sandbox.child.confinement.namespaces import DEVICES, NULL
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.child.confinement.seccomp import Filter, build_filter

FIRST_UID, UIDS, NOBODY = 0x3000_0000, 0x0FFF_0000, 65534
TASKS_OF_OTHERS = 2048  # where the limit counts what else the user runs
FIRST_DESCRIPTOR = 10  # of the server's own; those below are for a child to have at fixed numbers
KEPT_DESCRIPTOR = FIRST_DESCRIPTOR + 1  # the program that a child executes
UNLIMITED, RESOURCE_KINDS = (1 << 63) - 1, 16

# Landlock's names for what may be done with files.
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
CHANGE = WRITE_FILE | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | 1 << 14  # remove and make files and folders, …


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """The limits that the kernel enforces on one child."""

    memory_bytes: int
    cpu_s: int
    file_bytes: int


class Confinement:
    """The confinement of a server's children.

    `report` has each protection: whether it is active, and why not.
    """

    def __init__(self, kernel: Kernel, profile: Profile, folder: str = "") -> None:
        self.report: dict[str, tuple[bool, str]] = dict.fromkeys(("Landlock", "seccomp"), (False, "switched off"))
        self._kernel, self._profile, self._folder = kernel, profile, folder
        self._filter: Filter | None = None
        self._landlock: Callable[[], int] | None = None
        self._server = 0
        self._others = 0  # tasks of the same user, where the server could not become another
        self._hard: dict[int, int] = {}  # what this process was given, which only root can exceed
        self._own_memory = 0

    def note(self, protection: str, reason: str) -> None:
        """Record whether a protection is active: it is when there is no reason why not."""
        self.report[protection] = (not reason, reason)

    def measure(self) -> None:
        """Look at what needs files, while they can still be opened."""
        with open("/proc/self/statm") as file:
            self._own_memory = int(file.read().split()[0]) * resource.getpagesize()
        for kind in range(RESOURCE_KINDS):
            _, hard = resource.getrlimit(kind)
            self._hard[kind] = UNLIMITED if hard == resource.RLIM_INFINITY else hard
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # when memory runs out, a program is killed first
        self._others = _tasks_of(os.geteuid()) + TASKS_OF_OTHERS

    def prepare(self, at_most: int) -> None:
        """Put in place, once, what children inherit, and build what they install."""
        kernel = self._kernel
        self._attempt("new user", self._leave_user)
        self._attempt("no capabilities", kernel.drop_capabilities)
        self._attempt("no new privileges", lambda: kernel.prctl(PR_SET_NO_NEW_PRIVS, 1))
        self._attempt("memory not readable by others", lambda: kernel.prctl(PR_SET_DUMPABLE, 0))
        if at_most >= 2:
            self._attempt("Landlock", self._try_landlock)
        if at_most >= 1:
            self._attempt("seccomp", self._try_seccomp)
        self._attempt("limits", self._limit_all)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # printing too much kills at once
        self._server = os.getpid()

    def lock_function(self, limits: ChildLimits) -> Callable[[], None]:
        """A function that applies the rest in a child, irreversibly; OSError if a step fails that worked in the trial.

        Everything is looked up beforehand: each object that a child touches costs it the copy of a page.
        """
        getpid, getppid, server = os.getpid, os.getppid, self._server
        first = [self._kernel.death_with_parent(), os.setsid, *self._limit_calls(limits)]
        first += [self._landlock] if self._landlock else []
        if self._profile.executes:
            first += [partial(os.closerange, 4, KEPT_DESCRIPTOR), partial(os.closerange, KEPT_DESCRIPTOR + 1, 1 << 16)]
        else:
            first.append(partial(os.closerange, 4, 1 << 16))
        words, indices = (self._filter.words, self._filter.own_pid) if self._filter else (None, [])
        last = [self._kernel.seccomp(self._filter.address)] if self._filter else []

        def lock() -> None:
            for step in first:
                if step():
                    raise OSError("the kernel refuses a protection")
            if getppid() != server:
                os._exit(0)
            for index in indices:
                words[index] = getpid()  # type: ignore[index]  # words is None only if indices is empty
            for step in last:
                if step():
                    raise OSError("the kernel refuses the filter")

        return lock

    def _limit_calls(self, limits: ChildLimits) -> list[Callable[[], object]]:
        executes = self._profile.executes
        wanted = {
            resource.RLIMIT_DATA if executes else resource.RLIMIT_AS: limits.memory_bytes
            + (0 if executes else self._own_memory),
            resource.RLIMIT_CPU: limits.cpu_s,
            resource.RLIMIT_FSIZE: limits.file_bytes,
            resource.RLIMIT_NPROC: self._profile.processes + self._others,
        }
        values = {kind: min(value, self._hard[kind]) for kind, value in wanted.items()}
        return [partial(resource.setrlimit, kind, (value, value)) for kind, value in values.items()]

    def _limit_all(self) -> None:
        """The limits that are the same for all children, and do not hinder the server."""
        for kind, value in (
            (resource.RLIMIT_NOFILE, self._profile.descriptors),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_STACK, self._profile.stack_mb << 20),
        ):
            value = min(value, self._hard[kind])
            resource.setrlimit(kind, (value, value))

    def _attempt(self, protection: str, build: Callable[[], None]) -> None:
        try:
            build()
        except (OSError, KeyError) as error:
            self.note(protection, str(error) or type(error).__name__)
        else:
            self.note(protection, "")

    def _leave_user(self) -> None:
        """Become a user that owns nothing; one per server, so that no other process counts as its own."""
        if os.geteuid() != 0:
            raise PermissionError(f"only root can become another user; stays user {os.geteuid()}")
        os.setgroups([])
        number = FIRST_UID + int.from_bytes(os.urandom(4), "little") % UIDS
        try:
            self._become(number)
        except OSError:  # a container that has only so many users
            self._become(NOBODY)
        self._others = 0

    def _become(self, number: int) -> None:
        if self._folder:
            os.chown(self._folder, number, number)
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)

    def _try_landlock(self) -> None:
        landlock = self._kernel.landlock(_file_rules(self._kernel, self._profile, self._folder))
        _attempt_in_child(lambda: _install(landlock), {"open": errno.EACCES})
        self._landlock = landlock

    def _try_seccomp(self) -> None:
        paths = self._landlock is not None and (self._profile.executes or self._profile.changes_folder)
        code = build_filter(self._profile, paths=paths)
        seccomp = self._kernel.seccomp(code.address)

        def install() -> None:
            for index in code.own_pid:
                code.words[index] = os.getpid()
            _install(seccomp)

        refused = {"socket": errno.EPERM, "signal": errno.EPERM}
        refused |= {} if self._profile.compiles else {"fork": errno.EPERM}
        refused |= {} if paths else {"open": errno.ENOENT}
        _attempt_in_child(install, refused)
        self._filter = code


def move_descriptor(descriptor: int) -> int:
    """A descriptor under a number that no child has a fixed use for; the old one is closed."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, KEPT_DESCRIPTOR + 1)
    os.close(descriptor)
    return moved


def _file_rules(kernel: Kernel, profile: Profile, folder: str) -> int:
    """A Landlock ruleset: what the profile reads may be read and executed, its folder read and, if so, changed."""
    ruleset = move_descriptor(kernel.landlock_ruleset())
    allowed = [(path, EXECUTE | READ_FILE | READ_FOLDER) for path in profile.reads]
    if folder:
        allowed.append((folder, READ_FILE | READ_FOLDER | (CHANGE if profile.changes_folder else 0)))
    if profile.executes:
        devices = filter(os.path.exists, DEVICES)
        allowed += [(path, READ_FILE | (WRITE_FILE if path == NULL else 0)) for path in devices]
    for path, rights in allowed:
        descriptor = os.open(path, os.O_PATH)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        kernel.landlock_allow(ruleset, descriptor, rights if is_folder else rights & ~READ_FOLDER)
        os.close(descriptor)
    return ruleset


def _install(call: Callable[[], object]) -> None:
    if call():
        raise OSError("the kernel refuses a protection")


_DEEDS: dict[str, Callable[[], object]] = {
    "open": lambda: os.open("/", os.O_RDONLY),
    "fork": os.fork,
    "socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "signal": lambda: os.kill(os.getppid(), 0),
}


def _attempt_in_child(install: Callable[[], None], refused: dict[str, int]) -> None:
    """Install a protection in a child and try what it must refuse; OSError when it does not."""
    pid = os.fork()
    if pid == 0:
        try:
            install()
            os._exit(next((1 for deed, number in refused.items() if _errno_of(_DEEDS[deed]) != number), 0))
        finally:
            os._exit(2)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise OSError("it does not refuse what it should" if code == 1 else f"it cannot be installed (status {code})")


def _errno_of(deed: Callable[[], object]) -> int | None:
    """The number of the error that a deed ends with; 0 when it succeeds."""
    try:
        deed()
    except OSError as error:
        return error.errno
    return 0


def _tasks_of(uid: int) -> int:
    """The number of processes and threads of a user."""
    count = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):  # gone meanwhile
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
