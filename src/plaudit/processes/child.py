"""Child processes, seen by their parent: a template, and workers forked from it with a pipe of frames each way."""

import fcntl
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from plaudit.frames import FrameBuffer, frame
from plaudit.processes.template import FORK, KILL, RECORD

CHUNK = 1 << 20
EXIT_S = 1.0  # between the end of a process's pipe and its own
READ_CHUNK = 1 << 16  # Python allocates as much for every read

_starter: ThreadPoolExecutor | None = None


def describe_exit(code: int | None) -> str:
    """A description of an exit code."""
    if code is None:
        return "it closed its pipe"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


class Template:
    """Starts workers; `settings` is what `plaudit.processes.template.main` reads. A template that died is replaced."""

    def __init__(self, settings: bytes) -> None:
        self._settings = settings
        self._process: _TemplateProcess | None = None

    def start_worker(self, frame_limit: int | None = None) -> "ChildProcess":
        """A new worker; the first message that it sends is its greeting."""
        for _ in range(2):
            if self._process is None:
                self._process = _start(self._settings)
            try:
                return ChildProcess(self._process, frame_limit)
            except OSError:  # the template has ended
                self.close()
        return ChildProcess(_start(self._settings), frame_limit)

    def close(self) -> None:
        """End the template and every worker."""
        if self._process is not None:
            self._process.close()
            self._process = None


def _start(settings: bytes) -> "_TemplateProcess":
    """Start a template from a thread that lives as long as this process: the template ends together with the thread."""
    global _starter
    if _starter is None:
        _starter = ThreadPoolExecutor(1, "plaudit-starter")
    return _starter.submit(_TemplateProcess, settings).result()


class _TemplateProcess:
    def __init__(self, settings: bytes) -> None:
        self._numbers = itertools.count()
        self._exit_codes: dict[int, int] = {}
        self._control, control = socket.socketpair()
        self._arrivals = select.poll()
        self._arrivals.register(self._control, select.POLLIN)
        with control, tempfile.TemporaryFile() as file:
            file.write(settings)
            file.seek(0)
            passed = control.fileno(), file.fileno()
            command = _python_command("plaudit.processes.template", "main", *passed, os.getpid())
            self._process = subprocess.Popen(command, pass_fds=passed, stdin=subprocess.DEVNULL, start_new_session=True)

    def fork(self, *pipes: int) -> int:
        """Start a worker with these pipes; its number."""
        self._receive(0.0)
        number = next(self._numbers)
        socket.send_fds(self._control, [RECORD.pack(FORK, number, 0)], pipes)
        return number

    def kill(self, number: int) -> None:
        """Kill a worker and everything that it started."""
        with suppress(OSError):
            self._control.send(RECORD.pack(KILL, number, 0))

    def exit_code(self, number: int) -> int | None:
        """The exit code of a worker; None if it has not ended after a while."""
        until = time.monotonic() + EXIT_S
        while number not in self._exit_codes and self._receive(until - time.monotonic()):
            pass
        if number not in self._exit_codes and self._process.poll() is not None:
            return self._process.returncode
        return self._exit_codes.pop(number, None)

    def _receive(self, patience_s: float) -> bool:
        """Read exit codes that have arrived; False if there are none, or the template has ended."""
        if self._control.fileno() < 0 or not self._arrivals.poll(max(0.0, 1e3 * patience_s)):
            return False
        message = b""
        with suppress(OSError):
            message = self._control.recv(RECORD.size, socket.MSG_WAITALL)
        if len(message) < RECORD.size:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(EXIT_S)
            return False
        _, number, code = RECORD.unpack(message)
        self._exit_codes[number] = code
        return True

    def close(self) -> None:
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        self._process.wait()


class ChildProcess:
    """A worker and all it starts, in a process group of their own.

    Writing never blocks: `flush` continues with it. Frames of the worker wait in a separate pipe, so that quick calls
    do not wake this process: `reading` becomes readable when the worker wants its frames to be read, or has ended.
    """

    def __init__(self, template: _TemplateProcess, frame_limit: int | None = None) -> None:
        self._template = template
        incoming, self._writing = os.pipe()
        self._framed, outgoing = os.pipe()
        self.reading, waking = os.pipe()
        try:
            self._number = template.fork(incoming, outgoing, waking)
        except OSError:
            self._close()
            raise
        finally:
            for end in (incoming, outgoing, waking):
                os.close(end)
        for end in (self._writing, self._framed):
            with suppress(OSError, AttributeError):  # over the user's share of pipe memory, or not Linux
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, CHUNK)
        for end in (self._writing, self._framed, self.reading):
            os.set_blocking(end, False)
        self.unsent: deque[memoryview] = deque()
        self._frames = FrameBuffer(frame_limit)
        self.has_ended = False
        self.was_woken = False

    @property
    def writing(self) -> int:
        """The descriptor that becomes writable when `flush` can continue."""
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
        """The frames that have arrived since the last call.

        Sets `was_woken` if the worker requested it, and `has_ended` when it closed its end.
        """
        wakes = _read(self.reading)
        self.was_woken, self.has_ended = bool(wakes), wakes == b""
        while part := _read(self._framed):
            self._frames.feed(part)
            if len(part) < READ_CHUNK and not self.has_ended:
                break
        return self._frames.take_all()

    def exit_code(self) -> int | None:
        """The exit code of the process; negative for a signal, None if it has only closed its pipe and continues."""
        return self._template.exit_code(self._number)

    def kill(self) -> None:
        """End it and everything it started, and close the pipes."""
        self._template.kill(self._number)
        self._close()

    def _close(self) -> None:
        for end in (self._writing, self._framed, self.reading):
            os.close(end)


def _python_command(module: str, function: str, *arguments: str | int) -> list[str]:
    """The command that calls a function of a plaudit module, with plain arguments, in a new process.

    Python puts the working folder first on the search path for `-m` and `-c`: a reward in a file random.py there would
    replace the standard library's. `-P` prevents that.
    """
    environment = ("-I",) if sys.flags.isolated else ("-E",) if sys.flags.ignore_environment else ()
    call = json.dumps([module, function, *arguments])
    return [sys.executable, "-P", *environment, "-c", _START, _SOURCE, call]


_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_START = (
    "import sys; sys.path.append(sys.argv[1]); import importlib, json; call = json.loads(sys.argv[2]); "
    "getattr(importlib.import_module(call[0]), call[1])(*call[2:])"
)


def _read(descriptor: int) -> bytes | None:
    """Bytes that are there; none at the end, None if there are none yet."""
    try:
        return os.read(descriptor, READ_CHUNK)
    except BlockingIOError:
        return None


def _forget_after_fork() -> None:
    global _starter
    _starter = None


os.register_at_fork(after_in_child=_forget_after_fork)
