"""`plaudit check`: prove the contract of a reward."""

from dataclasses import asdict
from itertools import islice
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result
from plaudit.loading import load, spec_using
from plaudit.testing import Finding, Severity, check_reward

__all__ = ["check"]

BROKEN = 1
STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}


def check(
    reward: options.Reward,
    rollouts: Annotated[
        str | None, typer.Argument(metavar="[ROLLOUTS]", help="Samples of your own to try it on as well.")
    ] = None,
    limit: options.Limit = 200,
    dialect: options.Dialect = None,
    scope: options.Scope = None,
    max_batch: options.MaxBatch = None,
    chat_template: options.ChatTemplate = None,
    columns: options.Columns = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    json: options.Json = False,
) -> int:
    """Try REWARD on difficult responses, twice, alone, in another order and in a new process; say what it breaks.

    The exit code is 1 when the contract is broken; warnings do not count.
    """
    reward = spec_using(reward, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    samples = rollouts and [rollout.trajectory for rollout in islice(options.open_rollouts(rollouts, columns), limit)]
    if samples:
        options.check_truth(load(reward), samples)
    findings = check_reward(reward, samples or None, deadline_s=deadline or None)
    if json:
        shown = ("rule", "severity", "message", "sample", "remedy")
        print_json([{name: asdict(finding)[name] for name in shown} for finding in findings])
    elif findings:
        print_result(*(_render(finding) for finding in findings))
    else:
        print_result("nothing found: it keeps the contract on every sample tried")
    return BROKEN if any(finding.severity is Severity.ERROR for finding in findings) else 0


def _render(finding: Finding) -> RenderableType:
    lines = f"{finding.message}\nresponse: {finding.sample}\nremedy: {finding.remedy}\n"
    title = Text(f"{finding.severity}: {finding.rule}", style=STYLES[finding.severity])
    return Group(title, Padding(Text(lines), (0, 0, 0, 2)))
