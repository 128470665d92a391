"""Test rewards: `plaudit check` and `test` for one reward, `mutate`, `ci` and `lock` for those of a project."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from typer import Argument, Option

from plaudit.ci import STEPS, measure_mutations, read_project, run_ci, write_comment, write_lock
from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED
from plaudit.cli.console import ResultLine, print_result, results_table
from plaudit.loading import load
from plaudit.settings import check_choice
from plaudit.testing import Finding, Severity, check_reward, load_cases, run_cases
from plaudit.testing.cases.running import find_spec

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
FIRST_SAMPLES = options.Rows(limit=200)
CASES = "A .yaml, .json, .jsonl or .csv table of responses and expectations"


def check(
    reward: options.Reward,
    reading: options.Reading,
    output: options.Output,
    rollouts: options.MoreRollouts = None,
    rows: options.Rows = FIRST_SAMPLES,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
) -> int:
    """Check REWARD on difficult responses, twice, alone, in another order, in a new process; list broken rules.

    The exit code is 1 when the contract is broken; warnings do not count.
    """
    spec = reading.spec(reward)
    samples = rows.read_samples(rollouts)
    if samples:
        options.check_truth(load(spec), samples)
    findings = check_reward(spec, samples or None, deadline_s=deadline or None)
    kept = ("rule", "severity", "message", "sample", "remedy")
    lines = map(_render, findings) if findings else ["nothing found: it keeps the contract on every sample tried"]
    output.show([{name: asdict(finding)[name] for name in kept} for finding in findings], *lines)
    return NOT_PASSED if any(finding.severity is Severity.ERROR for finding in findings) else DONE


def _render(finding: Finding) -> RenderableType:
    lines = f"{finding.message}\nresponse: {finding.sample}\nremedy: {finding.remedy}\n"
    title = Text(f"{finding.severity}: {finding.rule}", style=STYLES[finding.severity])
    return Group(title, Padding(Text(lines), (0, 0, 0, 2)))


def test_command(
    arguments: Annotated[
        list[str],
        Argument(metavar="[REWARD] CASES", help=f"{CASES}; put a reward before it if the table names none or another."),
    ],
    reading: options.Reading,
    output: options.Output,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
) -> int:
    """Run the cases of a table against a reward; the exit code is 1 when one does not pass."""
    if len(arguments) > 2:
        raise typer.BadParameter(
            f"takes a reward and a table of cases, or a table alone; got {len(arguments)} arguments"
        )
    *reward, cases = arguments
    table = load_cases(Path(cases))
    spec = reading.spec(find_spec(table, reward[0] if reward else None))
    results = run_cases(spec, table, deadline_s=deadline or None)
    passed = sum(each.passed for each in results)
    lines = [ResultLine(each.passed, each.case.name, each.explanation) for each in results]
    plain = [
        {
            "case": each.case.name,
            "passed": each.passed,
            "explanation": each.explanation,
            "output": each.output.to_dict(),
        }
        for each in results
    ]
    output.show(plain, results_table("case", lines), f"{passed} of {len(results)} cases passed")
    return NOT_PASSED if passed < len(results) else DONE


def ci(
    output: options.Output,
    folder: options.Folder = Path(),
    against: Annotated[
        str | None, Option("--against", metavar="REF", help="Compare with this commit, not with the newest tag.")
    ] = None,
    only: Annotated[
        list[str] | None, Option("--only", metavar="STEP", help=f"Only this: {', '.join(STEPS)}; repeatable.")
    ] = None,
    out: Annotated[Path | None, options.out_file("Write the Markdown comment here.")] = None,
) -> int:
    """Test, check and attack the rewards of a project, and compare them with its last release.

    The rewards and the limits are in pyproject.toml, in the table `tool.plaudit.ci`. The result is one Markdown
    comment, for a pull request. The exit code is 1 when a step has failed.
    """
    for step in only or ():
        check_choice("step", step, STEPS)
    options.check_output(out)
    project = read_project(folder)
    on_step = lambda reward, step: output.note(f"… {reward}: {step}")  # noqa: E731
    report = run_ci(project, against=against, steps=only or (), on_step=on_step)
    comment = write_comment(report)
    if out is not None:
        out.write_text(comment, encoding="utf-8")
    if output.json or out is None:
        output.show_text(report.to_dict(), comment)
    return DONE if report.passed else NOT_PASSED


def mutate(
    reward: options.Reward,
    cases: Annotated[Path, Argument(metavar="CASES", help="The case table that should notice each change.")],
    output: options.Output,
    most: Annotated[int, Option("--most", min=1, help="The most mutants to try, spread over the file.")] = 100,
    seconds: Annotated[float, Option("--seconds", min=0.1, help="Time limit for all mutants.")] = 600.0,
) -> int:
    """Change REWARD in small ways, one at a time, and list the changes that no case of CASES notices.

    The exit code is 1 when a mutant survives.
    """
    measured = measure_mutations(reward, cases, most=most, seconds=seconds)
    kinds = Counter(each.kind for each in measured.survived)
    survived = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    changes = "".join(f"line {each.line}: {each.kind}\n{each.diff}\n\n" for each in measured.survived)
    tried = measured.killed + len(measured.survived)
    counts = (
        f"{measured.killed} of {tried} mutants killed, {measured.timed_out} of them by the time limit; survived: "
        f"{survived}\nnot counted: {measured.unloadable} that cannot be loaded, {measured.equivalent} equivalent, "
        f"{measured.untried} not tried\n"
    )
    output.show_text(measured.to_dict(), changes + counts)
    return NOT_PASSED if measured.survived else DONE


def lock(folder: options.Folder = Path()) -> None:
    """Write reward.lock: content key, hashes of the data, and a card for each reward of a project."""
    project = read_project(folder)
    path = write_lock(project)
    print_result(f"{path.name} holds {', '.join(project.settings.rewards)}; `plaudit ci` compares it")
