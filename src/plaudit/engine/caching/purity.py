"""What a function does that its code and its sample do not determine: draw at random, read the clock, read files.

Found in the bytecode, by looking up what names stand for: `time.time`, `from random import choice`, `Path.read_text`.
Which of them are impure is told by `impure_names`.
Only what a function itself names is seen; what an installed package does behind a call is not.
"""

import builtins
import dis
import importlib
import random
import re
import sys
from collections.abc import Container, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from plaudit.engine.caching.impure_names import (
    CALLS_ELSEWHERE,
    IMPURE_IN_MODULE,
    IMPURE_METHODS,
    IMPURE_VALUES,
    RANDOM,
)

__all__ = ["code_objects", "find_impurity", "is_generator"]

_WRITE_MODE = re.compile(r"[wax][bt+]*")


def find_impurity(function: FunctionType) -> str | None:
    """What the function does that must not be kept, with the remedy; None where nothing was found."""
    if function.__name__ == "__hash__":  # a place in a dict decides no score
        return None
    for code in code_objects(function.__code__):
        imported = _local_imports(code)
        for names in _name_chains(code, imported):
            if message := _judge_chain(names, {**function.__globals__, **imported}):
                return f"{function.__name__} {message}"
    return None


def is_generator(value: object) -> bool:
    """Whether a value is a source of random numbers, whose state changes with every use."""
    return isinstance(value, random.Random) or type(value).__module__.startswith("numpy.random")


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from code_objects(const)


def _local_imports(code: CodeType) -> dict[str, Any]:
    """The names that imports inside a function bind, and what they stand for."""
    bound: dict[str, Any] = {}
    module: ModuleType | None = None
    value: object = None
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            module = _import(step.argval)
            value = sys.modules.get(step.argval.partition(".")[0]) if module else None
        elif step.opname == "IMPORT_FROM":
            value = getattr(module, step.argval, None)
        elif step.opname in ("STORE_FAST", "STORE_NAME", "STORE_DEREF") and value is not None:
            bound[step.argval], value = value, None
    return bound


def _import(name: str) -> ModuleType | None:
    """A module that is loaded, or one of those that a verdict depends on."""
    if name in sys.modules or name not in IMPURE_IN_MODULE:
        return sys.modules.get(name)
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _name_chains(code: CodeType, imported: Container[str]) -> Iterator[list[str]]:
    """`["time", "time"]` for `time.time`; attributes of what has no name begin with an empty one.

    A call that opens a file for writing is left out: what it writes decides no score.
    """
    chain: list[str] = [""]
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain.append(step.argval)
            continue
        if chain != [""] and not (chain[-1] == "open" and _writes(steps[place:], is_method=not chain[0])):
            yield chain
        named = step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        chain = (
            [step.argval] if named or (step.opname in ("LOAD_FAST", "LOAD_DEREF") and step.argval in imported) else [""]
        )


def _writes(steps: list[dis.Instruction], *, is_method: bool) -> bool:
    """Whether the arguments up to the next call hold a mode such as "w" or "ab"; a function's first is the file."""
    for place, step in enumerate(steps):
        if step.opname.startswith("CALL"):
            return False
        if (place or is_method) and step.opname == "LOAD_CONST" and _WRITE_MODE.fullmatch(str(step.argval)):
            return True
    return False


def _judge_chain(names: list[str], known: dict[str, Any]) -> str | None:
    value = known.get(names[0], getattr(builtins, names[0], None) if names[0] else None)
    if message := _judge_value(value, names[0]):
        return message
    for place, name in enumerate(names[1:], 2):
        written = ".".join(names[:place]).lstrip(".")
        if (message := _judge_attribute(value, name, written)) is not None:
            return message
        value = _follow(value, name)
    return None


def _judge_attribute(value: object, name: str, written: str) -> str | None:
    if name in IMPURE_METHODS and not isinstance(value, ModuleType):
        return IMPURE_METHODS[name].format(name=written)
    if not isinstance(value, ModuleType | type):
        return None
    home = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return _judge_name(str(home), name, written)


def _judge_name(home: str, name: str, written: str) -> str | None:
    """What to say of a name that belongs to the module `home`."""
    for known in (home, home.partition(".")[0]):
        if known in CALLS_ELSEWHERE:
            return CALLS_ELSEWHERE[known].format(name=written)
    rules = IMPURE_IN_MODULE.get(home, ())
    return next((message.format(name=written) for is_impure, message in rules if is_impure(name)), None)


def _judge_value(value: object, name: str) -> str | None:
    """What to say of a value by itself: a function or a class that was imported by its name."""
    for impure, called, message in IMPURE_VALUES:
        if value is impure:
            return message.format(name=called)
    if is_generator(getattr(value, "__self__", None)):
        return RANDOM.format(name=name)
    if isinstance(value, ModuleType) or not callable(value):
        return None
    home, own_name = str(getattr(value, "__module__", None)), str(getattr(value, "__name__", None))
    return _judge_name(home, own_name, f"{home}.{own_name}")


def _follow(value: object, name: str) -> object:
    """The attribute of a module or a class; nothing else is looked into, since that might run code."""
    if isinstance(value, ModuleType) and name not in vars(value):  # some packages load their parts when first used
        return _import(f"{value.__name__}.{name}")
    return vars(value).get(name) if isinstance(value, ModuleType | type) else None
