"""What a function does that its code and its sample do not determine: draw at random, read the clock, read files.

Found in the bytecode, by looking up what names stand for: `time.time`, `from random import choice`, `Path.read_text`.
Only what a function itself names is seen; what an installed package does behind a call is not.
"""

import builtins
import dis
import importlib
import io
import os
import random
import re
import sys
from collections.abc import Callable, Container, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["code_objects", "find_impurity", "is_generator"]

_RANDOM = "draws at random ({name}): the same sample may score differently next time; say deterministic=False"
_CLOCK = "reads the clock ({name}): the same sample may score differently next time; say deterministic=False"
_FILES = (
    "reads files while it scores ({name}), whose content is not known before; read them when the module is imported, "
    "or say deterministic=False"
)
_IMPORTS = "loads code by a name that is made while it scores ({name}); import it at the top of the file"

_CLOCKS = frozenset({
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "thread_time",
    "localtime", "gmtime", "ctime",
})  # fmt: skip
_DRAWS = frozenset(
    {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "normal", "bernoulli", "multinomial"}
)
_FOLDERS = frozenset({"open", "listdir", "scandir", "walk", "stat", "lstat", "popen"})
_LOADERS = frozenset({"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open_memmap"})
_SEEDED = frozenset({"Random", "default_rng", "RandomState", "Generator", "SeedSequence", "PCG64"})

_IN_MODULE: dict[str, tuple[Callable[[str], bool], str]] = {
    "random": (lambda name: name not in _SEEDED, _RANDOM),
    "secrets": (lambda name: True, _RANDOM),
    "uuid": (lambda name: name in ("uuid1", "uuid4"), _RANDOM),
    "numpy.random": (lambda name: name not in _SEEDED, _RANDOM),
    "torch": (lambda name: name in _DRAWS, _RANDOM),
    "time": (lambda name: name in _CLOCKS, _CLOCK),
    "datetime": (lambda name: name in ("now", "utcnow", "today"), _CLOCK),
    "os": (lambda name: name in _FOLDERS, _FILES),
    "glob": (lambda name: name in ("glob", "iglob"), _FILES),
    "gzip": (lambda name: name == "open", _FILES),
    "bz2": (lambda name: name == "open", _FILES),
    "lzma": (lambda name: name == "open", _FILES),
    "codecs": (lambda name: name == "open", _FILES),
    "pkgutil": (lambda name: name == "get_data", _FILES),
    "importlib.resources": (lambda name: True, _FILES),
    "sqlite3": (lambda name: name == "connect", _FILES),
    "numpy": (lambda name: name in _LOADERS, _FILES),
    "pandas": (lambda name: name.startswith("read_"), _FILES),
    "importlib": (lambda name: name in ("import_module", "reload"), _IMPORTS),
    "runpy": (lambda name: True, _IMPORTS),
}
"""Which names of a module are impure, and what to say of them."""

_VALUES: list[tuple[object, str, str]] = [
    (open, "open", _FILES),
    (io.open, "io.open", _FILES),
    (os.open, "os.open", _FILES),
    (os.urandom, "os.urandom", _RANDOM),
    (__import__, "__import__", _IMPORTS),
    (eval, "eval", _IMPORTS),
    (exec, "exec", _IMPORTS),
]
_WRITE_MODE = re.compile(r"[wax][bt]?")
_ATTRIBUTES = {"read_text": _FILES, "read_bytes": _FILES, "iterdir": _FILES, "rglob": _FILES}
"""Names of methods that say by themselves what they do, whatever object they belong to."""


def find_impurity(function: FunctionType) -> str | None:
    """What the function does that must not be kept, with the remedy; None where nothing was found."""
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
    if name in sys.modules or name not in _IN_MODULE:
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
        if chain != [""] and not (chain[-1] == "open" and _writes(steps[place:])):
            yield chain
        named = step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        chain = (
            [step.argval] if named or (step.opname in ("LOAD_FAST", "LOAD_DEREF") and step.argval in imported) else [""]
        )


def _writes(steps: list[dis.Instruction]) -> bool:
    """Whether the arguments up to the next call, but for the first, hold a mode such as "w" or "ab"."""
    for place, step in enumerate(steps):
        if step.opname.startswith("CALL"):
            return False
        if place and step.opname == "LOAD_CONST" and _WRITE_MODE.fullmatch(str(step.argval)):
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
    if name in _ATTRIBUTES and not isinstance(value, ModuleType):
        return _ATTRIBUTES[name].format(name=written)
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    rule = _IN_MODULE.get(str(home)) if isinstance(value, ModuleType | type) else None
    return rule[1].format(name=written) if rule is not None and rule[0](name) else None


def _judge_value(value: object, name: str) -> str | None:
    """What to say of a value by itself: a function that was imported by its name."""
    for impure, called, message in _VALUES:
        if value is impure:
            return message.format(name=called)
    owner = getattr(value, "__self__", None)
    if is_generator(owner):
        return _RANDOM.format(name=name)
    if isinstance(value, ModuleType | type) or not callable(value):
        return None
    home, own_name = str(getattr(value, "__module__", None)), str(getattr(value, "__name__", None))
    rule = _IN_MODULE.get(home)
    return rule[1].format(name=f"{home}.{own_name}") if rule is not None and rule[0](own_name) else None


def _follow(value: object, name: str) -> object:
    """The attribute of a module or a class; nothing else is looked into, since that might run code."""
    if isinstance(value, ModuleType) and name not in vars(value):  # some packages load their parts when first used
        return _import(f"{value.__name__}.{name}")
    return vars(value).get(name) if isinstance(value, ModuleType | type) else None
