"""The server: a small warm interpreter that forks one locked-down child per program.

It never reads a byte that a program wrote: it speaks only with the judge, and only about processes; what is left in
scratch space is another process's to clear away. A child is forked when the one before it is done with, so that no
program waits for its process.
"""

import _socket
import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import site
import socket
import struct
import sys
from collections.abc import Callable

from plaudit.sandbox.inside.archive import Archive
from plaudit.sandbox.inside.libraries import move_libraries
from plaudit.sandbox.inside.preloaded import ABSENT, WARM
from plaudit.sandbox.inside.requests import CHANNEL, LIMITS, NEXT, QUIT, READY, STATUS, TAKE
from plaudit.sandbox.inside.service import ServerSettings, Service
from plaudit.sandbox.inside.sharing import gather_pages, open_map
from plaudit.sandbox.inside.walls import namespaces
from plaudit.sandbox.inside.walls.kernel import Kernel
from plaudit.sandbox.inside.walls.lockdown import FIRST_DESCRIPTOR, ChildLimits, Walls, move_descriptor
from plaudit.sandbox.inside.walls.scratch import MOUNTED, OVER, Scratch
from plaudit.sandbox.inside.warm_up import fill_gaps

__all__ = ["main"]

CONTROL = FIRST_DESCRIPTOR
MESSAGE = 1 << 18
PARENT_CHECK_MS = 5_000
FILES, OURS, PROCESS = [0, 1, 2], CHANNEL + 1, CHANNEL + 2
# A new child's descriptors in the server, which keeps these numbers free, so that the child finds them in place.
HANDED = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("=5i", OURS, PROCESS, *FILES))]


def main(settings: ServerSettings) -> None:
    """Warm up, put the walls up, say which stand, then fork on request until the owner is gone.

    With `scratch_mb`, scratch space of that size is made ready; in `folder` where it cannot be mounted.
    """
    if settings.core is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {settings.core})
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # who is woken waits until the other is done
    kernel = Kernel()
    walls = Walls(kernel)
    if settings.control != CONTROL:
        os.dup2(settings.control, CONTROL, inheritable=False)
        os.close(settings.control)
    os.set_inheritable(CONTROL, False)
    control = socket.socket(fileno=CONTROL)
    scratch_mb, folder = settings.scratch_mb, settings.folder
    reason = namespaces.trial(kernel) if settings.at_most >= 3 else "switched off"
    walls.note("namespaces", reason)
    if not reason:
        namespaces.enter(kernel)
        namespaces.become_first_process(kernel)
    service = _import_modules(settings)
    move_libraries(kernel)
    walls.measure()
    memory = move_descriptor(open_map())
    if not reason:
        if folder:
            os.rmdir(folder)  # not needed, and out of reach from now on
        namespaces.close_files_off(kernel, scratch_mb)
    scratch = _scratch(scratch_mb, folder if reason else "") if scratch_mb else None
    at_most = settings.at_most
    walls.prepare(seccomp=at_most >= 1, landlock=at_most >= 2, scratch=scratch, judge=service.is_judge)
    if not reason:
        kernel.die_with_parent()  # again: becoming another user has undone it
    loop = ServerLoop(kernel, control, walls, service)
    control.send(json.dumps(walls.report).encode())
    filling = _freeze(service)
    gather_pages(kernel, memory)
    loop.run()
    del filling  # kept until the end


class ServerLoop:
    """Forks children, hands them over, and buries them."""

    def __init__(self, kernel: Kernel, control: socket.socket, walls: Walls, service: Service) -> None:
        self._kernel, self._control, self._walls, self._service = kernel, control, walls, service
        self._fork = kernel.fork()
        self._janitors: dict[int, int] = {}  # of programs with scratch space
        self._serve = service.make()
        self._given: set[int] = set()  # children that are not buried yet
        self._asked = b""
        self._parent, self._waiting = os.getppid(), select.poll()
        self._waiting.register(control, select.POLLIN)
        self._limits = ChildLimits(0, 0, 0, 0)
        self._shut: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Serve until the judge is gone; children go with this process."""
        os.closerange(0, FIRST_DESCRIPTOR)
        while (message := self._next_message()) not in (b"", QUIT):
            kind, rest = message[:1], message[1:]
            if kind == TAKE:
                if self._service.prepare is not None and len(rest) > LIMITS.size:
                    self._service.prepare(rest[LIMITS.size :])
                self._give(rest[: LIMITS.size])
            elif kind == NEXT:  # the new one first: meanwhile the old one dies, and nobody waits for that
                self._give(rest[: LIMITS.size])
                self._bury(int(rest[LIMITS.size :]), answer=False)
            else:
                self._bury(int(rest), answer=kind == STATUS)
        for pid in list(self._given):
            os.kill(pid, signal.SIGKILL)
            self._bury(pid, answer=False)
        if self._walls.scratch:
            self._walls.scratch.remove()
        os._exit(0)

    def _next_message(self) -> bytes:
        """The next request; empty when the owner is gone, also where a relative of it keeps the connection open."""
        while not self._waiting.poll(PARENT_CHECK_MS):
            if os.getppid() != self._parent:
                return b""
        return self._control.recv(MESSAGE)

    def _give(self, limits: bytes) -> None:
        """Fork a child and hand it over."""
        if limits != self._asked:
            self._asked, self._limits = limits, ChildLimits(*LIMITS.unpack(limits))
            self._shut = self._walls.lock_function(self._limits)
        pid = self._new_child()
        if self._limits.scratch_bytes and (scratch := self._walls.scratch):
            watched = (FILES[1], FILES[2], PROCESS)
            self._janitors[pid] = scratch.start_janitor(self._kernel, pid, watched, self._limits.output_bytes)
        self._control.sendmsg([b"%d" % pid], HANDED)
        self._given.add(pid)
        os.closerange(0, PROCESS + 1)

    def _bury(self, pid: int, *, answer: bool) -> None:
        """Wait for a child that the judge has killed or seen die, and tell how it ended where that is asked."""
        _, status = os.waitpid(pid, 0)
        self._given.discard(pid)
        code = os.waitstatus_to_exitcode(status)
        if pid in self._janitors:
            _, status = os.waitpid(self._janitors.pop(pid), 0)
            done = os.waitstatus_to_exitcode(status)
            if done > OVER or done < 0:
                os._exit(1)  # the scratch space may not be empty: no other program may have it
            code = -signal.SIGXFSZ if done == OVER else code
        if answer:
            self._control.send(str(code).encode())

    def _new_child(self) -> int:
        for name in ("in", "out", "err"):
            os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        theirs, ours = _socket.socketpair()
        shut, serve, write, leave = self._shut, self._serve, os.write, os._exit
        pid = self._fork()
        if pid == 0:
            try:
                shut()
                write(CHANNEL, READY)
                gc.enable()
                serve()
                leave(0)
            except BaseException as error:  # noqa: BLE001 - nothing may go on as the server
                write(2, repr(error).encode())
            finally:
                leave(70)
        if pid < 0 or (theirs.detach(), ours.detach(), os.pidfd_open(pid)) != (CHANNEL, OURS, PROCESS):
            leave(71)  # the judge sees that the server is gone, and starts another
        os.close(CHANNEL)
        return pid


def _scratch(size_mb: int, path: str) -> Scratch:
    folder = move_descriptor(os.open(path or MOUNTED, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    return Scratch(folder, size_mb << 20, path)


def _import_modules(settings: ServerSettings) -> Service:
    sys.modules.update(dict.fromkeys(ABSENT))  # type: ignore[arg-type]  # None is how imports are told to fail
    for name in (*WARM, *settings.modules):
        with contextlib.suppress(Exception):  # not every Python has each; what needs OpenSSL may fail in its own way
            importlib.import_module(name)
    service: Service = importlib.import_module(settings.service).SERVICE
    for name in ABSENT:
        del sys.modules[name]
    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.meta_path.append(Archive())
    return service


def _freeze(service: Service) -> list[bytes]:
    """Forget where things came from, and let garbage collection never touch what children share."""
    sys.path.clear()
    sys.path_importer_cache.clear()
    if not service.is_judge:
        for name in [name for name in sys.modules if name.partition(".")[0] == "plaudit"]:
            del sys.modules[name]
    os.environ.clear()
    service.warm_up()
    random.seed(0)  # a program without a seed of its own does the same every time
    sys.argv, sys.orig_argv = [""], [""]
    gc.collect()
    gc.disable()
    gc.freeze()
    return fill_gaps()
