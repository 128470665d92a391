"""`plaudit harbor …`: run, check and attack Harbor tasks, and exchange rewards with them."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from plaudit.cli import options
from plaudit.cli.console import print_json, print_result, reserve_stdout
from plaudit.errors import InvalidSettings
from plaudit.findings import Severity
from plaudit.harbor.audit.auditing import audit_task
from plaudit.harbor.checking import check_task
from plaudit.harbor.engines import ENGINES
from plaudit.harbor.exporting import export_tests
from plaudit.harbor.images import Runtime
from plaudit.harbor.jobs import read_trials, verify_job
from plaudit.harbor.reporting import TaskReport, each_task, junit_report
from plaudit.harbor.task import find_tasks, read_task
from plaudit.harbor.trial import Trial, run_task
from plaudit.report.formatting import bare_table, count_noun
from plaudit.rollouts import RolloutsWriter

__all__ = ["harbor"]

harbor = typer.Typer(name="harbor", no_args_is_help=True, help="Run, check and attack Harbor tasks.")

PASSED, FAILED, UNSCORED = 0, 1, 3
STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
Tasks = Annotated[list[Path], typer.Argument(metavar="TASKS", help="Task folders, or folders of tasks.")]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="separate: the verifier gets a fresh workspace and the agent's files; shared: it runs in the agent's.",
    ),
]
Bases = Annotated[
    list[str] | None,
    typer.Option(
        "--base",
        metavar="[IMAGE=]DIR|podman|docker",
        envvar="PLAUDIT_BASE",
        help="A root file system for an image, or for all; or the engine that builds and pulls images.",
    ),
]
Network = Annotated[
    str, typer.Option("--network", metavar="WHO", help="Who has the machine's network: none, build (RUN), host (all).")
]
Key = Annotated[str, typer.Option("--key", metavar="NAME", help="Which number of reward.json is the reward.")]
AtOnce = Annotated[int | None, typer.Option("--workers", "-w", min=1, help="Tasks at once; one per core by default.")]
Junit = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML here.")]


@harbor.command()
@reserve_stdout()
def run(
    tasks: Tasks,
    solution: Annotated[
        str, typer.Option("--solution", "-s", metavar="oracle|nop|DIR", help="What the agent phase does.")
    ] = "oracle",
    tests: Annotated[Path | None, typer.Option("--tests", metavar="DIR", help="Other tests than the task's.")] = None,
    mode: Mode = "separate",
    base: Bases = None,
    network: Network = "build",
    key: Key = "reward",
    workers: AtOnce = None,
    verbose: Annotated[bool, typer.Option("--log", help="Show the end of what both phases printed.")] = False,
    json: options.Json = False,
) -> int:
    """Run tasks with a solution and show their rewards.

    A task that cannot be run, or whose verifier leaves no valid reward, is not scored, with the reason; the exit code
    is then 3.
    """
    runtime = _runtime(base, network)
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        work = lambda task: run_task(task, solution, runtime, mode=mode, key=key, tests=tests)  # noqa: E731
        trials = list(pool.map(work, find_tasks(tasks)))
    if json:
        print_json([trial.to_dict() for trial in trials])
    else:
        print_result(*_trial_lines(trials, verbose=verbose))
    return PASSED if all(trial.output.ok for trial in trials) else UNSCORED


@harbor.command()
@reserve_stdout()
def check(
    tasks: Tasks,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of the solution, and of doing nothing.")] = 2,
    mode: Mode = None,
    base: Bases = None,
    network: Network = "build",
    key: Key = "reward",
    workers: AtOnce = None,
    junit: Junit = None,
    json: options.Json = False,
) -> int:
    """Check that the solution earns exactly 1 and doing nothing exactly 0, every time, and what the folder holds."""
    options.check_output(junit)
    runtime = _runtime(base, network)
    work = lambda task: check_task(task, runtime, mode=mode, key=key, repeats=repeats)  # noqa: E731
    reports = each_task(work, find_tasks(tasks), workers or os.cpu_count() or 1)
    return _show("plaudit harbor check", reports, junit, json=json)


@harbor.command()
@reserve_stdout()
def audit(
    tasks: Tasks,
    mode: Mode = None,
    base: Bases = None,
    network: Network = "build",
    key: Key = "reward",
    workers: AtOnce = None,
    junit: Junit = None,
    json: options.Json = False,
) -> int:
    """Attack the verifiers of tasks, in the mode that each declares, with forgeries, stubs and mutants.

    The exit code is 1 if something that is no solution earned 1, or a correct solution did not.
    """
    options.check_output(junit)
    runtime = _runtime(base, network)
    work = lambda task: audit_task(task, runtime, mode=mode, key=key)  # noqa: E731
    reports = each_task(work, find_tasks(tasks), workers or os.cpu_count() or 1)
    return _show("plaudit harbor audit", reports, junit, json=json)


@harbor.command()
@reserve_stdout()
def export(
    reward: options.Reward,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The tests/ folder to write.")],
    task: Annotated[
        Path | None, typer.Option("--task", metavar="TASK", help="The task whose instruction is the prompt.")
    ] = None,
    response: Annotated[
        str, typer.Option("--response", metavar="PATH", help="The file in which an agent leaves its response.")
    ] = "/app/response.txt",
    ground_truth: Annotated[
        str | None, typer.Option("--ground-truth", metavar="TEXT", help="The right answer.")
    ] = None,
    bundle: Annotated[bool, typer.Option("--bundle", help="Copy plaudit and the packages that it needs.")] = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Write REWARD as the tests of a Harbor task; its components go to reward.json."""
    if (out / "test.sh").exists() and not overwrite:
        raise InvalidSettings(f"{out / 'test.sh'} exists; --overwrite replaces it")
    prompt = read_task(task).instruction if task is not None else ""
    columns = {} if ground_truth is None else {"ground_truth": ground_truth}
    files = export_tests(reward, out, prompt=prompt, response=response, columns=columns, bundles=bundle)
    print_result(*(Text(f"wrote {file}") for file in files))


@harbor.command()
@reserve_stdout()
def rollouts(
    job: Annotated[Path, typer.Argument(metavar="JOB", help="A job folder that Harbor wrote, or one trial of it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The rollouts file to write.")],
    tests: Annotated[
        Path | None, typer.Option("--tests", metavar="DIR", help="Verify the recorded files again with these tests.")
    ] = None,
    tasks: Annotated[
        Path | None, typer.Option("--tasks", metavar="TASKS", help="The tasks, to verify the recorded files again.")
    ] = None,
    base: Bases = None,
    network: Network = "build",
    key: Key = "reward",
    overwrite: options.Overwrite = False,
) -> int:
    """Write the trials of a Harbor job as rollouts, for `plaudit score`, `report` and `diff`.

    With --tasks, each trial gets the reward that the task's verifier, or --tests, gives its recorded files now; the
    agents are not run again.
    """
    options.check_output(out)
    if tests is not None and tasks is None:
        raise InvalidSettings("--tests needs --tasks: the image in which the tests run")
    trials = [each.rollout for each in read_trials(job)]
    if tasks is not None:
        trials = verify_job(job, find_tasks([tasks]), _runtime(base, network), tests, key)
    with RolloutsWriter(out, overwrite=overwrite) as writer:
        for each in trials:
            writer.write(each)
    unscored = [each for each in trials if each.output is None or not each.output.ok]
    print_result(f"wrote {count_noun(len(trials), 'trial')} to {out}, {len(unscored)} not scored")
    return PASSED


def _runtime(bases: list[str] | None, network: str) -> Runtime:
    if network not in ("none", "build", "host"):
        raise InvalidSettings(f"--network is none, build or host, got {network!r}")
    pairs = [each.rpartition("=")[::2] for each in bases or []]
    engines = [folder for name, folder in pairs if not name and folder in ENGINES]
    if engines and len(pairs) > 1:
        raise InvalidSettings(f"--base {engines[0]} takes all images from it; leave out the other bases")
    if engines:
        return Runtime(network=network, engine=engines[0])
    return Runtime({name or "*": Path(folder) for name, folder in pairs}, network)


def _trial_lines(trials: list[Trial], *, verbose: bool) -> list[RenderableType]:
    table = bare_table("task")
    for name in ("solution", "mode", "reward", "agent", "verifier", "total"):
        table.add_column(name, overflow="fold")
    for trial in trials:
        times = [
            f"{trial.seconds[phase]:.1f} s" if phase in trial.seconds else "–"
            for phase in ("agent", "verifier", "total")
        ]
        table.add_row(trial.task, trial.solution, trial.mode, Text(trial.outcome), *times)
    lines: list[RenderableType] = [table]
    lines += [Text(f"{trial.task}: {note}", style="dim") for trial in trials for note in trial.notes]
    return lines + ([Text(f"\n{trial.task}:\n{trial.log}") for trial in trials] if verbose else [])


def _show(name: str, reports: list[TaskReport], junit: Path | None, *, json: bool) -> int:
    if junit is not None:
        junit.write_bytes(junit_report(name, reports))
    if json:
        print_json([report.to_dict() for report in reports])
    else:
        print_result(*_report_lines(reports))
    if any(report.failures for report in reports):
        return FAILED
    return PASSED if all(report.passed for report in reports) else UNSCORED


def _report_lines(reports: list[TaskReport]) -> list[RenderableType]:
    table = bare_table("task")
    for column in ("result", "mode", "trials", "time"):
        table.add_column(column, overflow="fold")
    for report in reports:
        verdict = (
            count_noun(len(report.failures), "finding")
            if report.failures
            else "passed"
            if report.passed
            else f"{report.state}: {report.notes[-1]}"
        )
        style = "red" if report.failures else "green" if report.passed else "yellow"
        table.add_row(
            report.task, Text(verdict, style=style), report.mode, str(report.trials), f"{report.seconds:.1f} s"
        )
    lines: list[RenderableType] = [table]
    for report in reports:
        for finding in report.findings:
            lines.append(
                Text(
                    f"\n{report.task}: {finding.severity}: {finding.kind}: {finding.message}",
                    style=STYLES[finding.severity],
                )
            )
            lines += [Text(f"  {line}", style="dim") for line in finding.witness.strip().splitlines()[:40]]
            lines += [Text(f"  remedy: {finding.remedy}")] if finding.remedy else []
        lines += [Text(f"{report.task}: {note}", style="dim") for note in report.notes]
    return lines
