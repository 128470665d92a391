"""Write a config as the training command of another trainer: `plan_launch(config, "verl", folder)`.

One key table for each trainer translates the keys. Arguments of the trainer itself are passed on as written, and
every key without a counterpart is listed.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.launching.launch_files import LaunchContext, Machines, TrainerTable, write_launch_files
from plaudit.launching.openrlhf_table import TABLE as OPENRLHF
from plaudit.launching.trl_table import TABLE as TRL
from plaudit.launching.verl_table import TABLE as VERL
from plaudit.training.config.keys import flatten
from plaudit.training.config.reading import KEYS
from plaudit.training.config.schema import RunConfig

__all__ = ["Launch", "find_table", "plan_launch"]

TABLES = {"openrlhf": OPENRLHF, "verl": VERL, "trl": TRL}
"""Every trainer and its key table."""
GPUS = 8
LINE_WIDTH = 96


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


def plan_launch(
    config: RunConfig,
    trainer: str,
    folder: str | Path,
    *,
    machines: Machines | None = None,
    extra: Sequence[str] = (),
) -> Launch:
    """The command for a config; writes the reward file and the data that it needs to `folder`.

    `extra` are arguments of the trainer itself; they are added as written and replace ours of the same name.
    """
    table = find_table(trainer)
    machines = machines or Machines(1 if trainer == "trl" and config.model.device == "cpu" else GPUS)
    values = flatten(config.to_dict())
    chosen = _choose(table, trainer, values)
    context = LaunchContext(config, write_launch_files(config, trainer, Path(folder)), machines)
    arguments: dict[str, Any] = {flag: values[key] for key, flag in table.renamed.items() if values[key] is not None}
    arguments |= chosen | {flag: value for flag, value in table.compute(context).items() if value is not None}
    words = [[*table.program(context)], *(table.write(flag, value) for flag, value in arguments.items())]
    extra_words = _split(extra)
    replaced = {_name(each) for each in extra_words}
    words = [each for each in words if _name(each) not in replaced] + extra_words
    return Launch(
        trainer=trainer,
        words=[each for each in words if each],
        unmapped=_unmapped(table, values),
        notes=context.notes,
        files=list(context.files.written),
    )


def find_table(trainer: str) -> TrainerTable:
    """The key table of a trainer."""
    if trainer not in TABLES:
        raise InvalidSettings(f"no trainer {trainer!r}{did_you_mean(trainer, TABLES)} (there are {', '.join(TABLES)})")
    return TABLES[trainer]


def _choose(table: TrainerTable, trainer: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for values that have other names in the trainer.

    Another advantage or loss would be another training, so a missing one is an error.
    """
    arguments: dict[str, Any] = {}
    for key, choices in table.choices.items():
        if values[key] in choices:
            arguments |= choices[values[key]]
        elif key in ("advantage", "loss.name"):
            raise InvalidSettings(f"{key}={values[key]}: {trainer} has {', '.join(choices)}")
    return arguments


def _unmapped(table: TrainerTable, values: Mapping[str, Any]) -> list[str]:
    """Keys without a counterpart: a value that the trainer lacks, or a key that is not at its default."""
    unmapped = []
    for key, value in values.items():
        default = KEYS[key].default if key in KEYS else None
        if key in table.choices:
            is_mapped = value in table.choices[key]
        else:
            is_mapped = key in table.renamed or key in table.computed_from or _plain(value) == _plain(default)
        if not is_mapped:
            unmapped.append(f"{key}={value if isinstance(value, str) else json.dumps(value)}")
    return unmapped


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return {} if not isinstance(value, int | float | str | dict | None) else value


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
    return words[0].partition("=")[0].lstrip("+") if words else ""


def _quote(word: str) -> str:
    """Quoted for a shell, which expands a variable of the environment."""
    return f'"{word}"' if word.startswith("$") and word[1:].isidentifier() else shlex.quote(word)
