"""`plaudit test`: run a table of cases against a reward."""

from pathlib import Path
from typing import Annotated

import typer

from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import JsonOption, QuietOption, RewardArgument
from plaudit.cli.results import ResultLine, results_table
from plaudit.testing import CaseResult, load_cases, run_cases

__all__ = ["test_command"]

SOME_FAILED = 1


def test_command(
    reward: RewardArgument,
    cases: Annotated[
        Path,
        typer.Argument(metavar="CASES", help="A .yaml, .json, .jsonl or .csv table of responses and expectations."),
    ],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run the cases of a table against REWARD; the exit code is 1 when one does not pass."""
    results = run_cases(reward, load_cases(cases))
    failed = [result for result in results if not result.passed]
    if json:
        print_json([_plain(result) for result in results])
    elif not quiet:
        print_result(
            results_table("case", map(_line, results)), f"{len(results) - len(failed)} of {len(results)} cases passed"
        )
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
