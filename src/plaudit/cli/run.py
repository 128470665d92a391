"""`plaudit run`: run a Python script unchanged, with plaudit's stubs in place of packages that are not installed."""

import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from plaudit.cli.app import DONE, NOT_PASSED
from plaudit.cli.console import print_message
from plaudit.dialects import stub_finder
from plaudit.loading.failures import describe


def run(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="A .py file, or -m for a module: -m pytest tests")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENTS", help="Arguments of the script.")] = None,
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is the name of a module, as for python -m.")] = False,
) -> int:
    """Run a script of Flux, Twinkle, Agent-Tunix, OpenRLHF or another system that need not be installed."""
    with _as_main(script, arguments or [], "" if module else str(Path(script).resolve(strict=True).parent)):
        try:
            if module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
        except Exception as error:
            _print_traceback(error, script)
            return NOT_PASSED
    return DONE


@contextmanager
def _as_main(script: str, arguments: list[str], folder: str) -> Iterator[None]:
    """While entered, the command line is the script's, its folder is importable, and stubs answer for packages."""
    before = sys.argv, list(sys.path)
    sys.argv, sys.path[:0] = [script, *arguments], [folder]
    try:
        with stub_finder():
            yield
    finally:
        sys.argv, sys.path[:] = before


def _print_traceback(error: Exception, script: str) -> None:
    """The traceback as Python prints it, from the script on; a missing name comes with the import to write."""
    frames = traceback.extract_tb(error.__traceback__)
    start = next((at for at, frame in enumerate(frames) if frame.filename == script), 0)
    print_message("Traceback (most recent call last):")
    print_message("".join(traceback.format_list(frames[start:])).rstrip())
    print_message(describe(error))
