"""The process that workers are forked from: it has imported what they need, so that a new one is there in milliseconds.

It imports no reward, so that whatever a reward does when it is imported (threads, CUDA) happens after the fork. It
starts workers, ends them, and tells how they ended; it dies with the server, and its workers with it.
"""

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import sys
from pathlib import Path

from plaudit.engine.backends.worker import PR_SET_PDEATHSIG, become_worker, die_with, settle_memory
from plaudit.engine.caching.origins import origin_of
from plaudit.serving.workers.worker import serve

__all__ = ["END", "START", "main"]

PR_SET_CHILD_SUBREAPER = 36
START, END = b"start", b"end "


def main(control: int, parent: int) -> None:
    """Obey until the server closes its end, or is gone."""
    if sys.platform == "linux":  # a worker whose guard is gone is ours to bury, also where we are not below an init
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    origin_of("plaudit")  # hashes all of plaudit, once for all workers, which identify their reward by it
    settle_memory()  # or every worker would look through, and so copy, what all of them share
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the server decides what it means
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _Template(socket.socket(fileno=control), parent).run()


class _Template:
    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control, self._parent, self._living = control, parent, set[int]()
        self._wake, waking = socket.socketpair()
        for end in (self._wake, waking):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._waking = waking
        if sys.platform == "linux":  # when the server is killed, a process that it forked may hold its end
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCHLD)

    def run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while os.getppid() == self._parent:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._wake in ready:
                    self._wake.recv(4096)
                    self._bury()
                if self._control in ready and not self._obey():
                    break
        self._end_all()

    def _end_all(self) -> None:
        """The server is gone: kill every worker, and what rewards have left behind, until none is left."""
        for worker in self._living:
            os.killpg(worker, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                for child in _children():  # whose parent is gone is ours, also from a session of its own
                    os.kill(child, signal.SIGKILL)
                os.waitpid(-1, 0)

    def _obey(self) -> bool:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, 256, 2)
        except ConnectionError:  # it was killed before it had read everything
            return False
        if not message:
            return False
        if message == START:
            self._start(descriptors)
        elif message.startswith(END):
            worker = int(message[len(END) :])
            if worker in self._living:
                os.killpg(worker, signal.SIGKILL)
        return True

    def _start(self, descriptors: list[int]) -> None:
        template = os.getpid()
        child = os.fork()
        if child == 0:
            self._become_worker(template, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self._living.add(child)
        self._tell(f"started {child}")

    def _become_worker(self, template: int, descriptors: list[int]) -> None:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            die_with(template)
            for own in (self._control, self._wake, self._waking):
                own.close()
            become_worker(descriptors)
            serve(*descriptors)
            code = 0
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _bury(self) -> None:
        while True:
            try:
                worker, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not worker:
                return
            if worker in self._living:
                self._living.remove(worker)
                self._tell(f"ended {worker} {os.waitstatus_to_exitcode(status)}")

    def _tell(self, message: str) -> None:
        try:
            self._control.send(message.encode())
        except OSError:  # the server is gone, as the next turn will find
            return


def _children() -> list[int]:
    """The processes below this one; none where the system does not tell."""
    try:
        return [int(child) for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []
