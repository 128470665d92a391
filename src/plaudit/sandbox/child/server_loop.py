"""The server: a small interpreter that forks one confined child per program.

It never reads a byte that a program wrote: it speaks only with its owner, and only about processes; what a program
leaves in scratch space is deleted by a confined child.
"""

import _socket
import contextlib
import errno
import gc
import importlib
import json
import os
import random
import select
import shutil
import signal
import site
import socket
import stat
import struct
import sys
from collections.abc import Callable
from types import ModuleType

from plaudit.sandbox.child import protocol
from plaudit.sandbox.child.confinement import namespaces
from plaudit.sandbox.child.confinement.confinement import FIRST_DESCRIPTOR, KEPT_DESCRIPTOR, ChildLimits, Confinement
from plaudit.sandbox.child.confinement.kernel import Kernel
from plaudit.sandbox.child.confinement.profiles import Profile
from plaudit.sandbox.child.libraries import move_libraries
from plaudit.sandbox.child.protocol import CHANNEL, LIMITS, ServerSettings
from plaudit.sandbox.child.standard_library import EXCLUDED, FREQUENT, StandardLibrary
from plaudit.sandbox.child.system_limits import explain_error

CONTROL = FIRST_DESCRIPTOR
MESSAGE = 1 << 18
PARENT_CHECK_MS = 5_000
FILES, OURS, PROCESS = [0, 1, 2], CHANNEL + 1, CHANNEL + 2
# A new child's descriptors in the server, which keeps these numbers free, so that they are right in the child.
HANDED_OVER = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("=5i", OURS, PROCESS, *FILES))]


def main(settings: ServerSettings) -> None:
    """Import, confine, report the protections, then fork on request until the owner is gone."""
    if settings.core is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {settings.core})
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # a woken process waits for the running one
    if not settings.profile.executes:
        _hide_machine()
    kernel, parent = Kernel(), os.getppid()
    if settings.control != CONTROL:
        os.dup2(settings.control, CONTROL, inheritable=False)
        os.close(settings.control)
    os.set_inheritable(CONTROL, False)
    control = socket.socket(fileno=CONTROL)
    obstacle = namespaces.find_obstacle(kernel) if settings.at_most >= 3 else "switched off"
    if not obstacle:
        namespaces.enter(kernel)
        namespaces.become_first_process(kernel)
        parent = os.getppid()
    service = _import_modules(settings)
    profile, folder = settings.profile, _folder(settings, obstacle)
    confinement = Confinement(kernel, profile, folder)
    confinement.note("namespaces", obstacle)
    if not profile.executes:
        move_libraries()
    confinement.measure()
    if not obstacle:
        if settings.folder:
            os.rmdir(settings.folder)  # not needed, and out of reach from now on
        namespaces.build_root(kernel, profile)
    confinement.prepare(settings.at_most)
    if not obstacle:
        kernel.death_with_parent()()  # again: becoming another user has undone it
    os.chdir(folder or "/")
    loop = ServerLoop(kernel, control, confinement, service, profile, parent)
    control.send(json.dumps({"folder": folder, "report": confinement.report}).encode())
    _freeze(profile)
    loop.run()


class ServerLoop:
    """Forks children, hands them over, and reaps them."""

    def __init__(
        self,
        kernel: Kernel,
        control: socket.socket,
        confinement: Confinement,
        service: ModuleType,
        profile: Profile,
        parent: int,
    ) -> None:
        self._control, self._confinement, self._profile, self._parent = control, confinement, profile, parent
        self._fork, self._serve = kernel.fork(), service.make_service()
        self._children: set[int] = set()  # that are not reaped yet
        self._packed_limits = b""
        self._waiting = select.poll()
        self._waiting.register(control, select.POLLIN)
        self._lock: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Serve until the owner is gone; children go with this process."""
        os.closerange(0, FIRST_DESCRIPTOR)
        while (message := self._next_message())[0] not in (b"", protocol.QUIT):
            kind, rest = message
            if kind == protocol.TAKE:
                self._hand_over_child(rest)
            elif kind == protocol.PLACE:
                self._place(rest.decode())
            elif kind == protocol.FETCH:
                self._fetch(rest.decode())
            else:
                self._reap(int(rest), answer=kind == protocol.STATUS)
        for pid in list(self._children):
            os.kill(pid, signal.SIGKILL)
            self._reap(pid, answer=False)
        os._exit(0)

    def _next_message(self) -> tuple[bytes, bytes]:
        """The next request; empty when the owner is gone, also where a relative of it keeps the connection open.

        A descriptor that comes with it is 0, as the first that is free.
        """
        while not self._waiting.poll(PARENT_CHECK_MS):
            if os.getppid() != self._parent:
                return b"", b""
        if not self._profile.executes:
            message = self._control.recv(MESSAGE)
        else:
            message, *_ = self._control.recvmsg(MESSAGE, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
        return message[:1], message[1:]

    def _hand_over_child(self, limits: bytes) -> None:
        """Fork a child and hand it over."""
        if limits != self._packed_limits:
            self._packed_limits = limits
            self._lock = self._confinement.lock_function(ChildLimits(*LIMITS.unpack(limits)))
        pid = self._new_child()
        self._control.sendmsg([b"%d" % pid], HANDED_OVER)
        self._children.add(pid)
        os.closerange(0, PROCESS + 1)

    def _reap(self, pid: int, *, answer: bool) -> None:
        """Wait for a child that the owner has killed or seen dead, and report its exit code if requested."""
        if self._profile.compiles:
            _kill_group(pid)
        _, status = os.waitpid(pid, 0)
        self._children.discard(pid)
        if self._profile.folder_mb and not self._profile.executes:
            self._empty_folder()
        if answer:
            self._control.send(str(os.waitstatus_to_exitcode(status)).encode())

    def _new_child(self) -> int:
        for name in ("in", "out", "err"):
            os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        theirs, ours = _socket.socketpair()
        lock, serve, write, leave = self._lock, self._serve, os.write, os._exit
        pid = self._fork()
        if pid == 0:
            try:
                lock()
                write(CHANNEL, protocol.READY)
                gc.enable()
                serve()
                leave(0)
            except BaseException as error:  # noqa: BLE001 - nothing may continue as the server
                write(2, repr(error).encode())
            finally:
                leave(70)
        if pid < 0:
            self._control.send(explain_error(OSError(errno.EAGAIN, "no process can be forked")).encode())
        if pid < 0 or (theirs.detach(), ours.detach(), os.pidfd_open(pid)) != (CHANNEL, OURS, PROCESS):
            leave(71)  # the owner sees that the server is gone, and starts another
        os.close(CHANNEL)
        return pid

    def _empty_folder(self) -> None:
        """Delete what a program left, in a child that is confined as the program was."""
        pid = self._fork()
        if pid == 0:
            try:
                self._lock()
                _delete_all()
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(pid, 0)
        if status:
            os._exit(1)  # the folder may not be empty: no other program may have it

    def _place(self, name: str) -> None:
        """Keep the file that came with the request as the program to execute, or put it into the folder."""
        if not name:
            os.dup2(0, KEPT_DESCRIPTOR, inheritable=False)
        else:
            for other in os.listdir():
                os.unlink(other)
            target = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o444)
            with os.fdopen(target, "wb") as file, os.fdopen(os.dup(0), "rb") as source:
                source.seek(0)
                shutil.copyfileobj(source, file)
        os.close(0)
        self._control.send(b"placed")

    def _fetch(self, name: str) -> None:
        """Hand over a file from the folder, unread."""
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self._control.send(str(error).encode())
            return
        socket.send_fds(self._control, [b"fetched"], [file])
        os.close(file)


def _kill_group(pid: int) -> None:
    """Kill a compiler's process and all it started: none of them can leave its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _delete_all() -> None:
    """Delete everything in the working directory, which is changed for each folder, so that no path is too long."""
    path: list[str] = []
    names = [os.listdir()]
    while names[-1] or path:
        if not names[-1]:
            names.pop()
            os.chdir("..")
            os.rmdir(path.pop())
            continue
        name = names[-1].pop()
        if stat.S_ISDIR(os.lstat(name).st_mode):
            os.chdir(name)
            path.append(name)
            names.append(os.listdir())
        else:
            os.unlink(name)


def _folder(settings: ServerSettings, obstacle: str) -> str:
    """The folder of the children, "" if there is none: outside of namespaces there is none for Python programs."""
    if not settings.profile.folder_mb:
        return ""
    if obstacle:
        return settings.folder if settings.profile.executes else ""
    return namespaces.FOLDER


def _import_modules(settings: ServerSettings) -> ModuleType:
    """Import what children share; the module of their service."""
    sys.path.extend(settings.paths)
    if settings.profile.executes:
        return importlib.import_module(settings.profile.service)
    sys.modules.update(dict.fromkeys(EXCLUDED))  # type: ignore[arg-type]  # None makes an import fail
    for name in (*FREQUENT, *settings.modules):
        with contextlib.suppress(Exception):  # not every Python has each; what needs OpenSSL may fail in its own way
            importlib.import_module(name)
    service = importlib.import_module(settings.profile.service)
    for name in EXCLUDED:
        del sys.modules[name]
    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.meta_path.append(StandardLibrary(settings.zones))
    return service


def _freeze(profile: Profile) -> None:
    """Forget where things came from, and exempt what children share from garbage collection."""
    sys.path.clear()
    sys.path_importer_cache.clear()
    if not profile.receives_descriptors:  # a judge continues importing
        for name in [name for name in sys.modules if name.partition(".")[0] == "plaudit"]:
            del sys.modules[name]
    os.environ.clear()
    random.seed(0)  # a program without a seed of its own does the same every time
    sys.argv, sys.orig_argv = [""], [""]
    gc.collect()
    gc.disable()
    gc.freeze()


def _hide_machine() -> None:
    """Answer with constants what the filter refuses to Python programs: the names of the machine and its kernel."""
    machine = sys.implementation._multiarch.partition("-")[0]  # CPython has it on Linux
    names = os.uname_result(("Linux", namespaces.HOST_NAME, "", "", machine))
    os.uname = lambda: names
    for module in (_socket, socket):
        vars(module)["gethostname"] = lambda: namespaces.HOST_NAME
