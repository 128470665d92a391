"""What a dialect is: how to know a foreign convention by its signature, and how to make a reward of it.

A foreign class is recognised before it is built and wrapped afterwards, so `recognises` takes classes, objects and
functions while `wrap` takes only objects and functions.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.contract.function import RewardFunction

__all__ = ["Dialect", "is_a", "method_parameters", "name_of", "parameters", "required"]


def _none(reward: RewardFunction, imports: frozenset[str]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One foreign convention. `owns` claims rewards that are ours by class but were written for that system."""

    convention: str
    recognises: Callable[[Any], bool]
    wrap: Callable[[Any], RewardFunction]
    owns: Callable[[RewardFunction, frozenset[str]], bool] = _none


def is_a(wrapper: type[RewardFunction]) -> Callable[[RewardFunction, frozenset[str]], bool]:
    """An `owns` that claims the rewards of one class."""
    return lambda reward, imports: isinstance(reward, wrapper)


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters a caller fills, by name; none where the signature cannot be read or a class is given."""
    if isinstance(function, type):
        return {}
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def method_parameters(owner: Any, method: str) -> dict[str, inspect.Parameter]:
    """The parameters of a method of a class or of an object, without `self`."""
    found = parameters(getattr(owner, method, None))
    return dict(list(found.items())[1:]) if isinstance(owner, type) else found


def required(asked: dict[str, inspect.Parameter]) -> set[str]:
    """The names that a caller must fill."""
    return {
        name
        for name, parameter in asked.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def name_of(foreign: Any) -> str:
    """What a foreign function or object is called."""
    return str(getattr(foreign, "__name__", type(foreign).__name__))
