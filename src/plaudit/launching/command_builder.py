"""What a launch is written on: arguments of the other trainer's command, and what they leave out or change.

Every key of a config that a trainer's table does not take, and that is not at its default, ends up in `unmapped`, so
that nothing is dropped in silence.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.errors import InvalidSettings
from plaudit.launching.definitions import Definitions
from plaudit.launching.launch_files import LaunchFiles
from plaudit.training.config.reading import KEYS
from plaudit.training.config.schema import RunConfig
from plaudit.training.config.section import flatten
from plaudit.training.learning.from_config import build_loss
from plaudit.training.learning.loss_settings import LossSettings

__all__ = ["Launch", "Machines", "CommandBuilder"]

WIDE = 96


@dataclass(frozen=True, slots=True)
class Machines:
    """Where the trainer runs."""

    gpus: int = 8
    """Of each node."""
    nodes: int = 1

    def __post_init__(self) -> None:
        if self.gpus < 1 or self.nodes < 1:
            raise InvalidSettings(f"a trainer needs at least one GPU and one node, got {self.gpus} and {self.nodes}")

    @property
    def processes(self) -> int:
        return self.gpus * self.nodes


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that trains elsewhere what a config says."""

    trainer: str
    version: str
    origin: str
    """Whether that version is `installed`, or its definitions are `pinned`."""
    words: list[list[str]]
    """The command: the program first, then each argument with its values."""
    unmapped: list[str]
    """Keys that the trainer has no word for, with their values."""
    differences: list[str]
    """What means something else there."""
    files: list[str]
    """What was written for it."""

    @property
    def command(self) -> str:
        """The command for a shell, an argument a line."""
        lines = [" ".join(_quote(word) for word in words) for words in self.words]
        return " \\\n    ".join(_fill(lines))


@dataclass(slots=True)
class CommandBuilder:
    """The arguments of a command while they are collected."""

    config: RunConfig
    launch_files: LaunchFiles
    machines: Machines
    definitions: Definitions
    arguments: dict[str, list[str]] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def loss(self) -> LossSettings:
        return build_loss(self.config, self.launch_files.max_new_tokens)

    @property
    def values(self) -> dict[str, Any]:
        return flatten(self.config.to_dict())

    def give(self, name: str, *values: object) -> None:
        """Give an argument."""
        self.arguments[name] = [_text(value) for value in values]

    def give_keys(self, names: Mapping[str, str]) -> None:
        """Give arguments that mean the same as keys; a key without a value is left to the trainer."""
        values = self.values
        for key, name in names.items():
            self.take(key)
            if values[key] is not None:
                self.give(name, values[key])

    def take(self, *keys: str) -> None:
        """These keys are spoken for."""
        self.taken.update(keys)

    def differ(self, text: str) -> None:
        """Something means something else there."""
        self.differences.append(text)

    def refuse(self, key: str, because: str) -> None:
        """The trainer has no word for this value."""
        self.take(key)
        self.refused[key] = because

    def unmapped(self) -> list[str]:
        """Keys with their values that stand for nothing in the command."""
        values = self.values
        told = {key: f"{key}={_text(values[key])}: {because}" for key, because in self.refused.items()}
        for key, value in values.items():
            known = KEYS.get(key)
            default = None if known is None else _plain(known.default)
            if key not in self.taken and _plain(value) != default:
                told[key] = f"{key}={_text(value)}"
        return list(told.values())

    def override(self, extra: Mapping[str, Sequence[str]]) -> None:
        """Arguments of the user's own take the place of ours."""
        self.arguments.update({name: list(values) for name, values in extra.items()})


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return json.dumps(value) if isinstance(value, list | dict | tuple) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return {} if not isinstance(value, int | float | str | dict | None) else value


def _quote(word: str) -> str:
    """As a shell takes it; a variable of the environment is left to the shell."""
    return f'"{word}"' if word.startswith("$") and word[1:].isidentifier() else shlex.quote(word)


def _fill(lines: Sequence[str]) -> list[str]:
    """Lines of several arguments, as wide as reads well."""
    filled = [lines[0]]
    for line in lines[1:]:
        if len(filled) > 1 and len(filled[-1]) + len(line) < WIDE:
            filled[-1] += f" {line}"
        else:
            filled.append(line)
    return filled
