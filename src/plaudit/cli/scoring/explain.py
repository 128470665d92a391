"""`plaudit explain`: a few samples in full, with every part of their reward."""

from typing import Annotated

import typer

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import (
    BackendOption,
    ColumnsOption,
    EngineOptions,
    JsonOption,
    RewardArgument,
    RolloutsArgument,
    SkipBadOption,
    load_reward,
    open_rollouts,
    report_input,
)
from plaudit.errors import RolloutsError
from plaudit.report.sample_view import render_sample
from plaudit.report.samples import DEFAULT_PICKS, Pick, pick_samples
from plaudit.rollouts import Rollout

__all__ = ["explain"]


def explain(
    reward: RewardArgument,
    rollouts: RolloutsArgument,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many samples to show.")] = 3,
    pick: Annotated[
        list[Pick] | None,
        typer.Option("--pick", help="Which samples; may be given again. All three of failed, lowest and highest else."),
    ] = None,
    sample: Annotated[
        list[str] | None, typer.Option("--sample", metavar="ID|N", help="A sample by its id, or its place from 0.")
    ] = None,
    columns: ColumnsOption = None,
    skip_bad: SkipBadOption = False,
    backend: BackendOption = "processes",
    json: JsonOption = False,
) -> None:
    """Show prompt, response, ground truth and the full render_sample of a few samples."""
    load_reward(reward)
    reader = open_rollouts(rollouts, columns, skip_bad=skip_bad)
    with EngineOptions(backend).scorer(reward) as scorer:
        scored = scorer.score_stream((rollout.trajectory for rollout in reader), interleaved=True)
        samples = pick_samples(scored, count, pick or DEFAULT_PICKS, sample or ())
    report_input(reader)
    if not samples:
        raise RolloutsError(f"no such sample in {reader.name}: {', '.join(sample or [p.value for p in pick or ()])}")
    if json:
        print_json(
            [
                {"index": one.index, "picked": one.why, **Rollout(one.trajectory, one.output).to_dict()}
                for one in samples
            ]
        )
    else:
        print_result(*(render_sample(one) for one in samples))
