"""What runs on a Ray node for a job: an actor that starts one command, and reads its log for whoever follows it.

It outlives whoever submitted the job, and goes a while after the command has ended and nobody asks any more.
"""

import os
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

__all__ = ["CommandActor"]

PIECE = 1 << 16
TURN_S = 1.0
LINGER_S = 300.0


class CommandActor:
    """Runs a command for a shell in a folder; its output goes to a log file."""

    def __init__(self, command: str, folder: str, log: str, environment: Mapping[str, str]) -> None:
        self._log = Path(folder) / log
        self._asked = time.monotonic()
        with open(self._log, "wb") as output:
            self._process = subprocess.Popen(
                f"exec {command}",
                shell=True,
                cwd=folder,
                env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        threading.Thread(target=self._go_in_the_end, daemon=True).start()

    def pid(self) -> int:
        """The command's process on this node."""
        return self._process.pid

    def read(self, start: int) -> tuple[bytes, int | None]:
        """What the log holds from `start` on, and the exit code once the command has ended and all was read."""
        ends = time.monotonic() + TURN_S
        while True:
            self._asked = time.monotonic()
            code = self._process.poll()  # before the log, so that nothing is written after what is read
            with open(self._log, "rb") as file:
                file.seek(start)
                text = file.read(PIECE)
            if text or code is not None or time.monotonic() > ends:
                return text, None if text else code
            time.sleep(0.05)

    def _go_in_the_end(self) -> None:
        self._process.wait()
        while time.monotonic() - self._asked < LINGER_S:
            time.sleep(TURN_S)
        os._exit(0)
