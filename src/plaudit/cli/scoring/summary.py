"""`plaudit summary`: what a scored file holds, without scoring it again."""

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import JsonOption, QuietOption, SkipBadOption, open_rollouts, report_input
from plaudit.cli.scoring.run_report import (
    AgainstOption,
    ByOption,
    FailUnderOption,
    LimitOption,
    WhereOption,
    build_report,
    build_selection,
    exit_code,
)
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout, RolloutsReader, ScoredRollout

__all__ = ["ScoredArgument", "require_scored", "summary"]

ScoredArgument = Annotated[
    str, typer.Argument(metavar="SCORED", help="A file that `plaudit score` or a training run wrote; - for stdin.")
]


def summary(
    scored: ScoredArgument,
    limit: LimitOption = None,
    where: WhereOption = None,
    by: ByOption = None,
    against: AgainstOption = None,
    fail_under: FailUnderOption = None,
    skip_bad: SkipBadOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show the summary of a scored file: rewards, components, failures, groups; nothing is scored again."""
    reader = open_rollouts(scored, None, skip_bad=skip_bad)
    report = build_report(by, against)
    for rollout in require_scored(reader, build_selection(where, limit).select(reader)):
        report.add(rollout.trajectory, rollout.output)
    result = report.summary()
    if not quiet:
        report_input(reader)
    if json:
        print_json(report.to_dict(result))
    elif not quiet:
        print_result(*report.render(result))
    return exit_code(result, fail_under)


def require_scored(reader: RolloutsReader, rollouts: Iterable[Rollout]) -> Iterator[ScoredRollout]:
    """The rollouts with their outputs; raises RolloutsError at the first that has none."""
    for rollout in rollouts:
        if rollout.output is None:
            raise RolloutsError(
                f"{reader.name} is not scored: it has samples without reward_output; "
                f"score it first: plaudit score REWARD {reader.name} -o SCORED"
            )
        yield Rollout(rollout.trajectory, rollout.output)
