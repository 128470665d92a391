"""The process that workers are forked from: it has imported what a service needs, so a worker starts in milliseconds.

It calls no function of a user, except what a service loads in `preload`. It kills a worker with everything that the
worker started, reports the exit codes of workers, and ends with the process that started it.
"""

import contextlib
import ctypes
import fcntl
import gc
import hashlib
import io
import os
import pickle
import selectors
import signal
import socket
import struct
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from plaudit.contract.scoring import pass_nothing_on
from plaudit.errors import PlauditError
from plaudit.processes.worker import refuse, serve

RECORD = struct.Struct("<cii")
"""A message between the parent and the template: the verb, the number of a worker, its exit code."""
FORK, KILL, ENDED = b"f", b"k", b"e"
PR_SET_PDEATHSIG = 1


def main(control: int, settings: int, parent: int) -> None:
    """Import what the service needs, then start and kill workers until the parent closes its end."""
    _die_with(parent)
    pass_nothing_on()
    _redirect_output()
    warnings.showwarning = _print_once(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - open as long as this process
    with open(settings, "rb") as file:
        loaded: dict[str, Any] = pickle.load(file)
    sys.path[:] = loaded["search_path"] or sys.path
    try:
        service = pickle.loads(loaded["service"])
        service.preload()
        work = partial(serve, service, loaded["memory_mb"], loaded["deadline_s"])
    except (PlauditError, MemoryError) as error:
        work = partial(refuse, str(error))
    gc.collect()
    gc.freeze()
    with _Template(socket.socket(fileno=control), work) as template:
        while template.handle_events():
            pass


class _Template:
    def __init__(self, control: socket.socket, work: Callable[..., None]) -> None:
        self._control, self._work = control, work
        self._workers: dict[int, int] = {}  # process id → number
        self._waking, self._woken = socket.socketpair()
        for end in (self._waking, self._woken):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def handle_events(self) -> bool:
        """Wait for a message or the end of a worker, and handle it; False when the parent has closed its end."""
        ready = {key.fileobj for key, _ in self._selector.select()}
        if self._woken in ready:
            self._woken.recv(4096)
            self._reap()
        if self._control not in ready:
            return True
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, RECORD.size, 3, socket.MSG_WAITALL)
        except ConnectionError:  # the parent closed its end before it had read all exit codes
            return False
        if len(message) < RECORD.size:
            return False
        verb, number, _ = RECORD.unpack(message)
        if verb == FORK:
            self._fork(number, *descriptors)
        else:
            for process in [process for process, each in self._workers.items() if each == number]:
                _kill(process)
        return True

    def _fork(self, number: int, *pipes: int) -> None:
        template, process = os.getpid(), os.fork()
        if process == 0:
            self._become_worker(template, *pipes)
        self._workers[process] = number
        for end in pipes:
            os.close(end)

    def _become_worker(self, template: int, *pipes: int) -> None:
        code = 1
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for inherited in (self._control, self._waking, self._woken):
                inherited.close()
            _die_with(template)
            self._work(*pipes)
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        except BaseException:  # noqa: BLE001 - it must not continue in the code of the template
            traceback.print_exc()
        finally:
            os._exit(code)

    def _reap(self) -> None:
        """Report workers that have ended, after what they started was killed."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(ended.si_pid, signal.SIGKILL)
                _, status = os.waitpid(ended.si_pid, 0)
                number = self._workers.pop(ended.si_pid, None)
                if number is not None:
                    with contextlib.suppress(OSError):
                        self._control.send(RECORD.pack(ENDED, number, os.waitstatus_to_exitcode(status)))

    def __enter__(self) -> "_Template":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._workers:
            _kill(process)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)


def _kill(process: int) -> None:
    """Kill a worker, which cannot have been reaped yet, and its process group, which it may not have made yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    os.kill(process, signal.SIGKILL)


def _print_once(printed: IO[bytes]) -> Callable[..., None]:
    """Print warnings in one line, each text once for all workers; they share the file, which holds digests."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = f"warning: {message}\n"
        digest = hashlib.sha256(line.encode(errors="replace")).digest()
        fcntl.lockf(printed, fcntl.LOCK_EX)
        try:
            printed.seek(0)
            is_new = digest not in printed.read()
            if is_new:
                printed.write(digest)
        finally:
            fcntl.lockf(printed, fcntl.LOCK_UN)
        if is_new:
            sys.stderr.write(line)

    return show


def _redirect_output() -> None:
    """Send standard output to standard error, also for programs that the reward starts."""
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    file = open(1, "wb", closefd=False)  # noqa: SIM115 - for the life of the process
    sys.stdout = sys.stderr = _OpenStream(file, errors="backslashreplace", line_buffering=True)


class _OpenStream(io.TextIOWrapper):
    """A stream that a reward cannot close for the samples after it."""

    def close(self) -> None:
        self.flush()


def _die_with(parent: int) -> None:
    """End when the parent process ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before this process could ask
        os._exit(0)
