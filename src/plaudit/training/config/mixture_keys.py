"""Read the key `tasks`, in all the ways in which a mixture may be written.

A part is a weight (`sums: 2`), a task (`sums: addition`) or a mapping of its keys; on the command line a key of one is
`tasks.sums.weight=2`, and a key of that `tasks.sums.options.below=9`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.config.section import flatten
from plaudit.training.config.task_keys import TaskPart

__all__ = ["read_tasks"]

TASKS = "tasks"


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
    return {**rest, TASKS: {name: _read_part(name, part) for name, part in parts.items()}}


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
    """A part with its keys: a number is a weight, a text a task."""
    if part is None:
        return {}
    return dict(part) if isinstance(part, Mapping) else {"task" if isinstance(part, str) else "weight": part}


def _read_part(name: str, part: Any) -> dict[str, Any]:
    try:
        read = msgspec.convert(_whole_part(part), TaskPart, strict=False)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$.")
        key = place.rstrip("`")
        known = [field.name for field in msgspec.structs.fields(TaskPart)]
        unknown = next((each for each in _whole_part(part) if each not in known), "")
        hint = (
            did_you_mean(unknown, known) + f" (a task has {', '.join(known)}, and no dot in its name)"
            if unknown
            else ""
        )
        raise InvalidSettings(f"tasks.{name}{f'.{key}' if key else ''}: {what[:1].lower()}{what[1:]}{hint}") from None
    return msgspec.to_builtins(read)  # type: ignore[no-any-return]
