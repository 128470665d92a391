"""Where output goes: results to stdout, everything about the run (progress, notes, errors) to stderr.

Colours follow the terminal and NO_COLOR; in a pipe there are none, and tables keep to 100 columns.
"""

import sys
from functools import cache
from typing import Any

import msgspec
from rich.console import Console, RenderableType

__all__ = ["progress_console", "say", "show", "show_json", "tell"]

PIPE_WIDTH = 100


def show(*renderables: RenderableType) -> None:
    """Print results."""
    _console(stderr=False).print(*renderables, sep="\n")


def tell(*renderables: RenderableType) -> None:
    """Print a report of the run where stdout is taken by something else."""
    _console(stderr=True).print(*renderables, sep="\n")


def show_json(value: Any) -> None:
    """Print a result as JSON, for programs."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def say(message: str) -> None:
    """Say something about the run."""
    _console(stderr=True).print(message, markup=False, highlight=False, soft_wrap=True)


def progress_console() -> Console:
    """The console that progress bars draw on."""
    return _console(stderr=True)


@cache
def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False)
