"""The built-in tasks, and how tasks are found by spec: built in, of reasoning-gym, or of a user's file.

| spec | what it is |
|---|---|
| `sort_digits`, `sort_digits(digits=5)` | built in |
| `reasoning_gym:chain_sum` | a data set of reasoning-gym |
| `my_task.py:double`, `package.module:double` | a function that returns a `Task`, or a `Task` |
"""

import inspect
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings, PlauditError, RewardNotLoaded, did_you_mean
from plaudit.loading.building import reward
from plaudit.loading.execution.statements import check_complete
from plaudit.loading.expressions import parse_call
from plaudit.loading.failures import explain_failures
from plaudit.loading.importing import module_at, module_from_file
from plaudit.training.data.sources import FILES
from plaudit.training.tasks.reasoning_tasks import reasoning_task
from plaudit.training.tasks.task import Task

__all__ = ["FAMILIES", "TASKS", "Task", "addition", "find_task", "list_options", "sort_digits", "sorts_digits"]


@reward(bounds=(0.0, 1.0))
def sorts_digits(response: str, ground_truth: str) -> RewardOutput:
    """1.0 when the response is the sorted digits and nothing else, else 0.0; "123" is not "0123" sorted."""
    answer = response.strip()
    right = float(answer == ground_truth)
    return RewardOutput(right, score=right, reason=f"{answer!r:.40}, sorted is {ground_truth!r}")


def sort_digits(*, digits: int = 4, held_out: int = 256, seed: int = 0, size: int = 10_000) -> Task:
    """Sort `digits` digits; a prompt that is held out never occurs in training, not even by chance."""
    numbers = sorted(random.Random(seed).sample(range(10**digits), min(size, 10**digits)))
    texts = [f"{number:0{digits}d}" for number in numbers]
    task = Task.from_rows(
        "sort_digits",
        [{"prompt": f"{text}=", "ground_truth": "".join(sorted(text)), "id": text} for text in texts],
        f"{__name__}:sorts_digits",
        held_out=held_out,
        seed=seed,
        max_new_tokens=digits + 2,
        warm_start_steps=25,
    )
    return replace(task, runs_inline=True)


def addition(*, below: int = 20, held_out: int = 64, seed: int = 0) -> Task:
    """Add two numbers below `below`; each pair is either trained on or held out."""
    pairs = [(first, second) for first in range(below) for second in range(below)]
    task = Task.from_rows(
        "addition",
        [{"prompt": f"{a}+{b}=", "ground_truth": str(a + b), "id": f"{a}+{b}"} for a, b in pairs],
        "exact_match",
        held_out=held_out,
        seed=seed,
        max_new_tokens=len("<answer></answer>") + len(str(2 * below)) + 2,
        respond=lambda row: f"<answer>{row.ground_truth}</answer>",
        warm_start_steps=150,
    )
    return replace(task, runs_inline=True)


TASKS: dict[str, Callable[..., Task]] = {"sort_digits": sort_digits, "addition": addition}
"""Every built-in task by name."""
FAMILIES: dict[str, Callable[..., Task]] = {"reasoning_gym": reasoning_task}
"""Tasks that are named after a colon: `reasoning_gym:NAME`."""

_SPEC = re.compile(r"(?P<name>[^(]+?)\s*(?P<arguments>\(.*\))?", re.DOTALL)
_FILE = re.compile(r"(?P<path>.+?\.py)(?::(?P<member>\w+))?")
KEPT = 16


def find_task(spec: str, options: Mapping[str, Any] | None = None) -> Task:
    """The task that a spec names, with its options, which may also follow the name in brackets.

    Built-in tasks are made once, since their prompts never change.
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise InvalidSettings(f"{spec!r} names no task; write a name such as sort_digits, or reasoning_gym:chain_sum")
    arguments = {**_read_arguments(spec, match["arguments"]), **(options or {})}
    return _find(match["name"], arguments)


def list_options(make: Callable[..., Task]) -> dict[str, str]:
    """The options of a task with their defaults, as they are written."""
    return {
        each.name: repr(each.default)
        for each in inspect.signature(make).parameters.values()
        if each.kind is each.KEYWORD_ONLY
    }


def _find(name: str, options: Mapping[str, Any]) -> Task:
    family, _, member = name.partition(":")
    if name in TASKS:
        return _make_once(name, json.dumps(options, sort_keys=True, default=repr))
    if family in FAMILIES and member:
        return _call(FAMILIES[family], name, options, member)
    if name.endswith(FILES):
        raise InvalidSettings(f"{name} is a data file, which data.path={name} reads")
    if (match := _FILE.fullmatch(name)) is not None:
        module = module_from_file(Path.cwd() / Path(match["path"]).expanduser())
        return _take(module, match["member"], name, options)
    if member:
        imported, left = module_at(family, Path.cwd())
        if imported is None or left:
            raise InvalidSettings(f"no task {name!r}: there is no module {family!r}{did_you_mean(family, FAMILIES)}")
        return _take(imported, member, name, options)
    raise InvalidSettings(
        f"no task named {name!r}{did_you_mean(name, TASKS)} (there are {', '.join(TASKS)}, reasoning_gym:NAME "
        "and my_task.py:NAME; `plaudit tasks` lists them)"
    )


@lru_cache(maxsize=KEPT)
def _make_once(name: str, options: str) -> Task:
    return _call(TASKS[name], name, json.loads(options))


def _take(module: ModuleType, member: str | None, name: str, options: Mapping[str, Any]) -> Task:
    """The task `member` of a module, or its only task."""
    tasks = {
        each: value for each, value in vars(module).items() if not each.startswith("_") and _is_task(value, module)
    }
    if member is None:
        if len(tasks) != 1:
            fault = f"{len(tasks)} tasks ({', '.join(tasks)}); say which one" if tasks else "no task in it"
            raise InvalidSettings(
                f"{name} has {fault}: {name}:NAME, where NAME is a Task, or a function that is annotated to return one"
            )
        member = next(iter(tasks))
    value = getattr(module, member, None)
    check_complete(module, member, value, f"loading the task {name}")
    if value is None:
        raise InvalidSettings(f"no task {member!r} in {name}{did_you_mean(member, tasks)}")
    if isinstance(value, Task):
        if options:
            raise InvalidSettings(
                f"{name} is a Task as it stands, without options; {next(iter(options))} is none of it"
            )
        return value
    if not callable(value):
        raise InvalidSettings(f"{name} is {type(value).__name__}, no task; define a function that returns a Task")
    return _call(value, name, options)


def _is_task(value: Any, module: ModuleType) -> bool:
    if isinstance(value, Task):
        return True
    returns = getattr(value, "__annotations__", {}).get("return")
    return getattr(value, "__module__", None) == module.__name__ and returns in (Task, "Task")


def _call(make: Callable[..., Any], name: str, options: Mapping[str, Any], *positional: str) -> Task:
    signature = inspect.signature(make)
    names = [each.name for each in signature.parameters.values() if each.kind in (each.KEYWORD_ONLY,
             each.POSITIONAL_OR_KEYWORD)][len(positional) :]  # fmt: skip
    takes_any = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
    for option in () if takes_any else options:
        if option not in names:
            raise InvalidSettings(
                f"the task {name} has no option {option!r}{did_you_mean(option, names)} "
                f"(it has {', '.join(names) or 'none'})"
            )
    try:
        with explain_failures(f"making the task {name}"):
            task = make(*positional, **options)
    except RewardNotLoaded as error:  # our errors need no further explanation
        raise error.__cause__ if isinstance(error.__cause__, PlauditError) else error from None
    if not isinstance(task, Task):
        raise InvalidSettings(
            f"{name} returned {type(task).__name__} {task!r:.60}, not a Task; Task.from_rows makes one"
        )
    return task


def _read_arguments(spec: str, written: str | None) -> Mapping[str, Any]:
    if written is None:
        return {}
    _, arguments = parse_call(f"task{written}")
    if arguments is None or arguments.positional:
        raise InvalidSettings(f"{spec}: options of a task are named, such as (size=200)")
    return arguments.keywords
