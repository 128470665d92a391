"""`plaudit explain`: a few samples in full, with every part of their reward."""

from typing import Annotated

import typer

from plaudit.cli.console import show, show_json
from plaudit.cli.options import (
    BackendOption,
    ColumnsOption,
    EngineOptions,
    JsonOption,
    RewardArgument,
    RolloutsArgument,
    SkipBadOption,
    opened,
    resolved,
    tell_about_input,
)
from plaudit.errors import RolloutsError
from plaudit.report.sample_view import breakdown
from plaudit.report.samples import TELLING, Pick, pick_samples
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
    """Show prompt, response, ground truth and the full breakdown of a few samples."""
    resolved(reward)
    reader = opened(rollouts, columns, skip_bad=skip_bad)
    with EngineOptions(backend).scorer(reward) as scorer:
        scored = scorer.score_stream((rollout.trajectory for rollout in reader), interleaved=True)
        samples = pick_samples(scored, count, pick or TELLING, sample or ())
    tell_about_input(reader)
    if not samples:
        raise RolloutsError(f"no such sample in {reader.name}: {', '.join(sample or [p.value for p in pick or ()])}")
    if json:
        show_json(
            [
                {"index": one.index, "picked": one.why, **Rollout(one.trajectory, one.output).to_dict()}
                for one in samples
            ]
        )
    else:
        show(*(breakdown(one) for one in samples))
