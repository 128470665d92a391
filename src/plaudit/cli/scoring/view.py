"""`plaudit view`: the page of a report, served from this machine, for runs that go on and for millions of samples."""

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from plaudit import report as reports
from plaudit.cli import options
from plaudit.cli.console import print_message, print_text
from plaudit.cli.scoring.summary import require_scored
from plaudit.errors import RolloutsError

__all__ = ["view"]


def view(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER", help="A run folder, a folder of runs, or a scored file; or several."),
    ],
    port: options.Port = 0,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show runs in a browser while they go on: curves and samples arrive by themselves; Ctrl-C ends it.

    Only this machine can open the page, and only with the link that is printed. Nothing is changed in the folders.
    """
    for file in (each for each in folders if each.is_file() and each.stat().st_size):
        reader = options.open_rollouts(str(file), None)
        next(require_scored(reader, reader), None)  # else the page would be empty without an explanation
    try:
        server = reports.ViewServer(folders, port=port)
    except OSError as error:
        raise RolloutsError(
            f"cannot listen on port {port}: {error.strerror}; leave --port out for a free one"
        ) from error
    with server:
        for folder in (each for each in folders if not each.exists()):
            print_message(f"{folder} does not exist yet: its run is shown when it begins")
        names = ", ".join(run.name for run in server.runs[:5])
        print_message(f"showing {names}{' …' if len(server.runs) > 5 else ''}; Ctrl-C ends it; the page is at")
        print_text(f"{server.address}\n")
        if open_browser:
            webbrowser.open(server.address)
        threading.Event().wait()
