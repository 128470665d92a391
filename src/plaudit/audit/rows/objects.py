"""Edits of an object or list: another order of keys, a changed value, key or place, a part left out."""

import json
from collections.abc import Callable, Iterable, Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Any

OTHER_LETTERS = str.maketrans(ascii_lowercase + ascii_uppercase,
                               "ba" + ascii_lowercase[1:-1] + "BA" + ascii_uppercase[1:-1])  # fmt: skip
OTHER_DIGITS = str.maketrans("0123456789", "5678901234")


def rewrite_object(value: Any) -> Iterator[str]:
    """The same object with its keys in another order, and with other blanks."""
    yield json.dumps({name: value[name] for name in reversed(value)} if isinstance(value, dict) else value)
    yield json.dumps(value, separators=(",", ":"))


def change_value(value: Any) -> Iterator[Any]:
    if isinstance(value, bool | None):
        yield not value
    elif isinstance(value, int | float):
        yield value * 3 + 7
    else:
        yield str(value).translate(OTHER_LETTERS).translate(OTHER_DIGITS) or "x"


def with_another(value: Any) -> Iterator[Any]:
    """A text with a wrong one beside it."""
    if isinstance(value, str):
        yield f"{value} or {next(change_value(value))}"


def change_all(value: Any) -> Any:
    """The object with every value changed."""
    if isinstance(value, dict):
        return {key: change_all(inner) for key, inner in value.items()}
    return [*map(change_all, value)] if isinstance(value, list) else next(change_value(value))


def copies(value: Any, change: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """Copies of the object with one of its parts changed, at any depth."""
    yield from change(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: changed} for changed in copies(inner, change))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from ([*value[:index], changed, *value[index + 1 :]] for changed in copies(inner, change))


def vary_value(value: Any, vary: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
    """Copies of the object with one value varied."""
    return copies(value, lambda part: () if isinstance(part, dict | list) else vary(part))


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


def blank(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        blanked = [(key, next(blank(inner))) for key, inner in entries]
        yield dict(blanked) if isinstance(value, dict) else [inner for _, inner in blanked]
    yield None
