"""`plaudit` commands in a fork of this process: real processes that can be killed, without importing anything again.

What `python -m plaudit` does before the command line is read (its imports, the encoding of its streams) is not in them.
"""

import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from plaudit.cli import main

NOTHING: Mapping[str, str] = {}


class ForkedCommand:
    """A command that runs in a process of its own, in `folder` if one is given, and what it prints."""

    def __init__(
        self, arguments: Sequence[object], environment: Mapping[str, str] = NOTHING, *, folder: Path | None = None
    ) -> None:
        streams = [os.pipe(), os.pipe()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork among threads, none of which it needs
            self.pid = os.fork()
        if self.pid == 0:
            for number, (_, end) in enumerate(streams, start=1):
                os.dup2(end, number)
            os._exit(_run(arguments, environment, folder))
        self.returncode: int | None = None
        self.printed: list[list[bytes]] = [[], []]
        self._readers = [
            threading.Thread(target=_read, args=(end, into), daemon=True)
            for (end, _), into in zip(streams, self.printed, strict=True)
        ]
        for (_, end), reader in zip(streams, self._readers, strict=True):
            os.close(end)
            reader.start()

    @property
    def out(self) -> str:
        """What it printed so far."""
        return b"".join(self.printed[0]).decode()

    @property
    def err(self) -> str:
        """What it printed so far on the second stream."""
        return b"".join(self.printed[1]).decode()

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float = 300) -> int:
        """The exit code, once it has ended."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                self.send_signal(signal.SIGKILL)
                raise TimeoutError(f"the command runs for more than {timeout} s:\n{self.err}")
            time.sleep(0.01)
        for reader in self._readers:
            reader.join(timeout=10)
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def _read(end: int, into: list[bytes]) -> None:
    with open(end, "rb", buffering=0) as stream:
        while piece := stream.read(65536):
            into.append(piece)


def _run(arguments: Sequence[object], environment: Mapping[str, str], folder: Path | None) -> int:
    """In the child: run the command as if it had been started alone, and return its exit code."""
    try:
        sys.stdin = open(os.devnull)  # noqa: SIM115 (as long as the process lives)
        sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.update(environment)
        os.chdir(folder or ".")
        warnings.resetwarnings()  # pytest makes errors of them
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        main([str(argument) for argument in arguments])
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
