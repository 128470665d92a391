"""What the parameters of a foreign function, object or class tell about its convention."""

import inspect
from collections.abc import Callable
from typing import Any

from plaudit.contract.binding import Convention

__all__ = ["asks_for", "call_parameters", "method_parameters", "parameters", "required_names"]


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters a caller fills, by name; none where the signature cannot be read or a class is given."""
    if isinstance(function, type):
        return {}
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def method_parameters(owner: Any, method: str) -> dict[str, inspect.Parameter]:
    """The parameters of a method of a class or of an object, without `self`; what its metaclass has is not its own."""
    if not isinstance(owner, type):
        return parameters(getattr(owner, method, None))
    own = next((vars(each)[method] for each in owner.__mro__ if method in vars(each)), None)
    return dict(list(parameters(own).items())[1:])


def call_parameters(candidate: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, or of the `__call__` of an object or of a class's objects."""
    return method_parameters(candidate, "__call__") if isinstance(candidate, type) else parameters(candidate)


def asks_for(convention: Convention, *needed: set[str]) -> Callable[[Any], bool]:
    """What tells a function of a convention: it has all names of one of the `needed` sets, and requires no others."""
    known = {*convention.names, *convention.plurals}

    def matches(candidate: Any) -> bool:
        asked = call_parameters(candidate)
        return any(names <= set(asked) for names in needed) and required_names(asked) <= known

    return matches


def required_names(asked: dict[str, inspect.Parameter]) -> set[str]:
    """The names that a caller must fill."""
    return {
        name
        for name, parameter in asked.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
