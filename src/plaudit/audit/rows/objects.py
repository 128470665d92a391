"""Edits of an object or list: another order of keys, a changed value, key or place, a part left out."""

import json
from collections.abc import Callable, Iterable, Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Any

OTHER_LETTERS = str.maketrans(ascii_lowercase + ascii_uppercase,
                               "ba" + ascii_lowercase[1:-1] + "BA" + ascii_uppercase[1:-1])  # fmt: skip
OTHER_DIGITS = str.maketrans("0123456789", "5678901234")


def rewrite_object(value: Any) -> dict[str, str]:
    """The same object written in other ways, by what is different."""
    reverse = json.dumps(_reverse_keys(value))
    return {"with its keys in reverse order": reverse, "without blanks": json.dumps(value, separators=(",", ":"))}


def _reverse_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reverse_keys(value[name]) for name in reversed(value)}
    return [*map(_reverse_keys, value)] if isinstance(value, list) else value


def change_values(value: Any, change: Callable[[Any], Any]) -> Any:
    """The object with every value changed."""
    if isinstance(value, dict):
        return {key: change_values(inner, change) for key, inner in value.items()}
    return [change_values(inner, change) for inner in value] if isinstance(value, list) else change(value)


def changed(part: Any) -> Iterator[Any]:
    """Another value of the same type."""
    if not isinstance(part, dict | list):
        yield other_value(part)


def other_value(value: Any) -> Any:
    if isinstance(value, bool | None):
        return not value
    if isinstance(value, int | float):
        return value * 3 + 7
    return value.translate(OTHER_LETTERS).translate(OTHER_DIGITS) or "x"


def with_another(part: Any) -> Iterator[Any]:
    """A text with a wrong one beside it."""
    if isinstance(part, str):
        yield f"{part} or {other_value(part)}"


def copies(value: Any, change: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Copies of the object with one of its parts changed, at any depth."""
    yield from change(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: new} for new in copies(inner, change))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], new, *value[index + 1 :]] for new in copies(inner, change))


def renamed(part: Any) -> Iterator[Any]:
    """The object with one key renamed."""
    for key in part if isinstance(part, dict) else ():
        yield {f"{name}_2" if name == key else name: each for name, each in part.items()}


def exchanged(part: Any) -> Iterator[Any]:
    """The object with its values under each other's keys."""
    exchanged = dict(zip(part, reversed(part.values()), strict=True)) if isinstance(part, dict) else part
    yield from [exchanged] if exchanged != part else ()


def reduced(part: Any) -> Iterator[Any]:
    """The object without one of its entries, and an empty one."""
    if isinstance(part, dict):
        yield from ({name: each for name, each in part.items() if name != key} for key in part)
        yield {}
    elif isinstance(part, list):
        yield from ([*part[:index], *part[index + 1 :]] for index in range(len(part)))
        yield []
