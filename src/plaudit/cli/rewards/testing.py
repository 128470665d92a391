"""`plaudit check` and `plaudit test`: prove the contract of a reward, and run a table of cases against it."""

from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import ResultLine, print_json, print_result, results_table
from plaudit.loading import load, spec_using
from plaudit.testing import CaseResult, Finding, Severity, check_reward, load_cases, run_cases
from plaudit.testing.cases.running import find_spec

__all__ = ["check", "test_command"]

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


SOME_FAILED = 1


def test_command(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[REWARD] CASES",
            help="A .yaml, .json, .jsonl or .csv table of responses and expectations; before it, the reward to test, "
            "where it is not the one that the table names.",
        ),
    ],
    dialect: options.Dialect = None,
    scope: options.Scope = None,
    max_batch: options.MaxBatch = None,
    chat_template: options.ChatTemplate = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Run the cases of a table against a reward; the exit code is 1 when one does not pass."""
    if len(arguments) > 2:
        raise typer.BadParameter(
            f"takes a reward and a table of cases, or a table alone; got {len(arguments)} arguments"
        )
    *reward, cases = arguments
    table = load_cases(Path(cases))
    spec = find_spec(table, reward[0] if reward else None)
    spec = spec_using(spec, dialect=dialect, scope=scope, max_batch=max_batch, chat_template=chat_template)
    results = run_cases(spec, table, deadline_s=deadline or None)
    failed = [result for result in results if not result.passed]
    if json:
        print_json([_plain(result) for result in results])
    else:
        passed = f"{len(results) - len(failed)} of {len(results)} cases passed"
        print_result(results_table("case", map(_line, results)), passed)
    return SOME_FAILED if failed else 0


def _line(result: CaseResult) -> ResultLine:
    return ResultLine(result.passed, result.case.name, result.explanation)


def _plain(result: CaseResult) -> dict[str, object]:
    return {
        "case": result.case.name,
        "passed": result.passed,
        "explanation": result.explanation,
        "output": result.output.to_dict(),
    }
