"""`plaudit test`: run a table of cases against a reward."""

from pathlib import Path
from typing import Annotated

import typer

from plaudit.cli import options
from plaudit.cli.console import ResultLine, print_json, print_result, results_table
from plaudit.loading import spec_using
from plaudit.testing import CaseResult, load_cases, run_cases
from plaudit.testing.cases.running import find_spec

__all__ = ["test_command"]

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
