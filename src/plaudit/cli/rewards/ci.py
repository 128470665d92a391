"""`plaudit ci`, `plaudit mutate` and `plaudit lock`: rewards of a project, checked before a change is merged."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from plaudit.ci import STEPS, measure_mutations, read_project, run_ci, write_comment, write_lock
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result, print_text
from plaudit.settings import check_choice

__all__ = ["ci", "lock", "mutate"]

REGRESSION = 1
Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder of pyproject.toml.")]


def ci(
    folder: Folder = Path(),
    against: Annotated[
        str | None, typer.Option("--against", metavar="REF", help="Compare with this commit, not with the newest tag.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="STEP", help=f"Only this: {', '.join(STEPS)}; repeatable.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the Markdown comment here.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Test, check and attack the rewards of a project, and compare them with its last release.

    The rewards and the limits are in the table [tool.plaudit.ci] of pyproject.toml. The result is one Markdown
    comment, for a pull request. The exit code is 1 when a step has failed.
    """
    for step in only or ():
        check_choice("step", step, STEPS)
    options.check_output(out)
    project = read_project(folder)
    show = (lambda reward, step: None) if quiet else (lambda reward, step: print_message(f"… {reward}: {step}"))
    report = run_ci(project, against=against, steps=only or (), on_step=show)
    comment = write_comment(report)
    if out is not None:
        out.write_text(comment, encoding="utf-8")
    if json:
        print_json(report.to_dict())
    elif out is None:
        print_text(comment)
    return 0 if report.passed else REGRESSION


def mutate(
    reward: options.Reward,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="The case table that should notice each change.")],
    most: Annotated[int, typer.Option("--most", min=1, help="The most mutants to try, spread over the file.")] = 100,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long all of it may take.")] = 600.0,
    json: options.Json = False,
) -> int:
    """Change REWARD in small ways, one at a time, and list the changes that no case of CASES notices.

    The exit code is 1 when a mutant survives.
    """
    measured = measure_mutations(reward, cases, most=most, seconds=seconds)
    if json:
        print_json(measured.to_dict())
        return REGRESSION if measured.survived else 0
    kinds = Counter(each.kind for each in measured.survived)
    for each in measured.survived:
        print_text(f"line {each.line}: {each.kind}\n{each.diff}\n\n")
    survived = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    print_text(
        f"{measured.killed} of {measured.killed + len(measured.survived)} mutants killed, {measured.timed_out} of them "
        f"by the time limit; survived: {survived}\nnot counted: {measured.unloadable} that cannot be loaded, "
        f"{measured.equivalent} equivalent, {measured.untried} not tried\n"
    )
    return REGRESSION if measured.survived else 0


def lock(folder: Folder = Path()) -> None:
    """Write reward.lock: content key, hashes of the data, and a card for each reward of a project."""
    project = read_project(folder)
    path = write_lock(project)
    print_result(f"{path.name} holds {', '.join(project.settings.rewards)}; `plaudit ci` compares it")
