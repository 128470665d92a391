"""`plaudit explain`: a few samples in full, with every part of their reward."""

from typing import Annotated

import typer

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import (
    DEFAULT_DEADLINE_S,
    Backend,
    BackendOption,
    ChatTemplateOption,
    ColumnsOption,
    DeadlineOption,
    DialectOption,
    EngineOptions,
    JsonOption,
    MaxBatchOption,
    ScopeOption,
    SkipBadOption,
    load_reward,
    open_rollouts,
    report_input,
)
from plaudit.cli.scoring.run_report import LimitOption, WhereOption, build_selection
from plaudit.cli.scoring.summary import require_scored
from plaudit.errors import RolloutsError
from plaudit.loading import spec_using
from plaudit.report.samples import DEFAULT_PICKS, Pick, PickedSample, pick_samples
from plaudit.report.terminal.sample_view import render_sample
from plaudit.rollouts import Rollout

__all__ = ["explain"]


def explain(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="[REWARD] ROLLOUTS",
            help="A reward and the rollouts to score with it; or a scored file alone, which is not scored again.",
        ),
    ],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many samples to show.")] = 3,
    pick: Annotated[
        list[Pick] | None,
        typer.Option("--pick", help="Which samples; may be given again. Without it: failed, lowest and highest."),
    ] = None,
    sample: Annotated[
        list[str] | None, typer.Option("--sample", metavar="ID|N", help="A sample by its id, or its place from 0.")
    ] = None,
    limit: LimitOption = None,
    where: WhereOption = None,
    dialect: DialectOption = None,
    scope: ScopeOption = None,
    max_batch: MaxBatchOption = None,
    chat_template: ChatTemplateOption = None,
    columns: ColumnsOption = None,
    skip_bad: SkipBadOption = False,
    backend: BackendOption = Backend.PROCESSES,
    deadline: DeadlineOption = DEFAULT_DEADLINE_S,
    json: JsonOption = False,
) -> None:
    """Show prompt, response, ground truth, components and reasons of a few samples."""
    if len(given) > 2:
        raise typer.BadParameter(f"takes a reward and rollouts, or a scored file alone; got {len(given)} arguments")
    *spec, rollouts = given
    options = {"dialect": dialect, "scope": scope, "max_batch": max_batch, "chat_template": chat_template}
    reward = load_reward(spec_using(spec[0], **options)) if spec else None
    reader = open_rollouts(rollouts, columns, skip_bad=skip_bad)
    selected = build_selection(where, limit).select(reader)
    if reward is None:
        samples = pick_samples(require_scored(reader, selected), count, pick or DEFAULT_PICKS, sample or ())
    else:
        with EngineOptions(backend, deadline_s=deadline).scorer(reward) as scorer:
            scored = scorer.score_stream((rollout.trajectory for rollout in selected), interleaved=True)
            samples = pick_samples(scored, count, pick or DEFAULT_PICKS, sample or ())
    report_input(reader)
    if not samples:
        raise RolloutsError(f"no such sample in {reader.name}: {', '.join(sample or [p.value for p in pick or ()])}")
    if json:
        print_json([_plain(one) for one in samples])
    else:
        print_result(*(render_sample(one, reward.reward if reward else None) for one in samples))


def _plain(sample: PickedSample) -> dict[str, object]:
    return {"index": sample.index, "picked": sample.why, **Rollout(sample.trajectory, sample.output).to_dict()}
