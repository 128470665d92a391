"""A task made of a data file, as the section `data` of a config describes it.

A prompt that is held out is never trained on, however often the data repeat it.
"""

from collections import Counter

import msgspec

from plaudit.contract.function import RewardLike
from plaudit.errors import DataError, did_you_mean
from plaudit.training.config.schema import DataConfig
from plaudit.training.data.levels import DIFFICULTY
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import read_demonstrations, read_prompts
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.tasks.task import Task, ground_truth_text
from plaudit.trajectory import Trajectory

__all__ = ["MAX_NEW_TOKENS", "note_repetitions", "read_demonstrations_of", "task_from_data", "template_of"]

MAX_NEW_TOKENS = 64
WARM_START_STEPS = 60


def task_from_data(data: DataConfig, reward: RewardLike | str | None, seed: int) -> Task:
    """The prompts of a file with what judges the responses to them."""
    prompts, held_out = _split_data(data, seed)
    known = any(ground_truth_text(row) is not None for row in prompts)
    return Task(
        name=str(data.path),
        prompts=prompts,
        held_out=held_out,
        reward=reward,
        max_new_tokens=MAX_NEW_TOKENS,
        respond=ground_truth_text,
        warm_start_steps=WARM_START_STEPS if known else 0,
        notes=tuple(note_repetitions(prompts, held_out)),
    )


def read_demonstrations_of(data: DataConfig, task: Task) -> list[Trajectory]:
    """The right responses in `data.demonstrations`; held-out prompts are never shown."""
    found = read_demonstrations(
        str(data.demonstrations), columns=_columns(data, "prompt"), template=template_of(data), split=data.split
    )
    unseen = set(task.held_out.keys)
    kept = [row for row, key in zip(found, Prompts.of(found).keys, strict=True) if key not in unseen]
    if not kept:
        raise DataError(f"data.demonstrations={data.demonstrations} shows held-out prompts only")
    return kept


def template_of(data: DataConfig) -> PromptTemplate:
    """How the section `data` makes prompts of rows."""
    return PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template)


def note_repetitions(prompts: Prompts, held_out: Prompts) -> list[str]:
    """How many prompts occur more than once, and how many are both trained on and held out."""
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
    return Prompts(tuple(_set_difficulty(row, place, data.difficulty_key) for place, row in enumerate(prompts)))


def _set_difficulty(row: Trajectory, place: int, column: str) -> Trajectory:
    known = {**row.metadata, **row.columns}
    if column not in known:
        raise DataError(
            f"data.difficulty_key={column}: {row.label(place)} has no such column{did_you_mean(column, known)} "
            f"(it has {', '.join(known) or 'none'})"
        )
    return msgspec.structs.replace(row, columns={**row.columns, DIFFICULTY: known[column]})


def _columns(data: DataConfig, *fields: str) -> dict[str, str]:
    chosen = {"prompt": data.prompt_key, "ground_truth": data.ground_truth_key, "task": data.task_key}
    return {field: column for field in fields if (column := chosen[field]) is not None}
