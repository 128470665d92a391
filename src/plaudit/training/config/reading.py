"""The config of a training run: a YAML file, then `key=value` overrides; and back to YAML with every key explained."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from plaudit.errors import InvalidSettings
from plaudit.loading.catalog import find_named
from plaudit.loading.names import files_that_define, locate_files
from plaudit.settings import read_settings
from plaudit.training.config.keys import Key, Keys, flatten, read_config_file
from plaudit.training.config.schema import RunConfig, TaskPart

TASKS = "tasks"
_RUN = Keys(RunConfig, command="train")
KEYS: dict[str, Key] = _RUN.by_name
"""Every key by its dotted name."""


def load_config(
    file: str | Path | None = None, overrides: Iterable[str] = (), *, base: Mapping[str, Any] | None = None
) -> RunConfig:
    """The config of a YAML file (or of `base`, or the defaults) with `section.key=value` overrides."""
    values = flatten(read_config_file(file) if file is not None else dict(base or {}))
    if file is not None:
        values = _locate_all(values, Path(file).parent)
    return build_config(_RUN.override(values, overrides))


def build_config(values: Mapping[str, Any]) -> RunConfig:
    """The config of plain values, nested or dotted; raises an error for unknown keys and values out of range."""
    return _RUN.build(read_tasks(values))


def document_config(config: RunConfig) -> str:
    """The config as YAML with the meaning of every key; it can be read back."""
    return _RUN.document(config)


def _locate_all(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Replace names of files by paths, if the files are in the folder of the config."""
    located = {}
    for name, value in values.items():
        if name.startswith(f"{TASKS}.") and isinstance(value, Mapping):
            located[name] = {key: _locate(f"{TASKS}.{key}", each, folder) for key, each in value.items()}
        else:
            located[name] = _locate(name, value, folder)
    return located


def _locate(name: str, value: Any, folder: Path) -> Any:
    return _LOCATE[name](value, folder) if name in _LOCATE and isinstance(value, str) else value


def _locate_reward(spec: str, folder: Path) -> str:
    """The spec with the paths of its files; a bare name that one file of the folder defines is that file's."""
    files = files_that_define(spec, folder) if spec.isidentifier() and find_named(spec) is None else []
    return f"{files[0]}:{spec}" if len(files) == 1 else locate_files(spec, [folder])


_LOCATE: dict[str, Callable[[str, Path], str]] = {
    "training.reward_function": _locate_reward,
    "eval.reward_function": _locate_reward,
    "tasks.reward": _locate_reward,
    "training.reward_lock": lambda lock, folder: str(folder / lock) if (folder / lock).is_file() else lock,
    "task": lambda spec, folder: locate_files(spec, [folder]),
    "tasks.task": lambda spec, folder: locate_files(spec, [folder]),
}
"""The keys that name files, with how they are searched in the folder of the config; `tasks.KEY` is of any task."""


def read_tasks(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config with every part of its mixture whole; later values take the place of earlier ones."""
    rest: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for name, value in flatten(values).items():
        section, _, key = name.partition(".")
        if section != TASKS:
            rest[name] = value
        elif key:
            _set_part(parts, key, value)
        elif value and not isinstance(value, Mapping):
            raise InvalidSettings(
                f"tasks are names with weights or keys, such as {{sort_digits: 1}}; got {value!r:.60}"
            )
    tasks = {name: read_settings(TaskPart, _whole_part(part), f"tasks.{name}") for name, part in parts.items()}
    return {**rest, TASKS: {name: msgspec.to_builtins(part) for name, part in tasks.items()}}


def _set_part(parts: dict[str, Any], name: str, value: Any) -> None:
    """Set a part of a mixture, or a key of one (`sums.weight`), or a key of that (`sums.options.size`)."""
    name, *keys = name.split(".")
    if not keys:
        parts[name] = value
        return
    within = parts[name] = _whole_part(parts.get(name, {}))
    for key in keys[:-1]:
        within[key] = dict(within.get(key) or {})
        within = within[key]
    within[keys[-1]] = value


def _whole_part(part: Any) -> dict[str, Any]:
    """A part with its keys; a number is a weight."""
    return dict(part or {}) if isinstance(part, Mapping | None) else {"weight": part}
