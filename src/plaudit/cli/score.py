"""`plaudit score`: run a reward over a rollouts file, or over every file of a folder."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias

from rich.markup import escape
from typer import Option

from plaudit.cli import options
from plaudit.cli.app import DONE, INTERRUPTED, NOT_PASSED, UNSCORED, OptionGroup
from plaudit.cli.console import (
    Advance,
    count_lines,
    print_json,
    print_message,
    print_report,
    print_result,
    write_bytes,
)
from plaudit.cli.results import (
    MAX_UNSCORED,
    RunReport,
    build_report,
    exit_code,
    has_too_many_unscored,
)
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine import DatasetSummary, Scorer, ScorerStats, reward_key, score_dataset
from plaudit.errors import RolloutsError
from plaudit.loading import Loaded
from plaudit.report.figures import Summary
from plaudit.report.formatting import count_noun
from plaudit.report.terminal.tables import render_engine_stats
from plaudit.rewards.verifiers.auto import AutoReward
from plaudit.rollouts import (
    Completed,
    Rollout,
    RolloutsReader,
    RolloutsWriter,
    RunRecord,
    read_completed,
    read_rollouts,
    record_path,
    rest_of,
)
from plaudit.trajectory import Trajectory

MAX_CHOICES = 30  # lines about what `auto` chose
Write: TypeAlias = Callable[[Rollout], object]


class Destination(OptionGroup):
    """Where scored rollouts go, and what happens to those that are there already."""

    out: Annotated[
        str | None, Option("--out", "-o", metavar="OUT", help="Write the scored rollouts here; - is standard output.")
    ] = None
    resume: Annotated[bool, Option("--resume", help="Continue an interrupted run.")] = False
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="With --resume: score errors and timeouts of OUT again.")
    ] = False
    overwrite: options.Overwrite = False

    def check(self, rollouts: str) -> None:
        """Raise RolloutsError for options that contradict each other."""
        if self.retry_failed and not self.resume:
            raise RolloutsError("--retry-failed goes with --resume: it scores the failed samples of OUT again")
        if self.resume and self.overwrite:
            raise RolloutsError("--resume continues OUT and --overwrite replaces it; give one of them")
        if self.resume and self.out in (None, "-"):
            raise RolloutsError("--resume needs the file to continue: -o OUT")
        out = Path(self.out or "-")
        if out.exists() and Path(rollouts).exists() and out.samefile(rollouts):
            raise RolloutsError(f"{out} is the input as well; write to another file")

    @contextmanager
    def open(self, record: RunRecord) -> Iterator[Write]:
        """A function that writes one rollout after the other."""
        if self.out is None:
            yield lambda rollout: None
        elif self.out == "-":
            yield lambda rollout: write_bytes(rollout.to_line())
        else:
            with RolloutsWriter(self.out, mode="resume" if self.resume else "new", overwrite=self.overwrite) as writer:
                if self.out.endswith(".jsonl"):  # others cannot be resumed
                    record.write(record_path(Path(self.out)))
                yield writer.write


def score(
    reward: options.Reward,
    rollouts: options.Rollouts,
    reading: options.Reading,
    selected: options.Selected,
    engine: options.Engine,
    destination: Destination,
    summed: options.SummaryOptions,
    output: options.Output,
    max_unscored: Annotated[
        float,
        Option("--max-unscored", metavar="SHARE", min=0, max=1, help="Exit with 3 if more of them were not scored."),
    ] = MAX_UNSCORED,
) -> int:
    """Score every sample of ROLLOUTS with REWARD; show a summary, keep the details in OUT.

    Samples that could not be scored are counted by status; OUT has them with the reason. The exit code is 3 if
    more than --max-unscored of them were not scored, and 1 if the mean reward is below --fail-under. ROLLOUTS and
    OUT may be folders of files.
    """
    spec = reading.spec(reward)
    if Path(rollouts).is_dir():
        _refuse_with_folder(selected, summed)
        folder = Path(rollouts)
        return score_folder(output.load(spec), folder, destination.out, engine, selected.columns, max_unscored, output)
    destination.check(rollouts)
    loaded = output.load(spec)
    chosen = {"columns": selected.columns or [], "where": selected.where or []}
    record = RunRecord(repr(loaded.reward), reward_key(loaded.reward), chosen)
    run = _Run(selected.open(rollouts), selected, build_report(summed), destination)
    if Path(rollouts).is_file() and (summed.by or summed.against):  # a pipe can be read only once
        run.report.check_columns(selected.select(selected.open(rollouts, skip_bad=True)))
    with engine.scorer(loaded) as scorer:
        try:
            run.load_earlier(scorer, record)
            samples = options.check_first_samples(scorer, run.remaining_samples(scorer))
            total = selected.limit or count_lines(rollouts)
            with (
                destination.open(record) as write,
                output.progress("scoring", total, done=run.scored) as advance,
            ):
                run.score(scorer, samples, write, advance)
        except KeyboardInterrupt:
            print_message(run.describe_interruption())
            return INTERRUPTED
    summary = run.report.summary()
    run.show(summary, repr(loaded.reward), scorer.stats, output)
    return exit_code(summary, summed.fail_under, max_unscored)


@dataclass(slots=True)
class _Run:
    """The samples of a file on their way through a scorer into the report and the output."""

    reader: RolloutsReader
    selected: options.Selected
    report: RunReport
    destination: Destination
    earlier: Completed | None = None
    """The results of an interrupted run, once they are loaded."""
    scored: int = 0
    """The number of scored samples, including those of an earlier run."""
    repeated: int = 0
    """The number of samples of an earlier run that are scored again, since the reward compares samples."""
    verifiers: Counter[str] = field(default_factory=Counter)
    """The number of samples that each verifier chosen by `auto` scored, and why others were left out."""

    def score(self, scorer: Scorer, samples: Iterator[Trajectory], write: Write, advance: Advance) -> None:
        """Score the remaining samples, and pass each one on as soon as it is scored."""
        for rollout in islice(scorer.score_stream(samples, interleaved=True), self.repeated, None):
            write(rollout)
            self.report.add(rollout.trajectory, rollout.output)
            self.scored += 1
            advance(rollout.output)
            if isinstance(scorer.reward, AutoReward):
                self.verifiers[scorer.reward.describe_choice(rollout.output)] += 1

    def show(self, summary: Summary, reward: str, stats: ScorerStats, output: options.Output) -> None:
        """Print the result, on standard error if standard output is used for something else; then notes."""
        first, *others = self.report.render(summary)
        tables = (f"[bold]{escape(reward)}[/bold]", first, render_engine_stats(stats), *others)
        out = self.destination.out
        if out != "-" and not output.json:
            print_result(*tables)
        elif not output.quiet or not output.json:
            print_report(*tables)
        output.note_input(self.reader)
        for choice, count in self.verifiers.most_common(MAX_CHOICES):
            output.note(f"{count_noun(count, 'sample')}: {choice}")
        if out not in (None, "-"):
            output.note(f"wrote {summary.count:,} scored samples to {out}")
        if output.json:
            print_json({**self.report.to_dict(summary), "engine": stats.to_dict()})

    def describe_interruption(self) -> str:
        """A message about the results of an interrupted run, and how to continue."""
        done, out = f"stopped after {self.scored:,} scored samples", self.destination.out
        if out is None or out == "-":
            return f"{done}; nothing was kept (-o OUT keeps them)" if out is None else done
        if not out.endswith(".jsonl"):
            return f"{done}; nothing was kept: such a file is written only when it is complete (.jsonl can be resumed)"
        written = read_completed(Path(out)).count  # Ctrl-C may fall between writing a sample and counting it
        remedy = "the same command with --resume continues from there"
        return f"stopped after {written:,} scored samples; they are in {out}: {remedy}"

    def load_earlier(self, scorer: Scorer, record: RunRecord) -> None:
        """With --resume: check that the earlier run was the same, and add its samples to the report."""
        if not self.destination.resume:
            return
        out = Path(str(self.destination.out))
        if out.exists():
            record.check(record_path(out), str(out))
            if self.destination.retry_failed:
                print_message(retry_failed_samples(out, scorer))
        self.earlier = read_completed(out)
        if not self.earlier.count:
            return
        for rollout in read_rollouts(self.earlier.path):
            if rollout.output is not None:
                self.report.add(rollout.trajectory, rollout.output)
                self.scored += 1
        print_message(f"{out} holds {self.earlier.count:,} scored samples already; continuing from there")

    def remaining_samples(self, scorer: Scorer) -> Iterator[Trajectory]:
        """The samples to score, after those that an earlier run left."""
        rollouts = self.selected.select(self.reader)
        if self.earlier is not None and scorer.reward.scope == "sample":
            rollouts = rest_of(rollouts, self.earlier)
        elif self.earlier is not None:
            rest_of(rollouts, self.earlier)  # it looks across samples, so it needs them all; but they must be the same
            rollouts, self.repeated = self.selected.select(self.reader), self.earlier.count
        return (rollout.trajectory for rollout in rollouts)


def _refuse_with_folder(selected: options.Selected, summed: options.SummaryOptions) -> None:
    values = {"--limit": selected.limit, "--where": selected.where, "--by": summed.by, "--against": summed.against}
    if names := [name for name, value in {**values, "--fail-under": summed.fail_under}.items() if value is not None]:
        raise RolloutsError(f"{' and '.join(names)}: for single files, not for a folder of files")


def score_folder(
    reward: Loaded,
    folder: Path,
    out: str | None,
    engine: options.Engine,
    columns: list[str] | None,
    max_unscored: float,
    output: options.Output,
) -> int:
    """Score each file of a folder into one of the same name; the exit code is 1 if a file failed."""
    if out in (None, "-"):
        raise RolloutsError(f"{folder} is a folder; name a folder for its scored files: -o OUTFOLDER")
    destination = Path(str(out))
    if destination.is_file():
        raise RolloutsError(f"{out} is a file; a folder is scored into a folder")
    mapping = options.column_mapping(columns)
    summary = score_dataset(
        reward, folder, destination, columns=mapping, check=options.check_first_samples, **engine.settings
    )
    output.show(_plain(summary), *_describe(summary, destination))
    for file, reason in summary.failed.items():
        print_message(f"{file}: {reason}")
    statuses = (f"{count:,} × {each.value}" for each, count in summary.statuses.most_common() if each is not Status.OK)
    if has_too_many_unscored(summary.samples, summary.statuses[Status.OK], max_unscored, statuses):
        return UNSCORED
    return NOT_PASSED if summary.failed else DONE


def _describe(summary: DatasetSummary, out: Path) -> list[str]:
    statuses = ", ".join(f"{count:,} {status.value}" for status, count in summary.statuses.items())
    files, samples = count_noun(len(summary.scored), "file"), count_noun(summary.samples, "sample")
    before = [f"done before: {count_noun(len(summary.skipped), 'file')}"] if summary.skipped else []
    return [f"{files} scored into {out}, {samples}: {statuses or 'none'}", *before]


def _plain(summary: DatasetSummary) -> dict[str, object]:
    return {
        "scored": [str(file) for file in summary.scored],
        "skipped": [str(file) for file in summary.skipped],
        "failed": {str(file): reason for file, reason in summary.failed.items()},
        "statuses": {status.value: count for status, count in summary.statuses.items()},
    }


FAILED = (Status.ERROR, Status.TIMEOUT, Status.MEMORY)
"""The statuses that a second attempt may change; skipped and unparsed samples are decisions of the reward."""


def retry_failed_samples(out: Path, scorer: Scorer) -> str:
    """Score the failed samples of OUT again and replace OUT by the result; returns what was done, as a sentence.

    OUT stays as it is until all of them are scored.
    """
    if scorer.reward.scope != "sample":
        raise RolloutsError(
            f"--retry-failed scores samples alone, and {scorer.reward.name} compares the samples of a "
            f"{scorer.reward.scope}; score them all again with --overwrite"
        )
    with RolloutsWriter(out, mode="resume"):
        pass  # cuts off a line that a killed run left unfinished
    beside = out.with_name(f"retry-{out.name}")
    failed = (rollout.trajectory for rollout in read_rollouts(out) if _has_failed(rollout.output))
    retried = scorer.score_stream(options.check_first_samples(scorer, failed))
    count = scored = 0
    try:
        with RolloutsWriter(beside, mode="new", overwrite=True) as writer:
            for rollout in read_rollouts(out):
                again = next(retried) if _has_failed(rollout.output) else None
                writer.write(again or rollout)
                count, scored = count + (again is not None), scored + (again is not None and again.output.ok)
        os.replace(beside, out)
    finally:
        beside.unlink(missing_ok=True)
    return f"retried {count:,} failed samples of {out}; {scored:,} of them are scored now"


def _has_failed(output: RewardOutput | None) -> bool:
    return output is not None and output.status in FAILED
