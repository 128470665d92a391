"""The contents of scored files: `plaudit summary`, `explain`, `report`, `view` and `watch`."""

import threading
import webbrowser
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from typer import Argument, Option

from plaudit import report as reports
from plaudit import watch as watching
from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED, UNSCORED
from plaudit.cli.console import Advance, count_lines, print_message, print_result, print_text
from plaudit.contract.output import RewardOutput
from plaudit.diff import Difference, compare_files
from plaudit.errors import RolloutsError
from plaudit.report.by_column import AgreementBuilder, BreakdownBuilder
from plaudit.report.figures import Summary
from plaudit.report.run_files import RunFiles, run_files
from plaudit.report.selection import ABSENT, column_of, known_columns, no_such_column
from plaudit.report.terminal.sample_view import DEFAULT_PICKS, Pick, pick_samples, render_sample
from plaudit.report.terminal.tables import (
    render_agreement,
    render_breakdown,
    render_headline,
    render_histogram,
    render_summary,
)
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.rollouts.reading import require_scored
from plaudit.trajectory import Trajectory


def summary(
    scored: options.Scored,
    selected: options.Selected,
    summed: options.SummaryOptions,
    output: options.Output,
) -> int:
    """Show the summary of a scored file: rewards, components, failures, groups; nothing is scored again."""
    reader = selected.open(scored)
    report = build_report(summed)
    for rollout in require_scored(selected.select(reader), reader.name):
        report.add(rollout.trajectory, rollout.output)
    result = report.summary()
    output.note_input(reader)
    output.show(report.to_dict(result), *report.render(result))
    return exit_code(result, summed.fail_under)


MAX_UNSCORED = 0.5
MAX_REASONS = 3
PEEK = 1_000
"""The number of samples checked before scoring: a column that none of them has may come later in a longer file."""


def build_report(summed: options.SummaryOptions) -> "RunReport":
    """An empty report with the breakdowns that the options name."""
    labels = AgreementBuilder(summed.against) if summed.against else None
    return RunReport([BreakdownBuilder(column) for column in summed.by or ()], labels)


@dataclass(slots=True)
class RunReport:
    """Collects scored samples; prints as tables or as JSON."""

    breakdowns: list[BreakdownBuilder]
    labels: AgreementBuilder | None
    table: "reports.SampleTable" = field(default_factory=lambda: reports.SampleTable())

    def check_columns(self, rollouts: Iterable[Rollout]) -> None:
        """Raise RolloutsError if none of the first samples has a required column."""
        missing = [one.column for one in self.breakdowns] + ([self.labels.column] if self.labels else [])
        first = [rollout.trajectory for rollout in islice(rollouts, PEEK)]
        missing = [column for column in missing if all(column_of(each, column) is ABSENT for each in first)]
        if missing and len(first) < PEEK:
            known = dict.fromkeys(name for each in first for name in known_columns(each))
            raise no_such_column(missing[0], known)

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        self.table.add(trajectory, output)
        for breakdown in self.breakdowns:
            breakdown.add(trajectory, output)
        if self.labels is not None:
            self.labels.add(trajectory, output)

    def summary(self) -> Summary:
        """The summary of the samples so far."""
        return reports.summary_of(self.table)

    def render(self, summary: Summary) -> list[RenderableType]:
        """The tables for the terminal."""
        tables: list[RenderableType] = [render_summary(summary)]
        for breakdown in self.breakdowns:
            tables += ["", render_breakdown(breakdown.breakdown())]
        if self.labels is not None:
            tables += ["", render_agreement(self.labels.agreement(), self.labels.column)]
        if summary.reward is not None:
            tables += ["", render_histogram(summary.reward.bins, title="reward")]
        return tables

    def to_dict(self, summary: Summary) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = summary.to_dict()
        if self.breakdowns:
            plain["by"] = {one.column: one.breakdown().to_dict() for one in self.breakdowns}
        if self.labels is not None:
            plain["against"] = {"column": self.labels.column, **self.labels.agreement().to_dict()}
        return plain


def has_too_many_unscored(count: int, ok: int, max_unscored: float, reasons: Iterable[str]) -> bool:
    """Whether more than a share of the samples was not scored; prints how many, and the most frequent reasons."""
    unscored = count - ok
    if unscored <= max_unscored * count:
        return False
    print_message(f"{unscored:,} of {count:,} samples were not scored, more than --max-unscored {max_unscored:g}:")
    for reason in islice(reasons, MAX_REASONS):
        print_message(f"  {reason}")
    return True


def exit_code(summary: Summary, fail_under: float | None, max_unscored: float = 1.0) -> int:
    """3 if too many samples were not scored; 1 if none was, or if the mean reward is below the required one."""
    reasons = (f"{one.count:,} × {one.status}: {one.reason} (first: {one.example})" for one in summary.failures)
    if has_too_many_unscored(summary.count, summary.ok, max_unscored, reasons):
        return UNSCORED
    if summary.reward is None:
        return NOT_PASSED
    if fail_under is not None and summary.reward.mean < fail_under:
        print_message(f"the mean reward {summary.reward.mean:.4g} is below --fail-under {fail_under:g}")
        return NOT_PASSED
    return DONE


def explain(
    arguments: Annotated[
        list[str],
        Argument(
            metavar="[REWARD] ROLLOUTS",
            help="A reward and the rollouts to score with it; or a scored file alone, which is not scored again.",
        ),
    ],
    reading: options.Reading,
    selected: options.Selected,
    engine: options.Engine,
    output: options.Output,
    count: Annotated[int, options.count("How many samples to show.")] = 3,
    pick: Annotated[
        list[Pick] | None, Option("--pick", help="Which samples; repeatable. By default failed, lowest and highest.")
    ] = None,
    sample: Annotated[
        list[str] | None, Option("--sample", metavar="ID|N", help="A sample by its id, or by its index from 0.")
    ] = None,
) -> None:
    """Show prompt, response, ground truth, components and reasons of a few samples."""
    if len(arguments) > 2:
        raise typer.BadParameter(f"takes a reward and rollouts, or a scored file alone; got {len(arguments)} arguments")
    *spec, rollouts = arguments
    reward = output.load(reading.spec(spec[0])) if spec else None
    reader = selected.open(rollouts)
    if reward is None:
        scored = require_scored(selected.select(reader), reader.name)
        samples = pick_samples(scored, count, pick or DEFAULT_PICKS, sample or ())
    else:
        with engine.scorer(reward) as scorer:
            trajectories = (rollout.trajectory for rollout in selected.select(reader))
            stream = scorer.score_stream(trajectories, interleaved=True)
            samples = pick_samples(stream, count, pick or DEFAULT_PICKS, sample or ())
    output.note_input(reader)
    if not samples:
        raise RolloutsError(f"no such sample in {reader.name}: {', '.join(sample or [p.value for p in pick or ()])}")
    output.show(
        [{"index": one.index, "picked": one.why, **Rollout(one.trajectory, one.output).to_dict()} for one in samples],
        *(render_sample(one, reward.reward if reward else None) for one in samples),
    )


DEFAULT_OUT = Path("report.html")


def report(
    rollouts: Annotated[
        list[str],
        Argument(
            metavar="ROLLOUTS", help="A scored file, a run folder, or - for standard input; several are compared."
        ),
    ],
    selected: options.Selected,
    output: options.Output,
    out: Annotated[Path | None, options.out_file("Where the page goes; report.html by default.")] = None,
    max_mb: Annotated[
        float, Option("--max-mb", min=1, help="How large the page may be; texts beyond that are left out.")
    ] = 14.0,
) -> None:
    """Write a page that shows what the reward did: figures, charts, what to look at, and every sample.

    The page is one file that loads nothing. With --json the figures are printed, and a page is written only to -o.
    """
    page = out or (None if output.json else DEFAULT_OUT)
    options.check_output(page)
    max_bytes = int(max_mb * 1e6) // len(rollouts) if page else 0
    runs = []
    for name in rollouts:
        files = RunFiles("standard input", Path("-")) if name == "-" else run_files(Path(name))
        reader = selected.open(str(files.rollouts))
        scored = require_scored(selected.select(reader), reader.name)
        with output.progress(f"reading {files.name}", count_lines(str(files.rollouts))) as advance:
            counted = _count_rollouts(scored, advance)
            runs.append(reports.build_report(files.name, counted, metrics=files.metrics, max_bytes=max_bytes))
        output.note_input(reader)
    if page:
        difference = (
            _difference(rollouts, selected.columns) if selected.where is None and selected.limit is None else None
        )
        reports.write_page(runs, page, difference=difference)
    plain = [run.to_dict() for run in runs] if output.json else []
    headlines = (render_headline(run.name, run.figures, run.remarks) for run in runs)
    output.show(plain[0] if len(plain) == 1 else {"runs": plain}, *headlines)
    if page:
        output.note(f"the report is in {page} ({page.stat().st_size / 1e6:.1f} MB); open it in a browser")


def _count_rollouts(rollouts: Iterator[ScoredRollout], advance: Advance) -> Iterator[ScoredRollout]:
    for rollout in rollouts:
        advance(rollout.output)
        yield rollout


def _difference(rollouts: list[str], columns: list[str] | None) -> Difference | None:
    """The difference of two files on the same samples; None where the samples differ, or there are not two files."""
    if len(rollouts) != 2 or "-" in rollouts:
        return None
    old, new = (run_files(Path(name)).rollouts for name in rollouts)
    try:
        return compare_files(old, new, columns=options.column_mapping(columns))
    except RolloutsError:
        return None


def view(
    folders: Annotated[
        list[Path], Argument(metavar="FOLDER", help="A run folder, a folder of runs, or a scored file; or several.")
    ],
    port: options.Port = 0,
    open_browser: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Show runs in a browser, with new curves and samples as they are written; Ctrl-C ends it.

    Only this machine can open the page, and only with the link that is printed. Nothing is changed in the folders.
    """
    for file in (each for each in folders if each.is_file() and each.stat().st_size):
        reader = options.open_rollouts(str(file), None)
        next(require_scored(reader, reader.name), None)  # else the page would be empty without an explanation
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


def watch(
    run: Annotated[Path, Argument(metavar="RUN", help="A run folder, or a rollouts file of a run.")],
    output: options.Output,
    follow: Annotated[
        bool, Option("--follow", "-f", help="Follow the file as training appends to it, until Ctrl-C.")
    ] = False,
    every: Annotated[int, Option("--every", min=1, help="How many steps between two looks.")] = 10,
    window: Annotated[int, Option("--window", min=1, help="How many steps a look goes back.")] = 20,
    stop_on: Annotated[
        list[str] | None, Option("--stop-on", metavar="SIGN", help="End when this sign is there three times in a row.")
    ] = None,
) -> int:
    """Watch the groups, lengths, components, copies and phrases of a run every few steps; print new signs.

    The exit code is 1 when the last look saw a sign.
    """
    looks: list[watching.Look] = []
    watched = watching.RewardWatch(every=every, window=window, stop_on=stop_on or ())
    for look in watching.watch_run(run, watched, follow=follow):
        looks.append(look)
        for sign in () if output.json else look.new:
            print_result(f"step {look.step}: {sign}")
        if look.stop is not None:
            break
    last = looks[-1] if looks else None
    if last is None and not follow:
        _refuse_unscored(run)
    closing = f"no look yet: the run has fewer than {every} steps with rollouts" if last is None else ""
    if last is not None and not last.signs:
        closing = f"step {last.step}: no sign in the last {last.figures.summary.count:,} samples"
    plain = [{"step": look.step, **look.to_metrics(), "signs": [asdict(sign) for sign in look.signs]} for look in looks]
    if output.json or closing:
        output.show(plain, closing)
    return NOT_PASSED if last is not None and last.signs else DONE


def _refuse_unscored(run: Path) -> None:
    """Raise where there was nothing to look at because the file has broken lines, or samples without a reward."""
    reader = options.open_rollouts(str(run_files(run).rollouts), None)
    deque(require_scored(reader, reader.name), maxlen=0)
