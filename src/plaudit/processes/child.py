"""A child process, seen by its parent: started by exec, a pipe of frames each way, killed as a process group."""

import fcntl
import os
import signal
import subprocess
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from plaudit.frames import FrameBuffer, frame
from plaudit.python_command import python_command

__all__ = ["ChildProcess", "describe_exit", "start_child"]

CHUNK = 1 << 20
EXIT_S = 1.0  # between the end of a process's pipe and its own
READ_CHUNK = 1 << 16  # Python allocates as much for every read

_starter: ThreadPoolExecutor | None = None


def start_child(module: str, function: str) -> "ChildProcess":
    """Start a process that calls `function(incoming, outgoing, parent)` of a module of plaudit.

    The kernel ends a child when the thread that started it ends. One thread, which lives as long as this process,
    therefore starts all of them.
    """
    global _starter
    if _starter is None:
        _starter = ThreadPoolExecutor(1, "plaudit-starter")
    return _starter.submit(ChildProcess, module, function).result()


def describe_exit(code: int | None) -> str:
    """How a process ended, in words."""
    if code is None:
        return "it closed its pipe"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


class ChildProcess:
    """A process and all it starts, in a process group of their own. Writing never blocks: `flush` goes on with it."""

    def __init__(self, module: str, function: str) -> None:
        incoming, self._writing = os.pipe()
        self.reading, outgoing = os.pipe()
        try:
            command = python_command(module, function, incoming, outgoing, os.getpid())
            self._process = subprocess.Popen(
                command, pass_fds=(incoming, outgoing), stdin=subprocess.DEVNULL, start_new_session=True
            )
        finally:
            os.close(incoming)
            os.close(outgoing)
        with suppress(OSError, AttributeError):  # over the user's share of pipe memory, or not Linux
            fcntl.fcntl(self._writing, fcntl.F_SETPIPE_SZ, CHUNK)
        os.set_blocking(self._writing, False)
        os.set_blocking(self.reading, False)
        self.unsent: deque[memoryview] = deque()
        self._frames = FrameBuffer()
        self.has_ended = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def writing(self) -> int:
        """The descriptor that becomes writable when `flush` can go on."""
        return self._writing

    def send(self, body: bytes) -> None:
        """Send one frame, now or by later calls of `flush`."""
        self.unsent.append(memoryview(frame(body)))
        self.flush()

    def flush(self) -> None:
        """Write as much as the pipe takes."""
        while self.unsent:
            try:
                written = os.write(self._writing, self.unsent[0][:CHUNK])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.unsent.clear()  # the process has ended, which `receive` will report
                return
            self.unsent[0] = self.unsent[0][written:]
            if not self.unsent[0]:
                self.unsent.popleft()

    def receive(self) -> list[bytes]:
        """The frames that have arrived since the last call; sets `has_ended` when the process closed its end."""
        while not self.has_ended:
            try:
                part = os.read(self.reading, READ_CHUNK)
            except BlockingIOError:
                break
            self.has_ended = not part
            self._frames.feed(part)
            if len(part) < READ_CHUNK:
                break
        bodies = []
        while (body := self._frames.next()) is not None:
            bodies.append(body)
        return bodies

    def exit_code(self) -> int | None:
        """How it ended; negative for a signal, None if it has only closed its pipe and goes on."""
        try:
            return self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it and everything it started, and close the pipes."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._writing)
        os.close(self.reading)


def _forget_after_fork() -> None:
    global _starter
    _starter = None


os.register_at_fork(after_in_child=_forget_after_fork)
