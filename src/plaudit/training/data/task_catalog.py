"""The built-in tasks, those of reasoning-gym, and how tasks are found by spec.

| spec | what it is |
|---|---|
| `sort_digits`, `sort_digits(digits=5)` | built in |
| `reasoning_gym:chain_sum` | a data set of reasoning-gym |
| `my_task.py:double`, `package.module:double` | a function that returns a `Task`, or a `Task` |

All questions of a task of reasoning-gym come from one data set of one seed, each once, and are then split: held-out
questions are never trained on. A row includes its entry, so that rollouts can be scored anywhere.
"""

import inspect
import json
import random
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.stub_packages import StubFinder
from plaudit.dialects.systems.reasoning_gym import SOLVER, find_data_set
from plaudit.errors import DataError, InvalidSettings, PlauditError, RewardNotLoaded, did_you_mean, require
from plaudit.loading.building import reward
from plaudit.loading.execution.statements import check_complete
from plaudit.loading.expressions import parse_call
from plaudit.loading.failures import explain_failures
from plaudit.loading.importing import module_at, module_from_file
from plaudit.settings import check_keys
from plaudit.training.data.curriculum import DIFFICULTY
from plaudit.training.data.prompts import Prompts, Task
from plaudit.training.data.sources import FILES
from plaudit.trajectory import Trajectory

OUR_OPTIONS = ("size", "held_out", "seed")
LEVELS = 5
LONGEST = 1024
SEED_STRIDE = 1_000_003
"""Generators seed a question with the sum of seed and index, so seeds side by side would make the same questions."""
OVERSAMPLE = 2
"""The number of questions that may be made for each wanted one, since some occur twice."""
TAGS = len("<answer></answer>")


def reasoning_task(name: str, *, size: int = 1000, held_out: int = 128, seed: int = 0, **options: Any) -> Task:
    """The task of a data set: `size` questions to train on, `held_out` others; `options` are those of the data set."""
    if size < 1 or held_out < 0:
        raise InvalidSettings(f"reasoning_gym:{name}: size={size} and held_out={held_out} are numbers of questions")
    wanted = size + held_out
    arguments = {**options, "seed": seed * SEED_STRIDE % 2**31, "size": OVERSAMPLE * wanted}
    entries = list(islice(_distinct(_make(name, arguments), name), wanted))
    if len(entries) <= held_out:
        raise DataError(
            f"reasoning_gym:{name} makes only {len(entries)} different questions; hold out fewer "
            f"(held_out={len(entries) // 4}), or widen its options"
        )
    rows = [_row(name, entry, level) for entry, level in zip(entries, _rate(entries), strict=True)]
    prompts, unseen = Prompts(tuple(rows)).split(held_out, seed)
    answers = [len(row.ground_truth) for row in rows if isinstance(row.ground_truth, str)]
    few = len(entries) < wanted
    return Task(
        name=f"reasoning_gym:{name}",
        prompts=prompts,
        held_out=unseen,
        reward=f"reasoning_gym:{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})",
        max_new_tokens=min(LONGEST, max(answers, default=LONGEST) + TAGS + 2),
        respond=lambda row: row.ground_truth if isinstance(row.ground_truth, str) else None,
        warm_start_steps=200 if answers else 0,
        notes=(f"reasoning_gym:{name} makes {len(entries):,} different questions with these options",) if few else (),
    )


def reasoning_task_names() -> dict[str, str]:
    """Every data set by name, with its summary."""
    data_sets = _package().factory.DATASETS
    return {name: _summary(kinds[0]) for name, kinds in sorted(data_sets.items())}


def _package() -> Any:
    with warnings.catch_warnings(), StubFinder(SOLVER):
        warnings.simplefilter("ignore", SyntaxWarning)  # from the first compilation of a dependency
        return require("reasoning_gym", extra="tasks", purpose="a task of reasoning-gym")


def _make(name: str, options: dict[str, Any]) -> Any:
    make = find_data_set(_package(), name)
    known = inspect.signature(make).parameters
    for option in options:
        if option not in known:
            takes = ", ".join(f"{each.name}={each.default}" for each in known.values() if each.name not in OUR_OPTIONS)
            raise InvalidSettings(
                f"reasoning_gym:{name} has no option {option!r}{did_you_mean(option, [*known, *OUR_OPTIONS])} "
                f"(it has {takes}, and {', '.join(OUR_OPTIONS)})"
            )
    arguments = ", ".join(f"{key}={value!r}" for key, value in options.items())
    with explain_failures(f"making reasoning_gym:{name}({arguments})"):
        return make(**options)


def _distinct(data_set: Any, name: str) -> Iterator[dict[str, Any]]:
    """The entries of a data set, each question once."""
    seen: set[str] = set()
    for index in range(len(data_set)):
        with explain_failures(f"making question {index} of reasoning_gym:{name}"):
            entry: dict[str, Any] = data_set[index]
        key = " ".join(entry["question"].split())
        if key not in seen:
            seen.add(key)
            yield entry


def _row(name: str, entry: Mapping[str, Any], level: int | float | None) -> Trajectory:
    plain = json.loads(json.dumps(entry, default=str))
    index = entry["metadata"].get("source_index", "")
    return Trajectory(
        prompt=entry["question"],
        response="",
        ground_truth=plain["answer"],
        id=f"{name}-{index}",
        task=f"reasoning_gym:{name}",
        columns={"entry": plain, **({} if level is None else {DIFFICULTY: level})},
    )


def _rate(entries: Sequence[Mapping[str, Any]]) -> list[int | float | None]:
    """The difficulty of each entry: the only attribute that varies, or 1 to 5 by the mean of all scaled ones."""
    rated = [_attributes(entry["metadata"]) for entry in entries]
    names = dict.fromkeys(name for each in rated for name in each)
    ranges = {
        name: (min(values), max(values))
        for name in names
        if len(values := [each[name] for each in rated if name in each]) == len(rated) and min(values) < max(values)
    }
    if not ranges:
        return [None] * len(entries)
    if len(ranges) == 1:
        return [each[next(iter(ranges))] for each in rated]
    shares = [sum((each[name] - low) / (high - low) for name, (low, high) in ranges.items()) / len(ranges)
              for each in rated]  # fmt: skip
    return [min(LEVELS, 1 + int(share * LEVELS)) for share in shares]


def _attributes(metadata: Mapping[str, Any]) -> dict[str, float]:
    """The numeric difficulty attributes of an entry; for a range, the entry's value in the metadata."""
    difficulty = metadata.get("difficulty")
    attributes = difficulty if isinstance(difficulty, Mapping) else {}
    values = {name: metadata.get(name, value) for name, value in attributes.items()}
    return {
        name: value for name, value in values.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _summary(data_set: type) -> str:
    return inspect.cleandoc(data_set.__doc__ or "").partition("\n")[0]


@reward(bounds=(0.0, 1.0))
def sorts_digits(response: str, ground_truth: str) -> RewardOutput:
    """1.0 when the response is exactly the sorted digits, else 0.0; "123" is not "0123" sorted."""
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
CACHED_TASKS = 16


def find_task(spec: str, options: Mapping[str, Any] | None = None) -> Task:
    """The task that a spec names, with its options, which may also follow the name in brackets.

    Built-in tasks are made once, since their prompts never change.
    """
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise InvalidSettings(f"{spec!r} names no task; write a name such as sort_digits, or reasoning_gym:chain_sum")
    arguments = {**_read_arguments(spec, match["arguments"]), **(options or {})}
    return _find(match["name"], arguments)


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


@lru_cache(maxsize=CACHED_TASKS)
def _make_once(name: str, options: str) -> Task:
    return _call(TASKS[name], name, json.loads(options))


def _take(module: ModuleType, member: str | None, name: str, options: Mapping[str, Any]) -> Task:
    """The task `member` of a module, or its only task."""
    tasks = {
        each: value for each, value in vars(module).items() if not each.startswith("_") and _is_task(value, module)
    }
    if member is None:
        if len(tasks) != 1:
            fault = f"{len(tasks)} tasks ({', '.join(tasks)}); name one of them" if tasks else "no task in it"
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
            raise InvalidSettings(f"{name} is a Task without options; {next(iter(options))} cannot be set")
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
    check_keys(() if takes_any else options, names, f"the task {name}", "option")
    try:
        with explain_failures(f"making the task {name}"):
            task = make(*positional, **options)
    except RewardNotLoaded as error:  # an error of plaudit is clear without the context
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
