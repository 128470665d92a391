"""Write a config as the training command of another trainer: `plan_launch(config, "verl", folder)`.

One key table for each trainer translates the keys. Arguments of the trainer itself are passed on as written, and
every key without a counterpart is listed. Prompts are written as plaudit would train on them: templates filled, the
held-out share apart. Data that are not on this machine are left to the trainer, by the name they have in the config.
"""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from plaudit.errors import DataError, InvalidSettings, require
from plaudit.exports.exporting import write_shim
from plaudit.settings import Count, check_fields
from plaudit.training.config.keys import flatten
from plaudit.training.config.schema import RunConfig
from plaudit.training.data.config_task import MAX_NEW_TOKENS, load_task
from plaudit.trajectory import Trajectory

Arguments = dict[str, Any]
GPUS = 8
LINE_WIDTH = 96
REWARD = "plaudit_reward.py"
DEFAULTS = flatten(RunConfig().to_dict())
FILES = (
    "output_dir", "engine", "task", "model.device", "model.dtype", "data.path", "data.eval_path", "data.eval_share",
    "data.prompt_key", "data.ground_truth_key", "data.split", "data.limit", "data.chat_template",
    "data.prompt_template", "data.system_prompt", "data.max_prompt_tokens", "training.reward_function",
    "training.reward_workers", "training.reward_deadline_s", "sampling.max_new_tokens", "sampling.sampler",
    "eval.every", "eval.prompts", "eval.pass_at", "logging.wandb", "logging.tensorboard", "logging.name",
)  # fmt: skip
"""Keys that the files of a launch are made from, or that mean the same in every trainer."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The machines that the trainer runs on."""

    gpus: Count = GPUS
    """GPUs of each node."""
    nodes: Count = 1

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def processes(self) -> int:
        return self.gpus * self.nodes


@dataclass(frozen=True, slots=True)
class LaunchFiles:
    """The files of a command, as it names them."""

    folder: str
    reward: str | None
    """The reward file, or the address of a server; None if an agent gives rewards."""
    train: str
    held_out: str | None
    prompt_key: str
    label_key: str | None
    is_chat: bool
    max_new_tokens: int
    count: int | None = None
    """The number of prompts to train on; None if the data are not on this machine."""
    has_columns: bool = False
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """The values that arguments are computed from; `notes` collects settings with another meaning in the trainer."""

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
    """The command and the data format of one trainer."""

    name: str
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
    data: str
    """The required form of data that are not on this machine."""
    ending: str
    row: Callable[[Trajectory, str, bool], dict[str, Any]]
    """A prompt as a row of data, with the name of the label's column, and whether prompts are chats."""
    write_rows: Callable[[Path, Iterable[dict[str, Any]]], None]
    takes_agents: bool = False
    """Whether it takes OpenRLHF's agents, and a server in place of a reward file."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that trains with another trainer what a config describes."""

    trainer: str
    words: list[list[str]]
    """The command: the program first, then each argument with its values."""
    unmapped: list[str]
    """Keys that the trainer has no counterpart for, with their values."""
    notes: list[str]
    """Keys that have another meaning in the other trainer."""
    files: list[str]
    """The files that were written for it."""

    @property
    def command(self) -> str:
        """The command for a shell, over several lines."""
        lines: list[str] = []
        for words in self.words:
            text = " ".join(_quote(word) for word in words)
            if len(lines) > 1 and len(lines[-1]) + len(text) < LINE_WIDTH:
                lines[-1] += f" {text}"
            else:
                lines.append(text)
        return " \\\n    ".join(lines)


def plan(
    config: RunConfig, table: TrainerTable, folder: Path, machines: Machines | None, extra: Sequence[str]
) -> Launch:
    """The command for a config by the table of a trainer, with its files written to `folder`."""
    if config.training.agent_file is not None and not table.takes_agents:
        raise InvalidSettings(f"training.agent_file: {table.name} has another kind of agents; launch it with openrlhf")
    values = flatten(config.to_dict())
    arguments: Arguments = {flag: values[key] for key, flag in table.renamed.items() if values[key] is not None}
    for key, choices in table.choices.items():
        if values[key] in choices:
            arguments |= choices[values[key]]
        elif key in ("advantage", "loss.name"):  # no other value trains the same
            raise InvalidSettings(f"{key}={values[key]}: {table.name} has {', '.join(choices)}")
    machines = machines or Machines()
    context = LaunchContext(config, _write_files(config, table, folder), machines)
    if context.files.count is None:
        context.notes.append(f"data.path={config.data.path} is not on this machine: {table.data}")
    arguments |= {flag: value for flag, value in table.compute(context).items() if value is not None}
    words = [[*table.program(context)], *(table.write(flag, value) for flag, value in arguments.items())]
    extra_words = _split(extra)
    replaced = {_name(each) for each in extra_words}
    words = [each for each in words if each and _name(each) not in replaced] + extra_words
    unmapped = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in values.items()
        if not _is_mapped(table, key, value)
    ]
    return Launch(table.name, words, unmapped, context.notes, list(context.files.written))


def _is_mapped(table: TrainerTable, key: str, value: Any) -> bool:
    if key in table.choices:
        return value in table.choices[key]
    return key in table.renamed or key in table.computed_from or value == DEFAULTS.get(key)


def _split(extra: Sequence[str]) -> list[list[str]]:
    """Arguments with their values: `--name value …`, or `name=value` for verl."""
    arguments: list[list[str]] = []
    for word in extra:
        if word.startswith("--") or "=" in word or not arguments:
            arguments.append([word])
        else:
            arguments[-1].append(word)
    return arguments


def _name(words: Sequence[str]) -> str:
    return words[0].partition("=")[0].lstrip("+")


def _quote(word: str) -> str:
    """Quoted for a shell, which expands a variable of the environment."""
    return f'"{word}"' if word.startswith("$") and word[1:].isidentifier() else shlex.quote(word)


def _write_files(config: RunConfig, table: TrainerTable, folder: Path) -> LaunchFiles:
    """Write the reward file and the data for a trainer into a folder."""
    data_config, spec = config.data, config.training.reward_function
    if config.model.path is None:
        raise InvalidSettings("only plaudit has this model; name one that the trainer can load: model.path=owner/name")
    if spec is None and config.training.agent_file is None:
        raise InvalidSettings(
            "a built-in task's reward lives in plaudit; name one: training.reward_function=my.py:name"
        )
    is_server = spec is not None and spec.startswith(("http://", "https://"))
    if is_server and not table.takes_agents:
        raise InvalidSettings(
            f"training.reward_function={spec}: {table.name} takes a file, not the address of a server"
        )
    is_here = data_config.path is None or Path(data_config.path).exists()
    task = load_task(config, spec) if is_here else None  # it fails before any file is written
    data = folder / "data"  # a folder of its own, since some trainers read every file of a folder
    data.mkdir(parents=True, exist_ok=True)
    reward = spec if spec is None or is_server else str(_write_reward(config, spec, table, folder))
    files = LaunchFiles(
        folder=str(folder),
        reward=reward,
        train=str(data_config.path),
        held_out=data_config.eval_path,
        prompt_key=data_config.prompt_key or "prompt",
        label_key=data_config.ground_truth_key,
        is_chat=data_config.chat_template or data_config.system_prompt is not None,
        max_new_tokens=config.sampling.max_new_tokens or MAX_NEW_TOKENS,
        written=() if reward == spec else (str(reward),),
    )
    if task is None:
        return files
    every, label = [*task.prompts, *task.held_out], data_config.ground_truth_key or "ground_truth"
    is_chat = any(not isinstance(row.prompt, str) for row in every)
    paths = []
    for split, rows in (("train", task.prompts), ("test", task.held_out)):
        if rows:
            paths.append(str(data / f"{split}{table.ending}"))
            table.write_rows(Path(paths[-1]), (table.row(row, label, is_chat) for row in rows))
    return replace(
        files,
        train=paths[0],
        held_out=paths[1] if len(paths) > 1 else None,
        prompt_key="prompt",
        label_key=label if any(row.ground_truth is not None for row in every) else None,
        is_chat=is_chat,
        max_new_tokens=task.max_new_tokens,
        count=len(task.prompts),
        has_columns=any(row.columns for row in every),
        written=(*files.written, *paths),
    )


def _write_reward(config: RunConfig, spec: str, table: TrainerTable, folder: Path) -> Path:
    training = config.training
    return write_shim(
        spec,
        table.name,
        folder / REWARD,
        workers=training.reward_workers,
        deadline_s=training.reward_deadline_s or None,
        group_size=config.sampling.samples_per_prompt,
    ).file


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value) if isinstance(value, list | dict | tuple) else str(value)


def write_flag(flag: str, value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [f"--{flag}", *map(as_text, values)]


def write_switch(flag: str, value: Any) -> list[str]:
    """`--flag` for True, nothing for False, `--flag value …` otherwise."""
    if isinstance(value, bool):
        return [f"--{flag}"] if value else []
    return write_flag(flag, value)


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    pyarrow = require("pyarrow", extra="parquet", purpose="writing verl's data")
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing verl's data")
    try:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    except pyarrow.ArrowException as error:
        raise DataError(f"the prompts cannot be written as Parquet, where a column has one type: {error}") from error


def _messages(row: Trajectory) -> list[Any]:
    return [{"role": "user", "content": row.prompt}] if isinstance(row.prompt, str) else list(row.prompt)


def row_of_lines(row: Trajectory, label: str, is_chat: bool) -> dict[str, Any]:
    prompt = _messages(row) if is_chat else row.prompt
    return {**row.columns, "prompt": prompt, **({} if row.ground_truth is None else {label: row.ground_truth})}


def verl_row(row: Trajectory, label: str, is_chat: bool) -> dict[str, Any]:
    return {
        "data_source": row.task or "plaudit",
        "prompt": _messages(row),
        "reward_model": {"style": "rule", "ground_truth": row.ground_truth},
        "extra_info": {**row.columns, "label_key": label},
    }
