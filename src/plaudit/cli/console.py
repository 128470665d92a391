"""Where output goes: results to standard output, everything about the run (progress, notes, errors) to standard error.

While a command runs, file descriptor 1 leads to standard error, so that whatever a reward, a library or a process of
theirs prints cannot get between our results. Colours follow the terminal and NO_COLOR; a pipe gets none, and 100
columns unless COLUMNS says otherwise. Characters that an encoding lacks are escaped.
"""

import io
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, NamedTuple, TextIO

import msgspec
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from plaudit.report.formatting import bare_table

__all__ = [
    "ResultLine", "print_json", "print_message", "print_report", "print_result", "print_text", "print_warnings",
    "reserve_stdout", "results_table", "stderr_console", "write_bytes",
]  # fmt: skip

PIPE_WIDTH = 100
_results: list[TextIO] = []  # where results go while standard output is reserved


@contextmanager
def reserve_stdout() -> Iterator[None]:
    """Keep standard output for results; what others print meanwhile goes to standard error."""
    sys.stdout.flush()
    try:
        descriptor = os.dup(sys.stdout.fileno())
        original = os.dup(1)
    except (OSError, ValueError):  # no file behind it, as in a notebook: nothing below Python can write to it either
        with _reserve(sys.stdout), redirect_stdout(sys.stderr):
            yield
        return
    encoding = sys.stdout.encoding or "utf-8"
    try:
        os.dup2(2, 1)
        with (
            open(descriptor, "w", encoding=encoding, errors="backslashreplace") as results,
            _reserve(results),
            redirect_stdout(sys.stderr),
        ):
            yield
    finally:
        os.dup2(original, 1)
        os.close(original)


@contextmanager
def _reserve(results: TextIO) -> Iterator[None]:
    _results.append(results)
    try:
        yield
    finally:
        _results.pop()


def print_result(*renderables: RenderableType) -> None:
    """Print results."""
    _console(_stdout()).print(*renderables, sep="\n")


def print_report(*renderables: RenderableType) -> None:
    """Print a report of the run where standard output is taken by something else."""
    stderr_console().print(*renderables, sep="\n")


def print_text(text: str) -> None:
    """Print a text as it is, at once."""
    _stdout().write(text)
    _stdout().flush()


def print_json(value: Any) -> None:
    """Print a result as JSON, for programs."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError:  # lone surrogates: only escapes can carry them
        text = json.dumps(msgspec.to_builtins(value), indent=2).encode()
    write_bytes(text + b"\n")


def write_bytes(data: bytes) -> None:
    """Write data to standard output."""
    stream = _stdout()
    stream.flush()
    if isinstance(stream, io.TextIOWrapper):
        stream.buffer.write(data)
    else:
        stream.write(data.decode())


def print_message(message: str) -> None:
    """Print a message about the run."""
    stderr_console().print(message, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print Python's warnings as messages, each text once, without the place in plaudit's code."""
    printed: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if (text := str(message)) not in printed:
            printed.add(text)
            print_message(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def stderr_console() -> Console:
    """The console for messages and progress bars."""
    return _console(sys.stderr)


def _stdout() -> TextIO:
    return _results[-1] if _results else sys.stdout


def _console(stream: TextIO) -> Console:
    known_width = stream.isatty() or "COLUMNS" in os.environ
    return Console(file=stream, width=None if known_width else PIPE_WIDTH, highlight=False, emoji=False)


class ResultLine(NamedTuple):
    """One test and its result in words."""

    passed: bool
    name: str
    outcome: str


def results_table(what: str, lines: Iterable[ResultLine]) -> Table:
    """A line for each test; `what` says what a test is called here."""
    table = bare_table("")
    table.add_column(what, overflow="fold")
    table.add_column("result", overflow="fold")
    for line in lines:
        verdict = Text("passed", style="green") if line.passed else Text("FAILED", style="red")
        table.add_row(verdict, Text(line.name), Text(line.outcome))
    return table
