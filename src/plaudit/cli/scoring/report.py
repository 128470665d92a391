"""`plaudit report`, `view` and `watch`: what a reward did in a run, on a page, in a browser, or in messages."""

import threading
import webbrowser
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from plaudit import report as reports
from plaudit import watch as watching
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.cli.progress import Advance, count_lines, show_progress
from plaudit.cli.scoring.summary import build_selection, require_scored
from plaudit.diff import Difference, compare_files
from plaudit.errors import RolloutsError
from plaudit.report.run_files import RunFiles, run_files
from plaudit.report.terminal.tables import render_headline
from plaudit.rollouts import ScoredRollout

__all__ = ["report", "view", "watch"]

DEFAULT_OUT = Path("report.html")


def report(
    rollouts: Annotated[
        list[str],
        typer.Argument(
            metavar="ROLLOUTS", help="A scored file, a run folder, or - for standard input; several are compared."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where the page goes; report.html by default.")
    ] = None,
    max_mb: Annotated[
        float, typer.Option("--max-mb", min=1, help="How large the page may be; texts beyond that are left out.")
    ] = 14.0,
    limit: options.Limit = None,
    where: options.Where = None,
    columns: options.Columns = None,
    skip_bad: options.SkipBad = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page that shows what the reward did: figures, charts, what to look at, and every sample.

    The page is one file that loads nothing. With --json the figures are printed, and a page is written only to -o.
    """
    page = out or (None if json else DEFAULT_OUT)
    options.check_output(page)
    room = int(max_mb * 1e6) // len(rollouts) if page else 0
    runs = []
    for name in rollouts:
        files = RunFiles("standard input", Path("-")) if name == "-" else run_files(Path(name))
        reader = options.open_rollouts(str(files.rollouts), columns, skip_bad=skip_bad)
        selected = require_scored(reader, build_selection(where, limit).select(reader))
        with show_progress(f"reading {files.name}", count_lines(str(files.rollouts)), quiet=quiet) as advance:
            counted = _count_rollouts(selected, advance)
            runs.append(reports.build_report(files.name, counted, metrics=files.metrics, room=room))
        if not quiet:
            options.report_input(reader)
    if page:
        difference = _difference(rollouts, columns) if where is None and limit is None else None
        reports.write_page(runs, page, difference=difference)
    _show(runs, json=json)
    if page and not quiet:
        print_message(f"the report is in {page} ({page.stat().st_size / 1e6:.1f} MB); open it in a browser")


def _count_rollouts(rollouts: Iterator[ScoredRollout], advance: Advance) -> Iterator[ScoredRollout]:
    for rollout in rollouts:
        advance(rollout.output)
        yield rollout


def _difference(rollouts: list[str], columns: list[str] | None) -> Difference | None:
    """What two files say differently of the same samples; None where they hold other samples, or are not two."""
    if len(rollouts) != 2 or "-" in rollouts:
        return None
    old, new = (run_files(Path(name)).rollouts for name in rollouts)
    try:
        return compare_files(old, new, columns=options.column_mapping(columns))
    except RolloutsError:
        return None


def _show(runs: "list[reports.ReportedRun]", *, json: bool) -> None:
    if json:
        print_json(runs[0].to_dict() if len(runs) == 1 else {"runs": [run.to_dict() for run in runs]})
    else:
        print_result(*(render_headline(run.name, run.figures, run.remarks) for run in runs))


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


SEEN = 1


def watch(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or a rollouts file of a run.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow the file as training appends to it, until Ctrl-C.")
    ] = False,
    every: Annotated[int, typer.Option("--every", min=1, help="How many steps between two looks.")] = 10,
    window: Annotated[int, typer.Option("--window", min=1, help="How many steps a look goes back.")] = 20,
    stop_on: Annotated[
        list[str] | None,
        typer.Option("--stop-on", metavar="SIGN", help="End when this sign is there three times in a row."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Look at the groups, lengths, components, copies and phrases of a run every few steps; say what is new.

    The exit code is 1 when the last look saw a sign.
    """
    looks: list[watching.Look] = []
    for look in watching.watch_run(
        run, watching.RewardWatch(every=every, window=window, stop_on=stop_on or ()), follow=follow
    ):
        looks.append(look)
        if not json:
            for sign in look.new:
                print_result(f"step {look.step}: {sign}")
        if look.stop is not None:
            break
    last = looks[-1] if looks else None
    if last is None and not follow:
        _refuse_unscored(run)
    if json:
        print_json([_plain(look) for look in looks])
    elif last is None:
        print_result(f"no look yet: the run has fewer than {every} steps with rollouts")
    elif not last.signs:
        print_result(f"step {last.step}: no sign in the last {last.figures.summary.count:,} samples")
    return SEEN if last is not None and last.signs else 0


def _refuse_unscored(run: Path) -> None:
    """Raise where there was nothing to look at because the file has broken lines, or samples without a reward."""
    reader = options.open_rollouts(str(run_files(run).rollouts), None)
    deque(require_scored(reader, reader), maxlen=0)


def _plain(look: "watching.Look") -> dict[str, Any]:
    return {"step": look.step, **look.to_metrics(), "signs": [asdict(sign) for sign in look.signs]}
