"""The task that a config names: a built-in one, or one made of a data file.

A prompt that is held out is never trained on, however often the data repeat it.
"""

from collections import Counter
from dataclasses import replace

from plaudit.contract.function import Rewarding
from plaudit.errors import DataError, InvalidSettings
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import read_demonstrations, read_prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.tasks.catalog import find_task
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["MAX_NEW_TOKENS", "load_demonstrations", "load_task"]

MAX_NEW_TOKENS = 64
WARM_START_STEPS = 60


def load_task(config: RunConfig, reward: Rewarding | str | None = None) -> Task:
    """The prompts that the config names, from a data file, which `reward` judges, or from a built-in task."""
    if config.data.path is not None:
        return _task_from_data(config, reward)
    if config.task is None:
        raise InvalidSettings("there is nothing to train on: set data.path to a data file, or task to a built-in one")
    task = find_task(config.task)
    return replace(
        task,
        held_out=task.held_out[: config.eval.prompts],
        max_new_tokens=config.sampling.max_new_tokens or task.max_new_tokens,
    )


def load_demonstrations(config: RunConfig, task: Task) -> list[Trajectory]:
    """Right responses to learn from: those of `data.demonstrations`, else what the task or the ground truths know.

    Held-out prompts are never shown.
    """
    data = config.data
    if data.demonstrations is None:
        return task.demonstrations
    found = read_demonstrations(
        data.demonstrations, columns=_columns(config, "prompt"), template=_template(config), split=data.split
    )
    unseen = set(task.held_out.keys)
    kept = [row for row, key in zip(found, Prompts.of(found).keys, strict=True) if key not in unseen]
    if not kept:
        raise DataError(f"data.demonstrations={data.demonstrations} shows held-out prompts only")
    return kept


def _task_from_data(config: RunConfig, reward: Rewarding | str | None) -> Task:
    if reward is None and config.training.agent_file is None:
        raise InvalidSettings(
            f"data.path={config.data.path} says what to ask, but nothing says what is good: "
            "set training.reward_function, e.g. training.reward_function=my.py:name"
        )
    prompts, held_out = _split_data(config)
    known = any(_ground_truth_text(row) is not None for row in prompts)
    return Task(
        name=str(config.data.path),
        prompts=prompts,
        held_out=held_out[: config.eval.prompts],
        reward=reward,
        max_new_tokens=config.sampling.max_new_tokens or MAX_NEW_TOKENS,
        respond=_ground_truth_text,
        warm_start_steps=WARM_START_STEPS if known else 0,
        notes=tuple(_note_repetitions(prompts, held_out)),
    )


def _ground_truth_text(row: Trajectory) -> str | None:
    """The ground truth as a response to learn from, where it is one."""
    return str(row.ground_truth) if isinstance(row.ground_truth, str | int | float) else None


def _split_data(config: RunConfig) -> tuple[Prompts, Prompts]:
    data = config.data
    prompts = _read(config, data.path)
    if data.eval_path is not None:
        return prompts, _read(config, data.eval_path)
    held_out = round(len(prompts) * data.eval_share)
    if held_out == len(prompts):
        raise DataError(f"data.eval_share={data.eval_share:g} leaves none of {len(prompts)} prompts to train on")
    return prompts.split(held_out, config.seed) if held_out else (prompts, Prompts(()))


def _read(config: RunConfig, path: str | None) -> Prompts:
    data = config.data
    return read_prompts(
        str(path),
        columns=_columns(config, "prompt", "ground_truth"),
        template=_template(config),
        split=data.split,
        limit=data.limit,
    )


def _columns(config: RunConfig, *fields: str) -> dict[str, str]:
    chosen = {"prompt": config.data.prompt_key, "ground_truth": config.data.ground_truth_key}
    return {field: column for field in fields if (column := chosen[field]) is not None}


def _template(config: RunConfig) -> PromptTemplate:
    data = config.data
    return PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template)


def _note_repetitions(prompts: Prompts, held_out: Prompts) -> list[str]:
    """How many prompts occur more than once, and how many are both trained on and held out."""
    counts = Counter(prompts.keys) + Counter(held_out.keys)
    repeated = sum(count > 1 for count in counts.values())
    shared = len(set(prompts.keys) & set(held_out.keys))
    notes = [f"{repeated:,} of {len(counts):,} prompts occur more than once in the data"] if repeated else []
    if shared:
        notes.append(f"{shared:,} held-out prompts are also trained on, so their score says little about others")
    return notes
