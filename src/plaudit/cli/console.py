"""Where output goes: results to stdout, everything about the run (progress, notes, errors) to stderr.

Colours follow the terminal and NO_COLOR; in a pipe there are none, and tables keep to 100 columns.
"""

import sys
from functools import cache
from typing import Any

import msgspec
from rich.console import Console, RenderableType

__all__ = ["print_json", "print_message", "print_report", "print_result", "stderr_console"]

PIPE_WIDTH = 100


def print_result(*renderables: RenderableType) -> None:
    """Print results."""
    _console(stderr=False).print(*renderables, sep="\n")


def print_report(*renderables: RenderableType) -> None:
    """Print a report of the run where stdout is taken by something else."""
    _console(stderr=True).print(*renderables, sep="\n")


def print_json(value: Any) -> None:
    """Print a result as JSON, for programs."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_message(message: str) -> None:
    """Say something about the run."""
    _console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


def stderr_console() -> Console:
    """The console that progress bars draw on."""
    return _console(stderr=True)


@cache
def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False)
