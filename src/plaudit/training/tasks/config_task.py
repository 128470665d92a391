"""The task that a config names: one task, a data file, or a mixture of several."""

from dataclasses import replace

import msgspec

from plaudit.contract.function import RewardLike
from plaudit.errors import DataError, InvalidSettings, did_you_mean
from plaudit.training.config.schema import DataConfig, RunConfig
from plaudit.training.config.task_keys import TaskPart
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.tasks.catalog import find_task
from plaudit.training.tasks.data_task import read_demonstrations_of, task_from_data, template_of
from plaudit.training.tasks.mixture import mix, part_by_column
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["load_demonstrations", "load_task"]


def load_task(config: RunConfig, reward: RewardLike | str | None = None) -> Task:
    """The prompts that the config names, with what judges responses: `reward`, or the tasks' own."""
    if config.tasks:
        task = _mixture(config, reward)
    elif config.data.path is not None:
        task = _from_data(config, reward)
    elif config.task is None:
        raise InvalidSettings("there is nothing to train on: set data.path to a data file, or task to a task's name")
    else:
        task = _ask(find_task(config.task, config.task_options), template_of(config.data))
    if not task.prompts:
        raise DataError(f"the task {task.name} has no prompts to train on")
    return replace(
        task,
        held_out=_limit(task, config.eval.prompts),
        max_new_tokens=config.sampling.max_new_tokens or task.max_new_tokens,
    )


def load_demonstrations(config: RunConfig, task: Task) -> list[Trajectory]:
    """Right responses to learn from: those of `data.demonstrations`, else what the task or the ground truths know."""
    return task.demonstrations if config.data.demonstrations is None else read_demonstrations_of(config.data, task)


def _from_data(config: RunConfig, reward: RewardLike | str | None) -> Task:
    if reward is None and config.training.agent_file is None:
        raise InvalidSettings(
            f"data.path={config.data.path} says what to ask, but nothing says what is good: "
            "set training.reward_function, e.g. training.reward_function=my.py:name"
        )
    return task_from_data(config.data, reward, config.seed)


def _mixture(config: RunConfig, reward: RewardLike | str | None) -> Task:
    weights = {name: part.weight for name, part in config.tasks.items()}
    if config.data.path is not None:
        rewards = {name: part.reward for name, part in config.tasks.items()}
        return mix(part_by_column(task_from_data(config.data, None, config.seed), rewards), weights, reward)
    return mix({name: _part(name, part, config) for name, part in config.tasks.items()}, weights, reward)


def _part(name: str, part: TaskPart, config: RunConfig) -> Task:
    if part.data:
        return task_from_data(_part_data(name, part), part.reward, config.seed)
    task = _ask(find_task(part.task or name, part.options), template_of(config.data))
    return task if part.reward is None else replace(task, reward=part.reward, runs_inline=False)


def _part_data(name: str, part: TaskPart) -> DataConfig:
    try:
        return msgspec.convert(part.data, DataConfig, strict=False)
    except msgspec.ValidationError as error:
        known = [field.name for field in msgspec.structs.fields(DataConfig)]
        unknown = next((key for key in part.data if key not in known), "")
        raise InvalidSettings(f"tasks.{name}.data: {error}{did_you_mean(unknown, known)}") from None


def _ask(task: Task, template: PromptTemplate) -> Task:
    """The task with its prompts put into the template of the config, where there is one."""
    if template == PromptTemplate():
        return task

    def fill(prompts: Prompts) -> Prompts:
        return Prompts(
            tuple(msgspec.structs.replace(row, prompt=template.fill(row.columns, row.prompt)) for row in prompts)
        )

    return replace(task, prompts=fill(task.prompts), held_out=fill(task.held_out))


def _limit(task: Task, count: int | None) -> Prompts:
    """At most `count` held-out prompts; of a mixture, about as many of each task."""
    if not task.weights or count is None:
        return task.held_out[:count]
    share = max(1, count // len(task.weights))
    parts = [Prompts(tuple(row for row in task.held_out if row.task == name))[:share] for name in task.weights]
    return Prompts(tuple(row for part in parts for row in part))
