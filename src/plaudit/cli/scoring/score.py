"""`plaudit score`: run a reward over a rollouts file, or over every file of a folder."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.markup import escape

from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_report, print_result, write_bytes
from plaudit.cli.progress import Advance, count_lines, show_progress
from plaudit.cli.scoring.summary import (
    MAX_UNSCORED,
    TOO_MANY_UNSCORED,
    RunReport,
    build_report,
    build_selection,
    exit_code,
    has_too_many_unscored,
)
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine import DatasetSummary, Scorer, ScorerStats, reward_key, score_dataset
from plaudit.errors import RolloutsError
from plaudit.loading import spec_using
from plaudit.report.figures import Summary
from plaudit.report.formatting import count_noun
from plaudit.report.selection import Selection
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

__all__ = ["retry_failed_samples", "score", "score_folder"]

INTERRUPTED = 130
MOST_CHOICES = 30  # lines about what `auto` chose
Write: TypeAlias = Callable[[Rollout], object]


def score(
    reward: options.Reward,
    rollouts: options.Rollouts,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="OUT", help="Write the scored rollouts here; - is standard output."),
    ] = None,
    dialect: options.Dialect = None,
    scope: options.Scope = None,
    max_batch: options.MaxBatch = None,
    chat_template: options.ChatTemplate = None,
    columns: options.Columns = None,
    limit: options.Limit = None,
    where: options.Where = None,
    by: options.By = None,
    against: options.Against = None,
    fail_under: options.FailUnder = None,
    max_unscored: options.MaxUnscored = MAX_UNSCORED,
    skip_bad: options.SkipBad = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume: score errors and timeouts of OUT again.")
    ] = False,
    overwrite: options.Overwrite = False,
    backend: options.ChosenBackend = options.Backend.PROCESSES,
    workers: options.Workers = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    cache: options.Cache = None,
    address: options.Address = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Score every sample of ROLLOUTS with REWARD; show a summary, keep the details in OUT.

    Samples that could not be scored are counted by status; OUT has them with the reason. The exit code is 3 if
    more than --max-unscored of them were not scored, and 1 if the mean reward is below --fail-under. ROLLOUTS and
    OUT may be folders of files.
    """
    reward = spec_using(reward, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    engine = options.EngineOptions(backend, workers, deadline, cache, address)
    if Path(rollouts).is_dir():
        _refuse_with_folder(
            {"--limit": limit, "--where": where, "--by": by, "--against": against, "--fail-under": fail_under}
        )
        return score_folder(reward, Path(rollouts), out, engine, columns, max_unscored, json=json)
    _check_destination(out, rollouts, resume=resume, retry_failed=retry_failed, overwrite=overwrite)
    loaded = options.load_reward(reward, quiet=quiet)
    record = RunRecord(repr(loaded.reward), reward_key(loaded.reward), {"columns": columns or [], "where": where or []})
    reader = options.open_rollouts(rollouts, columns, skip_bad=skip_bad)
    run = _Run(reader, build_selection(where, limit), build_report(by, against), out, resume=resume)
    if Path(rollouts).is_file() and (by or against):  # a pipe can be read only once
        run.report.check_columns(run.selection.select(options.open_rollouts(rollouts, columns, skip_bad=True)))
    with engine.scorer(loaded) as scorer:
        try:
            run.take_up_earlier(scorer, record, retry_failed=retry_failed)
            samples = options.check_first_samples(scorer, run.remaining_samples(scorer))
            total = limit or count_lines(rollouts)
            with (
                _destination(out, record, resume=resume, overwrite=overwrite) as write,
                show_progress("scoring", total, done=run.scored, quiet=quiet) as advance,
            ):
                run.score(scorer, samples, write, advance)
        except KeyboardInterrupt:
            print_message(run.describe_interruption())
            return INTERRUPTED
    summary = run.report.summary()
    if not (json and quiet):
        run.show(summary, repr(loaded.reward), scorer.stats, beside_output=json, quiet=quiet)
    if json:
        print_json({**run.report.to_dict(summary), "engine": scorer.stats.to_dict()})
    return exit_code(summary, fail_under, max_unscored)


@dataclass(slots=True)
class _Run:
    """The samples of a file on their way through a scorer into the report and the output."""

    reader: RolloutsReader
    selection: Selection
    report: RunReport
    out: str | None
    resume: bool
    earlier: Completed | None = None
    """What an interrupted run left, once it is taken up."""
    scored: int = 0
    """How many samples are scored, with those that an earlier run left."""
    repeated: int = 0
    """How many samples of an earlier run are scored again, since the reward looks across samples."""
    verifiers: Counter[str] = field(default_factory=Counter)
    """How many samples each verifier scored that `auto` chose, and why others were left out."""

    def score(self, scorer: Scorer, samples: Iterator[Trajectory], write: Write, advance: Advance) -> None:
        """Score what is left to do, and pass each sample on as soon as it is scored."""
        for rollout in islice(scorer.score_stream(samples, interleaved=True), self.repeated, None):
            write(rollout)
            self.report.add(rollout.trajectory, rollout.output)
            self.scored += 1
            advance(rollout.output)
            if isinstance(scorer.reward, AutoReward):
                self.verifiers[scorer.reward.describe_choice(rollout.output)] += 1

    def show(self, summary: Summary, reward: str, stats: ScorerStats, *, beside_output: bool, quiet: bool) -> None:
        """Print the result, on standard error if standard output is used for something else; then notes."""
        print_to = print_report if self.out == "-" or beside_output else print_result
        first, *others = self.report.render(summary)
        print_to(f"[bold]{escape(reward)}[/bold]", first, render_engine_stats(stats), *others)
        if quiet:
            return
        options.report_input(self.reader)
        for choice, count in self.verifiers.most_common(MOST_CHOICES):
            print_message(f"{count:,} {'sample' if count == 1 else 'samples'}: {choice}")
        if self.out not in (None, "-"):
            print_message(f"wrote {summary.count:,} scored samples to {self.out}")

    def describe_interruption(self) -> str:
        """What an interrupted run leaves, and how to go on."""
        done = f"stopped after {self.scored:,} scored samples"
        if self.out in (None, "-"):
            return f"{done}; nothing was kept (-o OUT keeps them)" if self.out is None else done
        if not str(self.out).endswith(".jsonl"):
            return f"{done}; nothing was kept: such a file appears only when it is complete (.jsonl can be resumed)"
        written = read_completed(Path(str(self.out))).count  # Ctrl-C may fall between writing a sample and counting it
        going_on = "the same command with --resume goes on from there"
        return f"stopped after {written:,} scored samples; they are in {self.out}: {going_on}"

    def take_up_earlier(self, scorer: Scorer, record: RunRecord, *, retry_failed: bool) -> None:
        """With --resume: check that the earlier run was the same, and add its samples to the report."""
        if not self.resume:
            return
        out = Path(str(self.out))
        if out.exists():
            record.check(record_path(out), str(out))
            if retry_failed:
                print_message(retry_failed_samples(out, scorer))
        self.earlier = read_completed(out)
        if not self.earlier.count:
            return
        for rollout in read_rollouts(self.earlier.path):
            if rollout.output is not None:
                self.report.add(rollout.trajectory, rollout.output)
                self.scored += 1
        print_message(f"{self.out} holds {self.earlier.count:,} scored samples already; going on from there")

    def remaining_samples(self, scorer: Scorer) -> Iterator[Trajectory]:
        """The samples to score, after those that an earlier run left."""
        rollouts = self.selection.select(self.reader)
        if self.earlier is not None and scorer.reward.scope == "sample":
            rollouts = rest_of(rollouts, self.earlier)
        elif self.earlier is not None:
            rest_of(rollouts, self.earlier)  # it looks across samples, so it needs them all; but they must be the same
            rollouts, self.repeated = self.selection.select(self.reader), self.earlier.count
        return (rollout.trajectory for rollout in rollouts)


def _check_destination(out: str | None, rollouts: str, *, resume: bool, retry_failed: bool, overwrite: bool) -> None:
    if retry_failed and not resume:
        raise RolloutsError("--retry-failed goes with --resume: it scores the failed samples of OUT again")
    if resume and overwrite:
        raise RolloutsError("--resume goes on with OUT and --overwrite replaces it; give one of them")
    if resume and out in (None, "-"):
        raise RolloutsError("--resume needs the file to go on with: -o OUT")
    if out and Path(out).exists() and Path(rollouts).exists() and Path(out).samefile(rollouts):
        raise RolloutsError(f"{out} is the input as well; write to another file")


def _refuse_with_folder(options: dict[str, object]) -> None:
    if names := [name for name, value in options.items() if value is not None]:
        raise RolloutsError(f"{' and '.join(names)}: for single files, not for a folder of files")


@contextmanager
def _destination(out: str | None, record: RunRecord, *, resume: bool, overwrite: bool) -> Iterator[Write]:
    if out is None:
        yield lambda rollout: None
    elif out == "-":
        yield lambda rollout: write_bytes(rollout.to_line())
    else:
        with RolloutsWriter(out, mode="resume" if resume else "new", overwrite=overwrite) as writer:
            if out.endswith(".jsonl"):  # others cannot be resumed
                record.write(record_path(Path(out)))
            yield writer.write


SOME_FAILED = 1


def score_folder(
    reward: str,
    folder: Path,
    out: str | None,
    engine: options.EngineOptions,
    columns: list[str] | None,
    max_unscored: float,
    *,
    json: bool,
) -> int:
    """Score each file of a folder into one of the same name; the exit code is 1 if a file failed."""
    if out in (None, "-"):
        raise RolloutsError(f"{folder} is a folder; name a folder for its scored files: -o OUTFOLDER")
    if Path(str(out)).is_file():
        raise RolloutsError(f"{out} is a file; a folder is scored into a folder")
    summary = score_dataset(
        options.load_reward(reward),
        folder,
        Path(str(out)),
        backend=engine.backend.value,
        address=engine.address,
        workers=engine.workers,
        deadline_s=engine.effective_deadline_s,
        cache=engine.cache,
        columns=options.column_mapping(columns),
        check=options.check_first_samples,
    )
    if json:
        print_json(_plain(summary))
    else:
        _print_summary(summary, str(out))
    for file, reason in summary.failed.items():
        print_message(f"{file}: {reason}")
    statuses = (f"{count:,} × {each.value}" for each, count in summary.statuses.most_common() if each is not Status.OK)
    if has_too_many_unscored(summary.samples, summary.statuses[Status.OK], max_unscored, statuses):
        return TOO_MANY_UNSCORED
    return SOME_FAILED if summary.failed else 0


def _print_summary(summary: DatasetSummary, out: str) -> None:
    statuses = ", ".join(f"{count:,} {status.value}" for status, count in summary.statuses.items())
    files, samples = count_noun(len(summary.scored), "file"), count_noun(summary.samples, "sample")
    print_result(f"{files} scored into {out}, {samples}: {statuses or 'none'}")
    if summary.skipped:
        print_result(f"done before: {count_noun(len(summary.skipped), 'file')}")


def _plain(summary: DatasetSummary) -> dict[str, object]:
    return {
        "scored": [str(file) for file in summary.scored],
        "skipped": [str(file) for file in summary.skipped],
        "failed": {str(file): reason for file, reason in summary.failed.items()},
        "statuses": {status.value: count for status, count in summary.statuses.items()},
    }


FAILED = (Status.ERROR, Status.TIMEOUT, Status.MEMORY)
"""What may succeed in a second attempt; skipped and unparsed samples are as the reward judged them."""


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
