"""Tasks of reasoning-gym: over a hundred generators of questions, each with its own judge of answers.

All questions of a task come from one data set of one seed, each once, and are then split: held-out questions are never
trained on. A row includes its entry, so that rollouts can be scored anywhere.
"""

import inspect
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from plaudit.dialects.stub_packages import StubFinder
from plaudit.dialects.systems.reasoning_gym import SOLVER, find_data_set
from plaudit.errors import DataError, InvalidSettings, did_you_mean, require
from plaudit.loading.failures import explain_failures
from plaudit.training.data.curriculum import DIFFICULTY
from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["reasoning_task", "reasoning_task_names"]

OUR_OPTIONS = ("size", "held_out", "seed")
LEVELS = 5
LONGEST = 1024
SEED_STRIDE = 1_000_003
"""Generators seed a question with the sum of seed and index, so seeds side by side would make the same questions."""
OVERSAMPLE = 2
"""How many questions may be made for each that is wanted, since some come twice."""
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
        warnings.simplefilter("ignore", SyntaxWarning)  # of a package that it needs, where that is not compiled yet
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
