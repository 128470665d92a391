"""`plaudit harbor …`: run, check and attack Harbor tasks, and exchange rewards with them."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text
from typer import Argument, Option

from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED, UNSCORED, CommandGroup, OptionGroup
from plaudit.cli.console import print_result
from plaudit.errors import InvalidSettings
from plaudit.findings import Severity
from plaudit.harbor.audit.auditing import audit_task
from plaudit.harbor.checking import check_task
from plaudit.harbor.engines import ENGINES
from plaudit.harbor.exporting import export_tests
from plaudit.harbor.images import Runtime
from plaudit.harbor.jobs import read_trials, verify_job
from plaudit.harbor.reporting import TaskReport, each_task, junit_report
from plaudit.harbor.task import Task, find_tasks, read_task
from plaudit.harbor.trial import Trial, run_task
from plaudit.report.formatting import bare_table, count_noun
from plaudit.rollouts import RolloutsWriter

STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
Tasks = Annotated[list[Path], Argument(metavar="TASKS", help="Task folders, or folders of tasks.")]
Mode = Annotated[
    str | None,
    Option("--mode", metavar="MODE", help="separate: a fresh workspace and the agent's files; shared: the agent's."),
]
Junit = Annotated[Path | None, options.file_option("--junit", "Write JUnit XML here.")]


class Machine(OptionGroup):
    """Where and how tasks run."""

    base: Annotated[
        list[str] | None,
        Option(
            "--base",
            metavar="[IMAGE=]DIR|podman|docker",
            envvar="PLAUDIT_BASE",
            help="A root file system for an image, or for all; or the engine that builds and pulls images.",
        ),
    ] = None
    network: Annotated[
        str, Option("--network", metavar="WHO", help="What may use the network: none, build (RUN lines), host (all).")
    ] = "build"
    key: Annotated[str, Option("--key", metavar="NAME", help="Which number of reward.json is the reward.")] = "reward"
    workers: options.Workers = None

    @property
    def at_once(self) -> int:
        """The number of tasks that run at the same time."""
        return self.workers or os.cpu_count() or 1

    def runtime(self) -> Runtime:
        """The runtime that the options select."""
        if self.network not in ("none", "build", "host"):
            raise InvalidSettings(f"--network is none, build or host, got {self.network!r}")
        pairs = [each.rpartition("=")[::2] for each in self.base or []]
        engines = [folder for name, folder in pairs if not name and folder in ENGINES]
        if engines and len(pairs) > 1:
            raise InvalidSettings(f"--base {engines[0]} takes all images from it; leave out the other bases")
        if engines:
            return Runtime(network=self.network, engine=engines[0])
        return Runtime({name or "*": Path(folder) for name, folder in pairs}, self.network)


def run(
    tasks: Tasks,
    machine: Machine,
    output: options.Output,
    solution: Annotated[
        str, Option("--solution", "-s", metavar="oracle|nop|DIR", help="What the agent phase does.")
    ] = "oracle",
    tests: Annotated[Path | None, Option("--tests", metavar="DIR", help="Other tests than the task's.")] = None,
    mode: Mode = "separate",
    verbose: Annotated[bool, Option("--log", help="Show the end of what both phases printed.")] = False,
) -> int:
    """Run tasks with a solution and show their rewards.

    A task that cannot be run, or whose verifier leaves no valid reward, is not scored, with the reason; the exit code
    is then 3.
    """
    runtime = machine.runtime()
    with ThreadPoolExecutor(machine.at_once) as pool:
        work = lambda task: run_task(task, solution, runtime, mode=mode, key=machine.key, tests=tests)  # noqa: E731
        trials = list(pool.map(work, find_tasks(tasks)))
    output.show([trial.to_dict() for trial in trials], *_trial_lines(trials, verbose=verbose))
    return DONE if all(trial.output.ok for trial in trials) else UNSCORED


def check(
    tasks: Tasks,
    machine: Machine,
    output: options.Output,
    repeats: Annotated[int, Option("--repeats", min=1, help="Runs of the solution, and of doing nothing.")] = 2,
    mode: Mode = None,
    junit: Junit = None,
) -> int:
    """Check the files of a task, and that its solution earns exactly 1 and doing nothing exactly 0, every time."""
    work = partial(check_task, runtime=machine.runtime(), mode=mode, key=machine.key, repeats=repeats)
    return _report("plaudit harbor check", work, tasks, machine, junit, output)


def audit(tasks: Tasks, machine: Machine, output: options.Output, mode: Mode = None, junit: Junit = None) -> int:
    """Attack the verifiers of tasks, in the mode that each declares, with forgeries, stubs and mutants.

    The exit code is 1 if something that is no solution earned 1, or a correct solution did not.
    """
    work = partial(audit_task, runtime=machine.runtime(), mode=mode, key=machine.key)
    return _report("plaudit harbor audit", work, tasks, machine, junit, output)


def export(
    reward: options.Reward,
    out: Annotated[Path, options.out_folder("The tests/ folder to write.")],
    task: Annotated[
        Path | None, Option("--task", metavar="TASK", help="The task whose instruction is the prompt.")
    ] = None,
    response: Annotated[
        str, Option("--response", metavar="PATH", help="The file in which an agent leaves its response.")
    ] = "/app/response.txt",
    ground_truth: Annotated[str | None, Option("--ground-truth", metavar="TEXT", help="The right answer.")] = None,
    bundle: Annotated[bool, Option("--bundle", help="Copy plaudit and the packages that it needs.")] = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Write REWARD as the tests of a Harbor task; its components go to reward.json."""
    if (out / "test.sh").exists() and not overwrite:
        raise InvalidSettings(f"{out / 'test.sh'} exists; --overwrite replaces it")
    prompt = read_task(task).instruction if task is not None else ""
    columns = {} if ground_truth is None else {"ground_truth": ground_truth}
    files = export_tests(reward, out, prompt=prompt, response=response, columns=columns, bundles=bundle)
    print_result(*(Text(f"wrote {file}") for file in files))


def rollouts(
    job: Annotated[Path, Argument(metavar="JOB", help="A job folder that Harbor wrote, or one trial of it.")],
    out: Annotated[Path, options.out_file("The rollouts file to write.")],
    machine: Machine,
    tests: Annotated[
        Path | None, Option("--tests", metavar="DIR", help="Verify the recorded files again with these tests.")
    ] = None,
    tasks: Annotated[
        Path | None, Option("--tasks", metavar="TASKS", help="The tasks, to verify the recorded files again.")
    ] = None,
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
        trials = verify_job(job, find_tasks([tasks]), machine.runtime(), tests, machine.key)
    with RolloutsWriter(out, overwrite=overwrite) as writer:
        for each in trials:
            writer.write(each)
    unscored = [each for each in trials if each.output is None or not each.output.ok]
    print_result(f"wrote {count_noun(len(trials), 'trial')} to {out}, {len(unscored)} not scored")
    return DONE


def _trial_lines(trials: list[Trial], *, verbose: bool) -> list[RenderableType]:
    phases = ("agent", "verifier", "total")
    headers = (Column(name, overflow="fold") for name in ("solution", "mode", "reward", *phases))
    rows = (
        (
            trial.task, trial.solution, trial.mode, trial.outcome,
            *(f"{trial.seconds[phase]:.1f} s" if phase in trial.seconds else "–" for phase in phases),
        )
        for trial in trials
    )  # fmt: skip
    lines: list[RenderableType] = [bare_table("task", *headers, rows=rows)]
    lines += [Text(f"{trial.task}: {note}", style="dim") for trial in trials for note in trial.notes]
    return lines + ([Text(f"\n{trial.task}:\n{trial.log}") for trial in trials] if verbose else [])


def _report(
    name: str,
    work: Callable[[Task], TaskReport],
    tasks: list[Path],
    machine: Machine,
    junit: Path | None,
    output: options.Output,
) -> int:
    """Run a check of every task, and show what it found."""
    options.check_output(junit)
    reports = each_task(work, find_tasks(tasks), machine.at_once)
    if junit is not None:
        junit.write_bytes(junit_report(name, reports))
    output.show([report.to_dict() for report in reports], *_report_lines(reports))
    if any(report.failures for report in reports):
        return NOT_PASSED
    return DONE if all(report.passed for report in reports) else UNSCORED


def _report_lines(reports: list[TaskReport]) -> list[RenderableType]:
    headers = (Column(name, overflow="fold") for name in ("result", "mode", "trials", "time"))
    rows = (
        (report.task, _result_of(report), report.mode, str(report.trials), f"{report.seconds:.1f} s")
        for report in reports
    )
    lines: list[RenderableType] = [bare_table("task", *headers, rows=rows)]
    for report in reports:
        for finding in report.findings:
            title = f"\n{report.task}: {finding.severity}: {finding.kind}: {finding.message}"
            lines.append(Text(title, style=STYLES[finding.severity]))
            lines += [Text(f"  {line}", style="dim") for line in finding.witness.strip().splitlines()[:40]]
            lines += [Text(f"  remedy: {finding.remedy}")] if finding.remedy else []
        lines += [Text(f"{report.task}: {note}", style="dim") for note in report.notes]
    return lines


def _result_of(report: TaskReport) -> Text:
    if report.failures:
        return Text(count_noun(len(report.failures), "finding"), style="red")
    if report.passed:
        return Text("passed", style="green")
    return Text(f"{report.state}: {report.notes[-1]}", style="yellow")


harbor = CommandGroup(
    help="Run, check and attack Harbor tasks.",
    commands={"run": run, "check": check, "audit": audit, "export": export, "rollouts": rollouts},
)
