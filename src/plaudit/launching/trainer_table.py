"""What the key table of a trainer consists of, and what its arguments are computed from."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.launching.launch_files import LaunchFiles
from plaudit.training.config.schema import RunConfig

__all__ = [
    "Arguments", "FILES", "LaunchContext", "Machines", "PROMPT_TOKENS", "TrainerTable", "note_data_elsewhere",
    "one_flag", "refuse_agents_and_servers", "write_flag", "write_setting", "write_switch",
]  # fmt: skip

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
