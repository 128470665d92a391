"""What a command needs beside its arguments: the reward as a file, and prompts in the form that the trainer reads.

Prompts are written as plaudit would train on them: templates filled, the held-out share apart. Data that are not on
this machine are left to the trainer, by the name they have in the config.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.errors import DataError, InvalidSettings, require
from plaudit.exports.exporting import write_shim
from plaudit.training.config.schema import RunConfig
from plaudit.training.tasks.config_task import MAX_NEW_TOKENS, load_task
from plaudit.trajectory import Trajectory

__all__ = ["LaunchFiles", "write_launch_files"]

REWARD = "plaudit_reward.py"
GROUND_TRUTH = "ground_truth"


@dataclass(frozen=True, slots=True)
class LaunchFiles:
    """The files of a command, as it names them."""

    folder: str
    reward: str | None
    """The reward file, or the address of a server; None if an agent gives rewards."""
    train: str
    held_out: str | None
    count: int | None
    """How many prompts there are to train on; None if the data are not here."""
    prompt_key: str
    label_key: str | None
    is_chat: bool
    has_columns: bool
    max_new_tokens: int
    written: tuple[str, ...]

    @property
    def is_server(self) -> bool:
        return self.reward is not None and self.reward.startswith(("http://", "https://"))


def write_launch_files(config: RunConfig, trainer: str, folder: Path) -> LaunchFiles:
    """Write the reward file and the data for a trainer into a folder."""
    if config.model.path is None:
        raise InvalidSettings(
            "the embedded model is plaudit's own; name one that others can load: model.path=owner/name"
        )
    if config.training.reward_function is None and config.training.agent_file is None:
        raise InvalidSettings(
            "a built-in task's reward lives in plaudit; name one: training.reward_function=my.py:name"
        )
    is_here = config.data.path is None or Path(config.data.path).exists()
    task = load_task(config, config.training.reward_function) if is_here else None  # what fails leaves no files
    data = folder / "data"  # apart, since some trainers read whatever is in a folder
    data.mkdir(parents=True, exist_ok=True)
    reward = _write_reward(config, trainer, folder)
    written = [reward] if reward == str(folder / REWARD) else []
    if task is None:
        return _elsewhere(config, folder, reward, written)
    form = FORMS[trainer]
    label = config.data.ground_truth_key or GROUND_TRUTH
    is_chat = any(not isinstance(row.prompt, str) for row in [*task.prompts, *task.held_out])
    paths = [
        form.write(data / f"{split}{form.ending}", (form.row(row, label, is_chat) for row in rows))
        for split, rows in (("train", task.prompts), ("test", task.held_out))
        if rows
    ]
    every = [*task.prompts, *task.held_out]
    return LaunchFiles(
        folder=str(folder),
        reward=reward,
        train=str(paths[0]),
        held_out=str(paths[1]) if len(paths) > 1 else None,
        count=len(task.prompts),
        prompt_key="prompt",
        label_key=label if any(row.ground_truth is not None for row in every) else None,
        is_chat=is_chat,
        has_columns=any(row.columns for row in every),
        max_new_tokens=task.max_new_tokens,
        written=(*written, *map(str, paths)),
    )


def _write_reward(config: RunConfig, trainer: str, folder: Path) -> str | None:
    spec = config.training.reward_function
    if spec is None or spec.startswith(("http://", "https://")):
        return spec
    shim = write_shim(
        spec,
        trainer,
        folder / REWARD,
        workers=config.training.reward_workers,
        deadline_s=config.training.reward_deadline_s or None,
        group_size=config.sampling.samples_per_prompt,
    )
    return str(shim.file)


def _elsewhere(config: RunConfig, folder: Path, reward: str | None, written: list[str]) -> LaunchFiles:
    data = config.data
    return LaunchFiles(
        folder=str(folder),
        reward=reward,
        train=str(data.path),
        held_out=data.eval_path,
        count=None,
        prompt_key=data.prompt_key or "prompt",
        label_key=data.ground_truth_key,
        is_chat=data.chat_template or data.system_prompt is not None,
        has_columns=False,
        max_new_tokens=config.sampling.max_new_tokens or MAX_NEW_TOKENS,
        written=tuple(written),
    )


@dataclass(frozen=True, slots=True)
class _Form:
    """How a trainer's data are written."""

    ending: str
    row: Callable[[Trajectory, str, bool], dict[str, Any]]
    write: Callable[[Path, Iterable[dict[str, Any]]], Path]


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return path


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    pyarrow = require("pyarrow", extra="parquet", purpose="writing verl's data")
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing verl's data")
    try:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    except pyarrow.ArrowException as error:
        raise DataError(f"the prompts cannot be written as Parquet, where a column has one type: {error}") from error
    return path


def _messages(row: Trajectory) -> list[Any]:
    return [{"role": "user", "content": row.prompt}] if isinstance(row.prompt, str) else list(row.prompt)


def _line(row: Trajectory, label: str, is_chat: bool) -> dict[str, Any]:
    prompt = _messages(row) if is_chat else row.prompt
    return {**row.columns, "prompt": prompt, **({} if row.ground_truth is None else {label: row.ground_truth})}


def _trl_line(row: Trajectory, label: str, is_chat: bool) -> dict[str, Any]:
    return _line(row, GROUND_TRUTH, is_chat)  # the exported reward knows the column by this name


def _verl_row(row: Trajectory, label: str, is_chat: bool) -> dict[str, Any]:
    return {
        "data_source": row.task or "plaudit",
        "prompt": _messages(row),
        "reward_model": {"style": "rule", "ground_truth": row.ground_truth},
        "extra_info": {**row.columns, "label_key": label},
    }


FORMS = {
    "openrlhf": _Form(".jsonl", _line, _write_lines),
    "trl": _Form(".jsonl", _trl_line, _write_lines),
    "verl": _Form(".parquet", _verl_row, _write_parquet),
}
