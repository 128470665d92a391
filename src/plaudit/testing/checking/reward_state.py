"""The state of a reward between calls: attributes, closure variables, module globals, default arguments.

Fingerprints before and after scoring show what changed, in values that can be pickled or printed.
"""

import functools
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import FunctionReward, RewardFunction

__all__ = ["find_changes", "capture_state"]

_FOREIGN_TO_STATE = (ModuleType, type, staticmethod, classmethod, property)
_UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError, NotImplementedError)


def capture_state(reward: RewardFunction) -> dict[str, bytes]:
    """A fingerprint of everything the reward can remember with, by name."""
    if isinstance(reward, CompoundReward):
        return {f"{part.name}: {name}": mark for part in reward.parts for name, mark in capture_state(part).items()}
    held = dict(_attributes(reward))
    for function in _functions(reward):
        held.update(_variables(function))
    return {name: _fingerprint(value) for name, value in held.items()}


def find_changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """The names that are new or hold something else."""
    return sorted(name for name, mark in after.items() if before.get(name) != mark)


def _attributes(reward: RewardFunction) -> Iterator[tuple[str, Any]]:
    for owner in (*_own_classes(reward), reward):
        for name, value in getattr(owner, "__dict__", {}).items():
            if not name.startswith("__") and not callable(value) and not isinstance(value, _FOREIGN_TO_STATE):
                yield name, value


def _functions(reward: RewardFunction) -> Iterator[Callable[..., Any]]:
    if isinstance(reward, FunctionReward):
        plain = reward.function.func if isinstance(reward.function, functools.partial) else reward.function
        yield from filter(inspect.isfunction, [inspect.unwrap(plain)])
    for owner in _own_classes(reward):
        yield from filter(inspect.isfunction, vars(owner).values())


def _own_classes(reward: RewardFunction) -> list[type]:
    return [
        owner for owner in type(reward).__mro__ if not owner.__module__.startswith(("plaudit.contract", "builtins"))
    ]


def _variables(function: Callable[..., Any]) -> dict[str, Any]:
    closed = inspect.getclosurevars(function)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty
    }
    return {
        name: value
        for name, value in {**closed.globals, **closed.nonlocals, **defaults}.items()
        if not inspect.isroutine(value) and not isinstance(value, _FOREIGN_TO_STATE)
    }


def _fingerprint(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except _UNPICKLABLE:
        return repr(value).encode(errors="surrogatepass")
