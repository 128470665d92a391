"""Run a plaudit command in a process of its own, with a time limit.

A reward is only ever loaded there: code that hangs, exits or leaves modules behind cannot reach the caller, and two
versions of a module never meet.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

MAX_MESSAGE = 2000
_running: set[int] = set()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code (None: stopped at the time limit), what the command printed as JSON, and its last message."""

    code: int | None
    value: Any
    message: str


def run_command(arguments: Sequence[str | Path], folder: Path, seconds: float) -> CommandResult:
    """Run `plaudit ARGUMENTS` in a folder; modules in its `src` can be imported."""
    paths = [str(folder / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-m", "plaudit", *map(str, arguments)]
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=messages,
            start_new_session=True,
        )  # fmt: skip
        _running.add(process.pid)
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _running.discard(process.pid)
            _kill(process.pid)
            process.wait()
        printed.seek(0)
        messages.seek(0)
        text = messages.read().decode(errors="replace")
        message = f"stopped after {seconds:g} s" if code is None else _last_message(text)
        return CommandResult(code, _read_json(printed.read()), message)


def stop_commands() -> None:
    """End the commands that other threads wait for."""
    for pid in list(_running):
        _kill(pid)


def _kill(pid: int) -> None:
    """End a command and what it started."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _read_json(printed: bytes) -> Any:
    try:
        return msgspec.json.decode(printed)
    except msgspec.DecodeError:
        return None


def _last_message(text: str) -> str:
    """From the last line that begins with `error:` on, or the last line."""
    lines = text.strip().splitlines() or [""]
    first = max((index for index, line in enumerate(lines) if line.startswith("error:")), default=len(lines) - 1)
    return "\n".join(lines[first:])[:MAX_MESSAGE].removeprefix("error: ")
