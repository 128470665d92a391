"""What a command is made from: the key table of the trainer, and the files with the reward and the prompts.

Prompts are written as plaudit would train on them: templates filled, the held-out share apart. Data that are not on
this machine are left to the trainer, by the name they have in the config.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaudit.errors import DataError, InvalidSettings, require
from plaudit.exports.exporting import write_shim
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.config_task import MAX_NEW_TOKENS, load_task
from plaudit.trajectory import Trajectory

__all__ = [
    "Arguments", "FILES", "LaunchContext", "LaunchFiles", "Machines", "PROMPT_TOKENS", "TrainerTable",
    "note_data_elsewhere", "one_flag", "refuse_agents_and_servers", "write_flag", "write_launch_files",
    "write_setting", "write_switch",
]  # fmt: skip


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


PROMPT_TOKENS = 1024
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Machines:
    """The machines that the trainer runs on."""

    gpus: int = 8
    """GPUs of each node."""
    nodes: int = 1

    def __post_init__(self) -> None:
        if self.gpus < 1 or self.nodes < 1:
            raise InvalidSettings(f"a trainer needs at least one GPU and one node, got {self.gpus} and {self.nodes}")

    @property
    def processes(self) -> int:
        return self.gpus * self.nodes


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """What arguments are computed from; `notes` collects what means something else in the trainer."""

    config: RunConfig
    files: LaunchFiles
    machines: Machines
    notes: list[str] = field(default_factory=list)

    @property
    def micro_batch(self) -> int:
        """Responses of one forward pass on one GPU."""
        training = self.config.training
        per_update = self.config.batch_size // training.minibatches
        return max(1, per_update // (training.gradient_accumulation * self.machines.processes))


@dataclass(frozen=True, slots=True)
class TrainerTable:
    """How one trainer's command is written."""

    program: Callable[[LaunchContext], Sequence[str]]
    renamed: Mapping[str, str]
    """Keys that have another name in the trainer."""
    choices: Mapping[str, Mapping[Any, Arguments]]
    """Keys whose values have other names, with the arguments that each value becomes."""
    compute: Callable[[LaunchContext], Arguments]
    """The arguments that follow from several keys; None leaves one out."""
    computed_from: frozenset[str]
    write: Callable[[str, Any], list[str]]
    """An argument as words of the command."""


FILES = (
    "output_dir", "engine", "task", "model.device", "model.dtype", "data.path", "data.eval_path", "data.eval_share",
    "data.prompt_key", "data.ground_truth_key", "data.split", "data.limit", "data.chat_template",
    "data.prompt_template", "data.system_prompt", "data.max_prompt_tokens", "training.reward_function",
    "training.reward_workers", "training.reward_deadline_s", "sampling.max_new_tokens", "sampling.sampler",
    "eval.every", "eval.prompts", "eval.pass_at", "logging.wandb", "logging.tensorboard", "logging.name",
)  # fmt: skip
"""Keys that the files of a launch are made from, or that mean the same in every trainer."""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value) if isinstance(value, list | dict | tuple) else str(value)


def write_switch(flag: str, value: Any) -> list[str]:
    """`--flag` for True, nothing for False, `--flag value …` otherwise."""
    if isinstance(value, bool):
        return [f"--{flag}"] if value else []
    return write_flag(flag, value)


def write_flag(flag: str, value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [f"--{flag}", *map(_text, values)]


def write_setting(flag: str, value: Any) -> list[str]:
    return [f"{flag}={_text(value)}"]


def note_data_elsewhere(context: LaunchContext, needed: str) -> None:
    if context.files.count is None:
        context.notes.append(f"data.path={context.config.data.path} is not on this machine: {needed}")


def refuse_agents_and_servers(context: LaunchContext, trainer: str) -> None:
    if context.config.training.agent_file is not None:
        raise InvalidSettings(f"training.agent_file: {trainer} has another kind of agents; launch it with openrlhf")
    if context.files.is_server:
        raise InvalidSettings(
            f"training.reward_function={context.files.reward}: {trainer} takes a file, not the address of a server"
        )


def one_flag(flag: str, values: Mapping[str, str]) -> dict[Any, Arguments]:
    return {value: {flag: theirs} for value, theirs in values.items()}
