"""`plaudit summary`: what a scored file holds, without scoring it again."""

from collections.abc import Iterable, Iterator

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.cli.scoring.run_report import build_report, build_selection, exit_code
from plaudit.errors import RolloutsError
from plaudit.rollouts import Rollout, RolloutsReader, ScoredRollout

__all__ = ["require_scored", "summary"]


def summary(
    scored: options.Scored,
    limit: options.Limit = None,
    where: options.Where = None,
    by: options.By = None,
    against: options.Against = None,
    fail_under: options.FailUnder = None,
    skip_bad: options.SkipBad = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Show the summary of a scored file: rewards, components, failures, groups; nothing is scored again."""
    reader = options.open_rollouts(scored, None, skip_bad=skip_bad)
    report = build_report(by, against)
    for rollout in require_scored(reader, build_selection(where, limit).select(reader)):
        report.add(rollout.trajectory, rollout.output)
    result = report.summary()
    if not quiet:
        options.report_input(reader)
    if json:
        print_json(report.to_dict(result))
    else:
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
