"""Tests that capture what the program prints, or answer what it reads: both happen in another process.

What a call printed is written to `sys.stdout` here, where tests may have put something of theirs; what they have put in
place of `sys.stdin` or `input` is handed to the program before it is called.
"""

import builtins
import contextlib
import sys
from typing import Any

from plaudit.sandbox.outcome import Outcome

MAX_LINES = 64


class StandardStreams:
    """The standard streams as they were when the tests began, to see what tests replace."""

    def __init__(self) -> None:
        self._out, self._err, self._in, self._input = sys.stdout, sys.stderr, sys.stdin, builtins.input
        self._seen: list[Any] = []  # what was handed over already

    def show(self, outcome: Outcome) -> None:
        """Print here what a call printed there, where tests listen."""
        for stream, before, printed in (
            (sys.stdout, self._out, outcome.stdout),
            (sys.stderr, self._err, outcome.stderr),
        ):
            if printed and stream is not before and stream is not None:
                stream.write(printed.decode("utf-8", "backslashreplace"))

    def waiting_input(self) -> str:
        """The input that the tests provide for the next call; what the call before left unread is not part of it."""
        text = ""
        if sys.stdin is not self._in and hasattr(sys.stdin, "read"):
            text += sys.stdin.read()
        if builtins.input is not self._input and not any(builtins.input is seen for seen in self._seen):
            self._seen.append(builtins.input)
            text += self._lines()
        return text

    def _lines(self) -> str:
        """The results of a replaced `input` until it raises, at most MAX_LINES; some need a prompt as argument."""
        lines: list[str] = []
        for arguments in ((), ("",)):
            with contextlib.suppress(StopIteration, EOFError, IndexError, RuntimeError, TypeError):
                while len(lines) < MAX_LINES:
                    lines.append(str(builtins.input(*arguments)))
            if lines:
                break
        return "".join(f"{line}\n" for line in lines)
