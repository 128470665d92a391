"""Several tasks as one: their prompts, each with the name of its task, and a reward that knows which task it judges."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import cycle, islice

import msgspec

from plaudit.compose import TaskReward
from plaudit.contract.function import RewardLike
from plaudit.errors import DataError, InvalidSettings, did_you_mean
from plaudit.loading import load
from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["MixedTask", "mix", "part_by_column"]


@dataclass(frozen=True, slots=True)
class MixedTask(Task):
    """A mixture; its demonstrations come in the shares of the tasks, whatever the number of their prompts."""

    @property
    def demonstrations(self) -> list[Trajectory]:
        every = super(MixedTask, self).demonstrations
        shown = {name: [row for row in every if row.task == name] for name in self.weights}
        total = max((len(rows) / self.weights[name] for name, rows in shown.items()), default=0.0)
        return [
            row
            for name, rows in shown.items()
            if rows
            for row in islice(cycle(rows), max(1, math.ceil(total * self.weights[name])))
        ]


def mix(parts: Mapping[str, Task], weights: Mapping[str, float], reward: RewardLike | str | None = None) -> MixedTask:
    """One task of several, in the shares of their weights; `reward` takes the place of those of all tasks."""
    total = sum(weights.values())
    if reward is None and (without := [name for name, part in parts.items() if part.reward is None]):
        raise InvalidSettings(
            f"nothing says what is good in the task {without[0]}: set tasks.{without[0]}.reward, e.g. exact_match"
        )
    parts = {name: _keep_apart(name, parts) for name in parts}
    rewards = {name: part.reward for name, part in parts.items() if part.reward is not None}
    responds = {name: part.respond for name, part in parts.items()}
    return MixedTask(
        name=" + ".join(parts),
        prompts=_join({name: part.prompts for name, part in parts.items()}),
        held_out=_join({name: part.held_out for name, part in parts.items()}),
        reward=_by_task(rewards) if reward is None else reward,
        max_new_tokens=max(part.max_new_tokens for part in parts.values()),
        respond=_respond(responds),
        warm_start_steps=sum(part.warm_start_steps for part in parts.values()),
        notes=tuple(f"{name}: {note}" for name, part in parts.items() for note in part.notes),
        runs_inline=all(part.runs_inline for part in parts.values()),
        weights={name: weights[name] / total for name in parts},
    )


def part_by_column(task: Task, rewards: Mapping[str, str | None]) -> dict[str, Task]:
    """The tasks of a data file whose rows say which task they are of; `rewards` names them all."""
    found = {row.task for row in (*task.prompts, *task.held_out)}
    if None in found:
        place = next(at for at, row in enumerate(task.prompts) if row.task is None)
        raise DataError(
            f"{task.name}: {task.prompts[place].label(place)} does not say which task it is of: data.task_key names "
            "the column"
        )
    names = sorted(str(name) for name in found)
    for name in rewards:
        if name not in found:
            raise InvalidSettings(f"tasks.{name}: {task.name} has no rows of that task{did_you_mean(name, names)} "
                                  f"(it has {', '.join(names)})")  # fmt: skip
    if left := [name for name in names if name not in rewards]:
        raise InvalidSettings(f"{task.name} has rows of the task {left[0]!r}, and tasks does not name it; "
                              f"add tasks.{left[0]}, or leave the rows out of the data")  # fmt: skip
    return {
        name: replace(
            task,
            name=name,
            prompts=Prompts(tuple(row for row in task.prompts if row.task == name)),
            held_out=Prompts(tuple(row for row in task.held_out if row.task == name)),
            reward=reward,
            notes=(),
        )
        for name, reward in rewards.items()
    }


def _keep_apart(name: str, parts: Mapping[str, Task]) -> Task:
    """A task without the prompts that another one holds out."""
    task = parts[name]
    unseen = {key for other, part in parts.items() if other != name for key in part.held_out.keys}
    kept = [row for row, key in zip(task.prompts, task.prompts.keys, strict=True) if key not in unseen]
    left_out = len(task.prompts) - len(kept)
    if not left_out:
        return task
    if not kept:
        raise DataError(f"tasks.{name}: other tasks hold out all of its prompts, so none is left to train on")
    note = f"{left_out:,} prompts are left out, since another task holds them out"
    return replace(task, prompts=Prompts(tuple(kept)), notes=(*task.notes, note))


def _join(parts: Mapping[str, Prompts]) -> Prompts:
    return Prompts(tuple(msgspec.structs.replace(row, task=name) for name, part in parts.items() for row in part))


def _by_task(rewards: Mapping[str, RewardLike | str]) -> TaskReward:
    return TaskReward({name: load(reward) if isinstance(reward, str) else reward for name, reward in rewards.items()})


def _respond(responds: Mapping[str, Callable[[Trajectory], str | None]]) -> Callable[[Trajectory], str | None]:
    return lambda row: responds[row.task or ""](row)
