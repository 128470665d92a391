"""Derive the convention of a foreign function, object or class from its parameters."""

import inspect
from collections.abc import Callable
from typing import Any

from plaudit.contract.binding import Convention


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters a caller fills, by name; none where the signature cannot be read or a class is given."""
    if isinstance(function, type):
        return {}
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def method_parameters(owner: Any, method: str) -> dict[str, inspect.Parameter]:
    """The parameters of a method of a class or object, without `self`; methods of the metaclass do not count."""
    if not isinstance(owner, type):
        return parameters(getattr(owner, method, None))
    function = next((vars(each)[method] for each in owner.__mro__ if method in vars(each)), None)
    return dict(list(parameters(function).items())[1:])


def call_parameters(candidate: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function, or of the `__call__` of an object or of a class's objects."""
    return method_parameters(candidate, "__call__") if isinstance(candidate, type) else parameters(candidate)


def asks_for(convention: Convention, *needed: set[str]) -> Callable[[Any], bool]:
    """A test for functions of a convention: all names of one `needed` set, and no required name outside of it."""
    known = {*convention.names, *convention.plurals}

    def matches(candidate: Any) -> bool:
        accepted = call_parameters(candidate)
        return any(names <= set(accepted) for names in needed) and required_names(accepted) <= known

    return matches


def required_names(accepted: dict[str, inspect.Parameter]) -> set[str]:
    """The names of required parameters."""
    return {
        name
        for name, parameter in accepted.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
