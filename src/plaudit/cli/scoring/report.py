"""`plaudit report`: what a reward did, as one HTML page, as JSON, and in a few lines on the terminal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from plaudit import report as reports
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.cli.progress import Advance, count_lines, show_progress
from plaudit.cli.scoring.run_report import build_selection
from plaudit.cli.scoring.summary import require_scored
from plaudit.diff import Difference, compare_files
from plaudit.errors import RolloutsError
from plaudit.report.run_files import RunFiles, run_files
from plaudit.report.terminal.tables import render_headline
from plaudit.rollouts import ScoredRollout

__all__ = ["report"]

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
