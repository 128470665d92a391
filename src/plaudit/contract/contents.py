"""Find the rewards and models that a reward holds, in its attributes and in the names that its functions use.

No declaration is needed: a model in a global variable of a reward written for another system counts as well.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

from plaudit.contract.failures import describe_failure, passed_on
from plaudit.contract.function import RewardFunction
from plaudit.errors import InvalidSettings

_MODELS = {("torch.nn.modules.module", "Module"), ("transformers.pipelines.base", "Pipeline")}
_DEEPEST = 200
MANY = 100
"""Containers with more values than this hold data, not rewards, and are not searched."""


def copies_of(reward: RewardFunction) -> int | None:
    """Maximum number of processes that may hold a copy of the reward; 1 if it holds a model and sets no `copies`."""
    declared = [each.copies for each in rewards_within(reward) if isinstance(each.copies, int) and each.copies > 0]
    if not declared and any(map(_is_model, _held(reward, set(), 0))):
        return 1
    return min(declared, default=None)


def count_workers(reward: RewardFunction, wanted: int | None = None) -> int:
    """The number of processes that score: as many as wanted, one per core by default, at most as many as the reward
    allows.
    """
    workers, copies = wanted or os.cpu_count() or 1, copies_of(reward)
    return workers if copies is None else min(workers, copies)


def warm_up(reward: RewardFunction) -> None:
    """Load what the reward and those within it need; InvalidSettings if that fails."""
    for each in rewards_within(reward):
        try:
            each.warm_up()
        except passed_on():
            raise
        except BaseException as error:
            raise InvalidSettings(describe_failure(f"warm_up of {each.name}", error).reason) from error


def rewards_within(reward: RewardFunction) -> Iterator[RewardFunction]:
    """The reward, and every reward that it holds at any depth."""
    yield reward
    for value in _held(reward, {id(reward)}, 0):
        if isinstance(value, RewardFunction):
            yield value


def _held(value: Any, met: set[int], depth: int) -> Iterator[Any]:
    for inner in _inner(value):
        if id(inner) in met or depth > _DEEPEST:  # what was met is not looked into again, so that circles end
            continue
        met.add(id(inner))
        yield inner
        yield from _held(inner, met, depth + 1)


def _inner(value: Any) -> Iterable[Any]:
    """The values directly within a reward, a container or a function; other objects are not searched."""
    if isinstance(value, RewardFunction):
        held = list(vars(value).values())
        return [*held, *(inner for each in held if _is_wrapped(each) for inner in vars(each).values())]
    if isinstance(value, Mapping):
        return list(value.values()) if len(value) <= MANY else ()
    if isinstance(value, list | tuple):
        return value if len(value) <= MANY else ()
    if isinstance(value, MethodType):
        return (value.__func__, *vars(value.__self__).values()) if hasattr(value.__self__, "__dict__") else ()
    if isinstance(value, FunctionType):
        named = (value.__globals__.get(name) for name in value.__code__.co_names)
        return [each for each in named if isinstance(each, RewardFunction | FunctionType) or _is_model(each)]
    return ()


def _is_wrapped(value: Any) -> bool:
    """Whether a value may be a foreign reward, whose attributes are searched too."""
    known = RewardFunction | FunctionType | MethodType | ModuleType | type
    return hasattr(value, "__dict__") and not isinstance(value, known) and not _is_model(value)


def _is_model(value: Any) -> bool:
    return any((base.__module__, base.__name__) in _MODELS for base in type(value).__mro__)
