"""`plaudit score`: run a reward over a rollouts file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.markup import escape

from plaudit.cli.console import print_json, print_message, print_report, print_result, write_bytes
from plaudit.cli.options import (
    DEFAULT_DEADLINE_S,
    AddressOption,
    BackendOption,
    CacheOption,
    ColumnsOption,
    DeadlineOption,
    EngineOptions,
    JsonOption,
    QuietOption,
    RewardArgument,
    RolloutsArgument,
    SkipBadOption,
    WorkersOption,
    load_reward,
    open_rollouts,
    report_input,
)
from plaudit.cli.progress import count_lines, show_progress
from plaudit.cli.scoring.folders import score_folder
from plaudit.contract.function import RewardFunction
from plaudit.engine import Scorer, ScorerStats
from plaudit.errors import RolloutsError
from plaudit.report.histogram import render_histogram
from plaudit.report.summary import Summary, SummaryBuilder
from plaudit.report.summary_table import render_engine_stats, render_summary
from plaudit.rollouts import Rollout, RolloutsReader, RolloutsWriter, ScoredRollout, completed, read_rollouts, rest_of

__all__ = ["score"]

NOTHING_SCORED = 1
Write: TypeAlias = Callable[[Rollout], object]


def score(
    reward: RewardArgument,
    rollouts: RolloutsArgument,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="OUT", help="Write the scored rollouts here; - is standard output."),
    ] = None,
    columns: ColumnsOption = None,
    skip_bad: SkipBadOption = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT if it exists.")] = False,
    backend: BackendOption = "processes",
    workers: WorkersOption = None,
    deadline: DeadlineOption = DEFAULT_DEADLINE_S,
    cache: CacheOption = None,
    address: AddressOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Score every sample of ROLLOUTS with REWARD; show a summary, keep the details in OUT.

    Samples that could not be scored are counted by status and stand in OUT with the reason. The exit code is 1 only
    when no sample could be scored. With --backend ray, ROLLOUTS and OUT may be folders of files.
    """
    engine = EngineOptions(backend, workers, deadline, cache, address)
    if Path(rollouts).is_dir():
        return score_folder(reward, Path(rollouts), out, engine, columns)
    _check_destination(out, rollouts, resume=resume)
    loaded = load_reward(reward, quiet=quiet)
    reader = open_rollouts(rollouts, columns, skip_bad=skip_bad)
    builder = SummaryBuilder()
    with (
        engine.scorer(reward) as scorer,
        _destination(out, resume=resume, overwrite=overwrite) as write,
        show_progress("scoring", count_lines(rollouts), quiet=quiet) as tick,
    ):
        results = _resumed(scorer, reader, Path(str(out)), builder) if resume else _scored(scorer, iter(reader))
        for index, scored in results:
            write(scored)
            builder.add(scored.trajectory, scored.output, index)
            tick(scored.output)
    summary = builder.summary()
    if not quiet:
        report_input(reader)
        _report(summary, loaded, scorer.stats, to_stderr=out == "-" or json)
    if json:
        print_json({**summary.to_dict(), "engine": scorer.stats.to_dict()})
    return 0 if summary.ok else NOTHING_SCORED


def _scored(scorer: Scorer, rollouts: Iterator[Rollout], first: int = 0) -> Iterator[tuple[int, ScoredRollout]]:
    trajectories = (rollout.trajectory for rollout in rollouts)
    return enumerate(scorer.score_stream(trajectories, interleaved=True), first)


def _resumed(
    scorer: Scorer, reader: RolloutsReader, out: Path, builder: SummaryBuilder
) -> Iterator[tuple[int, ScoredRollout]]:
    """What an interrupted run has left to do; what it did goes into the summary."""
    done = completed(out)
    if done.count:
        for index, rollout in enumerate(read_rollouts(out)):
            if rollout.output is not None:
                builder.add(rollout.trajectory, rollout.output, index)
        print_message(f"{out} holds {done.count} scored samples already; going on from there")
    rest = rest_of(reader, done)
    if scorer.reward.scope == "sample":
        return _scored(scorer, rest, first=done.count)
    return islice(_scored(scorer, iter(reader)), done.count, None)  # it looks across samples: it needs them all


def _check_destination(out: str | None, rollouts: str, *, resume: bool) -> None:
    if resume and out in (None, "-"):
        raise RolloutsError("--resume needs the file to go on with: -o OUT")
    if out and Path(out).exists() and Path(rollouts).exists() and Path(out).samefile(rollouts):
        raise RolloutsError(f"{out} is the input as well; write to another file")


@contextmanager
def _destination(out: str | None, *, resume: bool, overwrite: bool) -> Iterator[Write]:
    if out is None:
        yield lambda rollout: None
    elif out == "-":
        yield lambda rollout: write_bytes(rollout.to_line())
    else:
        with RolloutsWriter(out, mode="resume" if resume else "new", overwrite=overwrite) as writer:
            yield writer.write


def _report(summary: Summary, reward: RewardFunction, stats: ScorerStats, *, to_stderr: bool) -> None:
    print_to = print_report if to_stderr else print_result
    print_to(f"[bold]{escape(repr(reward))}[/bold]", render_summary(summary), render_engine_stats(stats))
    if summary.reward is not None:
        print_to("", render_histogram(summary.reward.bins, title="reward"))
