"""The texts and names in the code of an environment, which an attacker can read and a policy can guess."""

import functools
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plaudit.audit.attacks.patterns import examples_of

MOST_TEXTS, MOST_NAMES, MOST_OBJECTS, LONGEST = 60, 80, 400, 60

_SOLUTIONS = ("examples", "build_tasks")
"""Methods that return solutions; their texts are left out."""


class CodeTexts(NamedTuple):
    """The texts that the code compares and shows, with examples of its patterns; and the names that it uses."""

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def read_code(environment: type) -> CodeTexts:
    """The texts and names of a class, of what it inherits and wraps, and of the globals that its functions use.

    Code of plaudit and of installed packages is left out.
    """
    texts: dict[str, None] = {}
    names: dict[str, None] = {}
    waiting: list[Any] = [environment]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_OBJECTS:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, str):
            texts.update(dict.fromkeys(_possible_actions(value)))
        elif inspect.isfunction(value):
            names.update(dict.fromkeys([*_names(value), value.__name__]))
        waiting += _inner(value)
    return CodeTexts(tuple(texts)[:MOST_TEXTS], tuple(names)[:MOST_NAMES])


def _possible_actions(text: str) -> Iterator[str]:
    """The text itself if it is short, and a text that it matches if it is a pattern."""
    plain = text.strip()
    if len(plain) <= LONGEST and "\n" not in plain and re.search(r"\w", plain):
        yield plain
    for example in examples_of(text, "x"):
        yield example.text


def _inner(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    if isinstance(value, re.Pattern):
        return [value.pattern]
    if isinstance(value, functools.partial | property | staticmethod | classmethod):
        return [getattr(value, name) for name in ("func", "fget", "__func__") if hasattr(value, name)]
    if inspect.isfunction(value):
        return _inside_function(value)
    if isinstance(value, type) and value.__module__ != "builtins":
        return [each for kind in value.__mro__ for each in _inside_class(kind)]
    return []


def _inside_class(kind: type) -> list[Any]:
    if _is_foreign(kind.__module__):  # of an adapter, only the class that it wraps
        functions = [value for value in vars(kind).values() if inspect.isfunction(value)]
        return [cell for function in functions for cell in _closure(function) if isinstance(cell, type)]
    return [value for name, value in vars(kind).items() if name not in _SOLUTIONS and not _is_special(name, value)]


def _is_special(name: str, value: Any) -> bool:
    return name.startswith("__") and not inspect.isfunction(value)


def _inside_function(function: Any) -> list[Any]:
    inner = inspect.unwrap(function)
    if _is_foreign(str(inner.__module__)):
        return []
    constants = [each for each in _constants(inner.__code__) if each != inner.__doc__]
    used = [inner.__globals__[name] for name in _names(inner) if name in inner.__globals__]
    return [*constants, *_closure(inner), *used]


def _closure(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]


def _names(function: Any) -> tuple[str, ...]:
    return () if _is_foreign(str(function.__module__)) else tuple(function.__code__.co_names)


def _constants(code: Any) -> Iterator[Any]:
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _constants(constant)
        elif constant is not None:
            yield constant


@functools.cache
def _is_foreign(module: str) -> bool:
    """Whether a module belongs to plaudit or to an installed package."""
    home = getattr(sys.modules.get(module), "__file__", "") or ""
    return module.partition(".")[0] in ("plaudit", "builtins", "abc", "typing") or "site-packages" in home
