"""The task that a config names: one task, a data file, or a mixture of several."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from plaudit.compose import TaskReward
from plaudit.contract.function import RewardLike
from plaudit.errors import DataError, InvalidSettings, did_you_mean
from plaudit.loading import load
from plaudit.settings import read_settings
from plaudit.training.config.schema import DataConfig, RunConfig, TaskPart
from plaudit.training.data.curriculum import DIFFICULTY
from plaudit.training.data.prompts import Prompts, Task, ground_truth_text
from plaudit.training.data.sources import PromptTemplate, read_demonstrations, read_prompts
from plaudit.training.data.task_catalog import find_task
from plaudit.trajectory import Trajectory


def load_task(config: RunConfig, reward: RewardLike | str | None = None) -> Task:
    """The prompts that the config names, with what judges responses: `reward`, or the tasks' own."""
    if config.tasks:
        weights = {name: part.weight for name, part in config.tasks.items()}
        task = mix({name: _load_part(name, part, config) for name, part in config.tasks.items()}, weights, reward)
    elif config.data.path is not None:
        if reward is None and config.training.agent_file is None:
            raise InvalidSettings(
                f"data.path={config.data.path} has no reward: "
                "set training.reward_function, e.g. training.reward_function=my.py:name"
            )
        task = task_from_data(config.data, reward, config.seed)
    elif config.task is None:
        raise InvalidSettings("there is nothing to train on: set data.path to a data file, or task to a task's name")
    else:
        task = _apply_template(find_task(config.task, config.task_options), template_of(config.data))
    if not task.prompts:
        raise DataError(f"the task {task.name} has no prompts to train on")
    return replace(
        task,
        held_out=_limit(task, config.eval.prompts),
        max_new_tokens=config.sampling.max_new_tokens or task.max_new_tokens,
    )


def load_demonstrations(config: RunConfig, task: Task) -> list[Trajectory]:
    """Right responses to learn from: those of `data.demonstrations`, else those of the task or the ground truths.

    Held-out prompts are never shown.
    """
    data = config.data
    if data.demonstrations is None:
        return task.demonstrations
    columns = _columns(data, "prompt")
    rows = read_demonstrations(data.demonstrations, columns=columns, template=template_of(data), split=data.split)
    unseen = set(task.held_out.keys)
    kept = [row for row, key in zip(rows, Prompts.of(rows).keys, strict=True) if key not in unseen]
    if not kept:
        raise DataError(f"data.demonstrations={data.demonstrations} shows held-out prompts only")
    return kept


def _load_part(name: str, part: TaskPart, config: RunConfig) -> Task:
    if part.data:
        return task_from_data(read_settings(DataConfig, part.data, f"tasks.{name}.data"), part.reward, config.seed)
    task = _apply_template(find_task(part.task or name, part.options), template_of(config.data))
    return task if part.reward is None else replace(task, reward=part.reward, runs_inline=False)


def _apply_template(task: Task, template: PromptTemplate) -> Task:
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


MAX_NEW_TOKENS = 64
WARM_START_STEPS = 60


def task_from_data(data: DataConfig, reward: RewardLike | str | None, seed: int) -> Task:
    """The prompts of a file with what judges the responses to them."""
    prompts, held_out = _split_data(data, seed)
    notes = note_repetitions(prompts, held_out)
    if data.eval_share and not held_out:
        notes.append("no prompts are held out, so nothing is evaluated: set data.eval_path or a larger data.eval_share")
    known = any(ground_truth_text(row) is not None for row in prompts)
    return Task(
        name=str(data.path),
        prompts=prompts,
        held_out=held_out,
        reward=reward,
        max_new_tokens=MAX_NEW_TOKENS,
        respond=ground_truth_text,
        warm_start_steps=WARM_START_STEPS if known else 0,
        notes=tuple(notes),
    )


def template_of(data: DataConfig) -> PromptTemplate:
    """The template that makes prompts of rows, from the section `data`."""
    return PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template)


def note_repetitions(prompts: Prompts, held_out: Prompts) -> list[str]:
    """Notes on the number of prompts that occur more than once, and of those that are both trained on and held out."""
    counts = Counter(prompts.keys) + Counter(held_out.keys)
    repeated = sum(count > 1 for count in counts.values())
    shared = len(set(prompts.keys) & set(held_out.keys))
    notes = [f"{repeated:,} of {len(counts):,} prompts occur more than once in the data"] if repeated else []
    if shared:
        notes.append(f"{shared:,} held-out prompts are also trained on, so their score says little about others")
    return notes


def _split_data(data: DataConfig, seed: int) -> tuple[Prompts, Prompts]:
    prompts = _read(data, data.path)
    if data.eval_path is not None:
        return prompts, _read(data, data.eval_path)
    held_out = round(len(prompts) * data.eval_share)
    if held_out == len(prompts):
        raise DataError(f"data.eval_share={data.eval_share:g} leaves none of {len(prompts)} prompts to train on")
    return prompts.split(held_out, seed) if held_out else (prompts, Prompts(()))


def _read(data: DataConfig, path: str | None) -> Prompts:
    prompts = read_prompts(
        str(path),
        columns=_columns(data, "prompt", "ground_truth", "task"),
        template=template_of(data),
        split=data.split,
        limit=data.limit,
    )
    if data.difficulty_key is None:
        return prompts
    return Prompts(tuple(_set_difficulty(row, index, data.difficulty_key) for index, row in enumerate(prompts)))


def _set_difficulty(row: Trajectory, index: int, column: str) -> Trajectory:
    known = {**row.metadata, **row.columns}
    if column not in known:
        raise DataError(
            f"data.difficulty_key={column}: {row.label(index)} has no such column{did_you_mean(column, known)} "
            f"(it has {', '.join(known) or 'none'})"
        )
    return msgspec.structs.replace(row, columns={**row.columns, DIFFICULTY: known[column]})


def _columns(data: DataConfig, *fields: str) -> dict[str, str]:
    chosen = {"prompt": data.prompt_key, "ground_truth": data.ground_truth_key, "task": data.task_key}
    return {field: column for field in fields if (column := chosen[field]) is not None}


def mix(parts: Mapping[str, Task], weights: Mapping[str, float], reward: RewardLike | str | None = None) -> Task:
    """One task made of several, in the shares of their weights; `reward` replaces the rewards of all tasks."""
    total = sum(weights.values())
    if reward is None and (without := [name for name, part in parts.items() if part.reward is None]):
        raise InvalidSettings(f"the task {without[0]} has no reward: set tasks.{without[0]}.reward, e.g. exact_match")
    parts = {name: _drop_held_out_elsewhere(name, parts) for name in parts}
    rewards = {name: part.reward for name, part in parts.items() if part.reward is not None}
    responds = {name: part.respond for name, part in parts.items()}
    return Task(
        name=" + ".join(parts),
        prompts=_join({name: part.prompts for name, part in parts.items()}),
        held_out=_join({name: part.held_out for name, part in parts.items()}),
        reward=_reward_by_task(rewards) if reward is None else reward,
        max_new_tokens=max(part.max_new_tokens for part in parts.values()),
        respond=_respond_by_task(responds),
        warm_start_steps=sum(part.warm_start_steps for part in parts.values()),
        notes=tuple(f"{name}: {note}" for name, part in parts.items() for note in part.notes),
        runs_inline=all(part.runs_inline for part in parts.values()),
        weights={name: weights[name] / total for name in parts},
    )


def _drop_held_out_elsewhere(name: str, parts: Mapping[str, Task]) -> Task:
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


def _reward_by_task(rewards: Mapping[str, RewardLike | str]) -> TaskReward:
    return TaskReward({name: load(reward) if isinstance(reward, str) else reward for name, reward in rewards.items()})


def _respond_by_task(responds: Mapping[str, Callable[[Trajectory], str | None]]) -> Callable[[Trajectory], str | None]:
    return lambda row: responds[row.task or ""](row)
