"""`plaudit eval`: how good a model is on held-out prompts, apart from any training."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.cli.progress import show_progress
from plaudit.contract.function import RewardLike
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings
from plaudit.report.coverage import format_mean
from plaudit.report.formatting import bare_table
from plaudit.rollouts import RolloutsWriter, ScoredRollout

__all__ = ["evaluate"]

FIGURES = {
    "greedy": "greedy score", "greedy_reward": "greedy reward", "score": "mean score", "reward": "mean reward",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Exam:
    """Prompts, and what judges the responses to them; a built-in task's own reward is quick and needs no deadline."""

    prompts: "training.Prompts"
    reward: RewardLike | str
    deadline_s: float | None


def evaluate(
    model: options.Model,
    tasks: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="TASK", help="A task of `plaudit tasks`; several are shown one by one."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Prompts with ground truths, as `data.path` takes them."),
    ] = None,
    reward: Annotated[
        str | None, typer.Option("--reward", metavar="REWARD", help="What judges; a task has a reward of its own.")
    ] = None,
    columns: options.Columns = None,
    limit: options.Limit = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many responses to each prompt.")] = 8,
    pass_at: Annotated[
        list[int] | None, typer.Option("--pass-at", "-k", metavar="K", help="pass@K; may be given several times.")
    ] = None,
    temperature: options.Temperature = 1.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Keep every scored sample as a rollouts file."),
    ] = None,
    served: options.ServedModel = None,
    api_key_env: options.KeyVariable = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Evaluate a model: mean score, pass@k and the likeliest response, with 95 % intervals over the prompts."""
    exams = _exams(model, tasks or [], data, reward, options.column_mapping(columns), limit)
    settings = training.EvalConfig(
        samples_per_prompt=count, pass_at=tuple(pass_at or [1]), temperature=temperature, greedy=temperature > 0
    )
    trained = training.open_model(model, model=served, api_key_env=api_key_env)
    total = sum(len(exam.prompts) for exam in exams) * (count + settings.greedy)
    evaluated: list[training.EvaluatedTask] = []
    with ExitStack() as stack:
        tick = stack.enter_context(show_progress("evaluating", total, quiet=quiet))
        writer = None if out is None else stack.enter_context(RolloutsWriter(out))

        def keep(rollout: ScoredRollout) -> None:
            tick(rollout.output)
            if writer is not None:
                writer.write(rollout)

        for exam in exams:
            backend = "inline" if exam.deadline_s is None else "processes"
            with Scorer(exam.reward, backend=backend, deadline_s=exam.deadline_s) as scorer:
                options.check_truth(scorer.reward, exam.prompts)
                evaluated += training.evaluate_model(trained, exam.prompts, scorer, settings, keep)
    if json:
        print_json([task.to_dict() for task in evaluated])
    else:
        print_result(_table(evaluated))
    if out is not None and not quiet:
        print_message(f"every sample is in {out}")
    return 0


def _exams(
    model: str, tasks: list[str], data: Path | None, reward: str | None, columns: dict[str, str], limit: int | None
) -> list[_Exam]:
    """The prompts to evaluate on: tasks, a data file, or the held-out prompts of the run."""
    if tasks and data is not None:
        raise InvalidSettings("either --task or --data says what to ask, not both")
    if data is not None:
        if reward is None:
            raise InvalidSettings(f"{data} says what to ask, but nothing says what is good: add --reward REWARD")
        return [_Exam(training.read_prompts(data, columns=columns, limit=limit), reward, options.DEFAULT_DEADLINE_S)]
    if tasks:
        return [_task_exam(training.find_task(name), reward, limit) for name in tasks]
    run_task = training.load_run_task(model, reward)
    if run_task is None:
        known = ", ".join(training.TASKS)
        raise InvalidSettings(
            f"say what to ask: --task NAME ({known}, …: see `plaudit tasks`), or --data FILE with --reward REWARD"
        )
    if not run_task.held_out:
        raise InvalidSettings(
            f"the run in {model} held no prompts out; say what to ask: --data FILE with --reward REWARD"
        )
    return [_task_exam(run_task, reward, limit)]


def _task_exam(task: "training.Task", reward: str | None, limit: int | None) -> _Exam:
    rows = (msgspec.structs.replace(row, task=row.task or task.name) for row in task.held_out[:limit])
    judge = task.reward if reward is None else reward
    if judge is None:
        raise InvalidSettings(f"{task.name} is judged by an agent's environment; say what judges here: --reward REWARD")
    is_quick = reward is None and task.runs_inline
    return _Exam(training.Prompts(tuple(rows)), judge, None if is_quick else options.DEFAULT_DEADLINE_S)


def _table(evaluated: "list[training.EvaluatedTask]") -> Table:
    table = bare_table("task", "figure", "value", "95 % interval", "prompts")
    for task in evaluated:
        names = sorted(task.figures, key=lambda name: (name.endswith("reward"), name))
        for index, name in enumerate(names):
            figure = task.figures[name]
            table.add_row(
                (task.task or "data") if index == 0 else "",
                FIGURES.get(name, name),
                format_mean(figure.covered_mean),
                "unknown" if figure.low is None else f"{figure.low:.3f} to {figure.high:.3f}",
                f"{task.prompts:,}" if index == 0 else "",
            )
        if task.unscored:
            table.add_row("", "not scored", f"{task.unscored:,} of {task.samples:,} samples", "", "")
    return table
