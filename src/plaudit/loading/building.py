"""Make a reward of what a spec led to: build classes, call factories, wrap foreign conventions.

Brackets after a name mean a call: `file.py:Brief(limit=3)` builds a class or calls a function that makes a reward,
while `file.py:brief` takes the function itself for the reward.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects import convention_of, recognise
from plaudit.errors import InvalidReward, RewardNotLoaded, did_you_mean
from plaudit.loading.explaining import Explaining

__all__ = ["Arguments", "Found", "Loaded", "build", "is_reward_class", "signature_of"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A reward, the convention it was written in, and where it came from in words."""

    reward: RewardFunction
    convention: str
    origin: str


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stood in brackets behind a name."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What a spec led to, before it is made a reward."""

    value: Any
    spec: str
    origin: str
    imports: frozenset[str] = frozenset()


def build(found: Found, arguments: Arguments | None = None) -> Loaded:
    """The reward that was found, or an error that says what it is instead."""
    made = _made(found, arguments)
    if isinstance(made, RewardFunction):
        return Loaded(made, convention_of(made, found.imports), found.origin)
    dialect = recognise(made)
    if dialect is not None and not isinstance(made, type):
        return Loaded(dialect.wrap(made), dialect.convention, found.origin)
    if isinstance(made, type) or not callable(made):
        raise _no_reward(found, made)
    try:
        return Loaded(FunctionReward(made), "plaudit function", found.origin)
    except InvalidReward as error:
        raise RewardNotLoaded(f"{found.spec} cannot be a reward: {error}") from error


def is_reward_class(candidate: Any) -> bool:
    """True for classes whose objects are rewards, of ours or of a foreign convention."""
    return isinstance(candidate, type) and (issubclass(candidate, RewardFunction) or recognise(candidate) is not None)


def signature_of(callable_: Any) -> inspect.Signature:
    """The parameters that a call of a class or a function takes."""
    if not isinstance(callable_, type):
        return inspect.signature(callable_)
    made: Any = callable_
    if made.__init__ is object.__init__:
        return inspect.Signature()
    return inspect.Signature(list(inspect.signature(made.__init__).parameters.values())[1:])


def _made(found: Found, arguments: Arguments | None) -> Any:
    if isinstance(found.value, type):
        if not is_reward_class(found.value):
            raise _no_reward(found, found.value)
        return _called(found, arguments or Arguments())
    if arguments is None:
        return found.value
    if isinstance(found.value, RewardFunction) or not callable(found.value):
        raise RewardNotLoaded(
            f"{found.spec} is {_kind(found.value)} and takes no arguments; leave out the brackets: {found.spec}"
        )
    return _called(found, arguments)


def _called(found: Found, arguments: Arguments) -> Any:
    _check(found, signature_of(found.value), arguments)
    with Explaining(f"calling {found.spec}({_written(arguments)})"):
        return found.value(*arguments.positional, **arguments.keywords)


def _check(found: Found, signature: inspect.Signature, arguments: Arguments) -> None:
    takes = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    names = [p.name for p in takes]
    shown = f"it takes {signature}"
    for keyword in arguments.keywords:
        if keyword not in names and not takes_any:
            raise RewardNotLoaded(f"{found.spec} has no parameter {keyword!r}{did_you_mean(keyword, names)} ({shown})")
    try:
        signature.bind(*arguments.positional, **arguments.keywords)
    except TypeError as error:
        needed = [f"{p.name}=…" for p in takes if p.default is p.empty]
        example = f"; write {found.spec}({', '.join(needed)})" if needed else ""
        raise RewardNotLoaded(f"{found.spec} needs other arguments: {error} ({shown}){example}") from None


def _written(arguments: Arguments) -> str:
    parts = [repr(value) for value in arguments.positional]
    return ", ".join([*parts, *(f"{name}={value!r}" for name, value in arguments.keywords.items())])


def _kind(value: Any) -> str:
    if isinstance(value, RewardFunction):
        return "a reward already"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.ismodule(value):
        return f"the module {value.__name__}"
    return f"{type(value).__name__} {value!r:.60}"


def _no_reward(found: Found, value: Any) -> RewardNotLoaded:
    return RewardNotLoaded(
        f"{found.spec} is {_kind(value)}, not a reward; a reward is a RewardFunction, a class with "
        "compute_reward(self, trajectory) or __call__(self, trajectories, ground_truths), or a function such as "
        "def my_reward(response, ground_truth)"
    )
