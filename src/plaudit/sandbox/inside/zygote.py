"""The server: a small warm interpreter that forks one locked-down child per program.

It never reads a byte that a candidate wrote: it speaks only with the judge, and only about processes; what is left in
scratch space is another process's to clear away. One child is forked ahead, so that a program need not wait for its
process.
"""

import contextlib
import gc
import importlib
import json
import os
import random
import signal
import site
import socket
import sys

from plaudit.sandbox.inside import namespaces
from plaudit.sandbox.inside.archive import Archive
from plaudit.sandbox.inside.channel import CHANNEL, READY
from plaudit.sandbox.inside.kernel import Kernel
from plaudit.sandbox.inside.lockdown import ChildLimits, Walls
from plaudit.sandbox.inside.requests import LIMITS, QUIT, STATUS, TAKE
from plaudit.sandbox.inside.runtime import Runtime, serve
from plaudit.sandbox.inside.scratch import MOUNTED, OVER, Scratch
from plaudit.sandbox.inside.sharing import share_code
from plaudit.sandbox.inside.warm import ABSENT, FLAVOURS, WARM

__all__ = ["main"]

CONTROL = 3


def main(flavour: str, at_most: int, control_descriptor: int, scratch_mb: int, folder: str) -> None:
    """Warm up, put the walls up, say which stand, then fork on request until the judge is gone.

    With `scratch_mb`, scratch space of that size is made ready; in `folder` where it cannot be mounted.
    """
    kernel = Kernel()
    walls = Walls(kernel)
    os.dup2(control_descriptor, CONTROL, inheritable=False)
    if control_descriptor != CONTROL:
        os.close(control_descriptor)
    control = socket.socket(fileno=CONTROL)
    reason = namespaces.trial(kernel) if at_most >= 3 else "switched off"
    walls.note("namespaces", reason)
    if not reason:
        namespaces.enter(kernel)
        namespaces.become_first_process(kernel)
    _warm_up(flavour)
    walls.measure()
    share_code(kernel)
    if not reason:
        if folder:
            os.rmdir(folder)  # not needed, and out of reach from now on
        namespaces.close_files_off(kernel, scratch_mb)
    scratch = _scratch(scratch_mb, folder if reason else "") if scratch_mb else None
    walls.prepare(seccomp=at_most >= 1, landlock=at_most >= 2, scratch=scratch)
    if not reason:
        kernel.die_with_parent()  # again: becoming another user has undone it
    _settle()
    control.send(json.dumps(walls.report).encode())
    Zygote(kernel, control, walls).run()


class Zygote:
    """Forks children, hands them over, and buries them."""

    def __init__(self, kernel: Kernel, control: socket.socket, walls: Walls) -> None:
        self._kernel, self._control, self._walls = kernel, control, walls
        self._ready: tuple[ChildLimits, int, list[int]] | None = None
        self._janitors: dict[int, int] = {}  # of programs with scratch space

    def run(self) -> None:
        """Serve until the judge is gone; children go with this process."""
        while (message := self._control.recv(256)) not in (b"", QUIT):
            if message[:1] == TAKE:
                self._take(ChildLimits(*LIMITS.unpack(message[1:])))
            else:
                self._bury(int(message[1:]), answer=message[:1] == STATUS)
        self._discard()
        for pid in list(self._janitors):
            os.kill(pid, signal.SIGKILL)
            self._bury(pid, answer=False)
        if self._walls.scratch:
            self._walls.scratch.remove()
        os._exit(0)

    def _take(self, limits: ChildLimits) -> None:
        if self._ready is None or self._ready[0] != limits:
            self._discard()
            self._fork(limits)
        assert self._ready is not None
        _, pid, descriptors = self._ready
        self._ready = None
        if limits.scratch_bytes and (scratch := self._walls.scratch):
            *_, out, err = descriptors
            self._janitors[pid] = scratch.start_janitor(self._kernel, pid, out, err, limits.output_bytes)
        socket.send_fds(self._control, [str(pid).encode()], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self._fork(limits)

    def _discard(self) -> None:
        if self._ready is not None:
            _, pid, descriptors = self._ready
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            for descriptor in descriptors:
                os.close(descriptor)

    def _bury(self, pid: int, *, answer: bool) -> None:
        """Wait for a child that the judge has killed or seen die, and tell how it ended where that is asked."""
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if pid in self._janitors:
            _, status = os.waitpid(self._janitors.pop(pid), 0)
            done = os.waitstatus_to_exitcode(status)
            if done > OVER or done < 0:
                os._exit(1)  # the scratch space may not be empty: no other program may have it
            code = -signal.SIGXFSZ if done == OVER else code
        if answer:
            self._control.send(str(code).encode())

    def _fork(self, limits: ChildLimits) -> None:
        ours, theirs = socket.socketpair()
        files = [os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) for name in ("in", "out", "err")]
        pid = self._kernel.fork()
        if pid == 0:
            try:
                _become_child(theirs.fileno(), files, self._walls, limits)
            except BaseException as error:  # noqa: BLE001 - nothing may go on as the server
                os.write(2, repr(error).encode())
            finally:
                os._exit(70)
        theirs.close()
        self._ready = (limits, pid, [ours.detach(), os.pidfd_open(pid), *files])


def _become_child(channel: int, files: list[int], walls: Walls, limits: ChildLimits) -> None:
    for number, descriptor in enumerate((*files, channel)):
        os.dup2(descriptor, number, inheritable=False)
    walls.shut(limits)
    os.write(CHANNEL, READY)
    gc.enable()
    serve()
    os._exit(0)


def _scratch(size_mb: int, path: str) -> Scratch:
    folder = os.open(path or MOUNTED, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return Scratch(folder, size_mb << 20, path)


def _warm_up(flavour: str) -> None:
    sys.modules.update(dict.fromkeys(ABSENT))  # type: ignore[arg-type]  # None is how imports are told to fail
    for name in (*WARM, *FLAVOURS[flavour]):
        with contextlib.suppress(ImportError):  # not every Python has each of them
            importlib.import_module(name)
    for name in ABSENT:
        del sys.modules[name]
    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.meta_path.append(Archive())
    _rehearse()


def _rehearse() -> None:
    """Run a program once, so that what its first run allocates is shared by all children."""
    runtime = Runtime()
    runtime.answer('["load","def f(x):\\n    return [x]\\n",false]')
    runtime.answer('["call","f",[[1,"a",2.5]],{"d":[]}]')
    runtime.answer('["call","g",[{"t":[1]}],{"d":[]}]')
    sys.modules.pop("candidate", None)


def _settle() -> None:
    """Forget where things came from, and let garbage collection never touch what children share."""
    sys.path.clear()
    sys.path_importer_cache.clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "plaudit"]:
        del sys.modules[name]
    os.environ.clear()
    random.seed(0)  # a program without a seed of its own does the same every time
    sys.argv, sys.orig_argv = [""], [""]
    gc.collect()
    gc.disable()
    gc.freeze()
