"""`plaudit explain`: a few samples in full, with every part of their reward."""

from typing import Annotated

import typer

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.cli.scoring.summary import build_selection, require_scored
from plaudit.errors import RolloutsError
from plaudit.loading import spec_using
from plaudit.report.terminal.sample_view import DEFAULT_PICKS, Pick, PickedSample, pick_samples, render_sample
from plaudit.rollouts import Rollout

__all__ = ["explain"]


def explain(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[REWARD] ROLLOUTS",
            help="A reward and the rollouts to score with it; or a scored file alone, which is not scored again.",
        ),
    ],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many samples to show.")] = 3,
    pick: Annotated[
        list[Pick] | None,
        typer.Option("--pick", help="Which samples; repeatable. By default failed, lowest and highest."),
    ] = None,
    sample: Annotated[
        list[str] | None, typer.Option("--sample", metavar="ID|N", help="A sample by its id, or by its index from 0.")
    ] = None,
    limit: options.Limit = None,
    where: options.Where = None,
    dialect: options.Dialect = None,
    scope: options.Scope = None,
    max_batch: options.MaxBatch = None,
    chat_template: options.ChatTemplate = None,
    columns: options.Columns = None,
    skip_bad: options.SkipBad = False,
    backend: options.ChosenBackend = options.Backend.PROCESSES,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    json: options.Json = False,
) -> None:
    """Show prompt, response, ground truth, components and reasons of a few samples."""
    if len(arguments) > 2:
        raise typer.BadParameter(f"takes a reward and rollouts, or a scored file alone; got {len(arguments)} arguments")
    *spec, rollouts = arguments
    reading = {"dialect": dialect, "scope": scope, "max_batch": max_batch, "chat_template": chat_template}
    reward = options.load_reward(spec_using(spec[0], **reading)) if spec else None
    reader = options.open_rollouts(rollouts, columns, skip_bad=skip_bad)
    selected = build_selection(where, limit).select(reader)
    if reward is None:
        samples = pick_samples(require_scored(reader, selected), count, pick or DEFAULT_PICKS, sample or ())
    else:
        with options.EngineOptions(backend, deadline_s=deadline).scorer(reward) as scorer:
            scored = scorer.score_stream((rollout.trajectory for rollout in selected), interleaved=True)
            samples = pick_samples(scored, count, pick or DEFAULT_PICKS, sample or ())
    options.report_input(reader)
    if not samples:
        raise RolloutsError(f"no such sample in {reader.name}: {', '.join(sample or [p.value for p in pick or ()])}")
    if json:
        print_json([_plain(one) for one in samples])
    else:
        print_result(*(render_sample(one, reward.reward if reward else None) for one in samples))


def _plain(sample: PickedSample) -> dict[str, object]:
    return {"index": sample.index, "picked": sample.why, **Rollout(sample.trajectory, sample.output).to_dict()}
