"""`plaudit tasks`: list the tasks for training and evaluation, and show the prompts of one."""

import inspect
from typing import Annotated, Any

import typer
from rich.text import Text

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.errors import MissingPackage
from plaudit.report.formatting import bare_table
from plaudit.trajectory import Trajectory

__all__ = ["tasks"]

MAX_VALUE = 300


def tasks(
    spec: Annotated[
        str | None,
        typer.Argument(metavar="[TASK]", help="sort_digits, reasoning_gym:NAME, my_task.py:NAME, with (options=…)."),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many prompts to show.")] = 3,
    json: options.Json = False,
) -> int:
    """List the tasks that can be named, or show what one of them asks, how hard that is, and what is right."""
    return _list(as_json=json) if spec is None else _show(spec, count, as_json=json)


def _list(*, as_json: bool) -> int:
    summaries = {name: (inspect.getdoc(make) or "").partition("\n")[0] for name, make in training.TASKS.items()}
    missing = ""
    try:
        summaries |= {f"reasoning_gym:{name}": text for name, text in training.reasoning_task_names().items()}
    except MissingPackage as error:
        missing = str(error)
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in summaries.items()])
        return 0
    table = bare_table()
    table.add_column("name", style="bold", no_wrap=True, min_width=max(map(len, summaries)))
    table.add_column("what it asks", no_wrap=True, overflow="ellipsis")
    for name, summary in summaries.items():
        table.add_row(name, Text(summary))
    also = "\nAlso my_task.py:NAME. `plaudit tasks NAME` shows one of them."
    print_result(table, also)
    if missing:
        print_message(missing)
    return 0


def _show(spec: str, count: int, *, as_json: bool) -> int:
    task = training.find_task(spec)
    rows = [*task.prompts, *task.held_out]
    levels = training.Levels.of_usable(rows)
    per_level = {name: sum(levels.label(row) == name for row in rows) for name in levels.all}
    shown = _pick(task, levels, count)
    if as_json:
        print_json(
            {
                "name": task.name,
                "prompts": len(task.prompts),
                "held_out": len(task.held_out),
                "reward": str(task.reward),
                "max_new_tokens": task.max_new_tokens,
                "difficulty": per_level,
                "notes": list(task.notes),
                "examples": [_plain(row, task) for row in shown],
            }
        )
        return 0
    about = bare_table()
    about.add_column(style="bold", no_wrap=True)
    about.add_column()
    about.add_row("prompts", f"{len(task.prompts):,} to train on, {len(task.held_out):,} held out")
    about.add_row("reward", Text(str(task.reward)))
    if per_level:
        about.add_row("difficulty", Text(", ".join(f"{name}: {number:,}" for name, number in per_level.items())))
    for note in task.notes:
        about.add_row("note", Text(note))
    examples = bare_table()
    examples.add_column(style="bold", no_wrap=True)
    examples.add_column()
    for row in shown:
        for name, value in _plain(row, task).items():
            examples.add_row(name, Text(_shorten(value)))
        examples.add_row("", "")
    print_result(Text(task.name, style="bold"), about, "", examples)
    return 0


def _pick(task: "training.Task", levels: "training.Levels", count: int) -> list[Trajectory]:
    """Prompts to show: of each level in turn, from easy to hard."""
    names: list[str | None] = [*levels.all] or [None]
    by_level = [[row for row in task.prompts if levels.label(row) == name] for name in names]
    deepest = max(map(len, by_level), default=0)
    turns = (rows[turn] for turn in range(min(deepest, count)) for rows in by_level if turn < len(rows))
    return [row for row, _ in zip(turns, range(count), strict=False)]


def _plain(row: Trajectory, task: "training.Task") -> dict[str, Any]:
    values = {"prompt": row.prompt_text, "difficulty": row.columns.get("difficulty"), "right": task.respond(row)}
    return {name: value for name, value in values.items() if value is not None}


def _shorten(value: Any) -> str:
    text = str(value).strip()
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
