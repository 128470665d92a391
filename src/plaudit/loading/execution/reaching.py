"""What a value can reach when it runs: global names, objects, modules and absent packages.

The walk follows functions (globals, closures, defaults), classes and their methods, instances and containers. Code of
installed packages is not followed; the objects that it holds are.
"""

import builtins
import dis
import enum
import functools
import gc
import importlib.util
import inspect
import logging
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import CellType, CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any, TypeAlias

from plaudit.dialects.stub_packages import Missing

GlobalName: TypeAlias = tuple[int, str]
"""A global name: the id of the module's namespace, and the name; or the id of a cell, and the variable's name."""
UNRESOLVED = "names that nothing defines"
"""The name in a `GlobalName` for any name that neither the module nor Python defines."""
MAX_OBJECTS = 200_000
_DYNAMIC_CALLS = frozenset({"eval", "exec", "globals", "__import__"})
_DYNAMIC_ATTRIBUTES = frozenset({"__globals__", "f_globals", "f_back", "currentframe"})
_ATOMS = (
    *(str, bytes, int, float, complex, bool, type(None), type(...), re.Pattern, CodeType, range, slice),
    *(logging.Logger, PurePath, FrameType, TracebackType),
)
_GLOBAL_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_GLOBAL_STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_CELL_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_INSTALLED = tuple(
    {sysconfig.get_path(each) for each in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(__file__).parents[2])}
)


@dataclass
class Reached:
    """Everything that a walk reached."""

    global_names: set[GlobalName] = field(default_factory=set)
    objects: dict[int, Any] = field(default_factory=dict)
    stores: set[GlobalName] = field(default_factory=set)
    """Global names and attributes of modules that the code sets or deletes."""
    kinds: list[type] = field(default_factory=list)
    """The user's classes of the objects, where the walk was of data only."""
    missing: list[Missing] = field(default_factory=list)
    """Names that the stub of an absent package does not provide."""
    absent_packages: dict[str, str] = field(default_factory=dict)
    """Packages that a function imports when it runs and that are not installed, and the function."""
    undefined: dict[str, str] = field(default_factory=dict)
    """Global names that neither the module nor Python has, and the function that reads them."""
    dynamic: str = ""
    """The place where the code uses names that cannot be known before it runs; empty if there is none."""
    sets_attributes: bool = False
    """Whether the code sets attributes of other objects than `self`."""


def reach(*values: Any, data_only: bool = False) -> Reached:
    """The objects that values can use when they are called; with `data_only`, those that they hold, without functions
    and classes.
    """
    walk = _Walk(data_only)
    walk.run(list(values))
    return walk.reached


def reach_statement(code: CodeType, namespace: dict[str, Any]) -> Reached:
    """The objects that a compiled statement can use when it is executed; bodies of functions that it defines do not
    run.
    """
    walk = _Walk()
    walk.run(walk.values_of_code(code, namespace, "the statement", defined_only=True))
    return walk.reached


def stores_of(code: CodeType, namespace: dict[str, Any]) -> set[GlobalName]:
    """The global names that a compiled statement, or code inside it, sets or deletes."""
    inner = [each for nested in _nested(code) for each in dis.get_instructions(nested) if each.opname in _GLOBAL_STORES]
    outer = [each for each in dis.get_instructions(code) if each.opname in ("STORE_NAME", "DELETE_NAME")]
    return {(id(namespace), str(each.argval)) for each in (*inner, *outer)}


def is_data(value: Any) -> bool:
    """Whether code that gets a value may change it: not functions, classes, modules and immutable values."""
    if isinstance(value, tuple | frozenset):
        return any(is_data(each) for each in value)
    is_code = isinstance(value, type | ModuleType | CellType | functools.partial) or inspect.isroutine(value)
    return not (is_code or inspect.isdatadescriptor(value) or isinstance(value, (*_ATOMS, enum.Enum)))


class _Walk:
    def __init__(self, data_only: bool = False) -> None:
        self.reached, self.data_only = Reached(), data_only

    def run(self, values: list[Any]) -> None:
        waiting, seen = list(values), self.reached.objects
        while waiting:
            value = waiting.pop()
            if isinstance(value, Missing):
                self.reached.missing.append(value)
            elif not isinstance(value, _ATOMS) and id(value) not in seen:
                seen[id(value)] = value
                if len(seen) > MAX_OBJECTS:
                    self.reached.dynamic = f"more than {MAX_OBJECTS} objects"
                    return
                if self.data_only and is_project(type(value)) and is_data(value):
                    self.reached.kinds.append(type(value))
                if not (self.data_only and isinstance(value, FunctionType | MethodType | type)):
                    waiting += self.values_of(value)

    def values_of(self, value: Any) -> Iterator[Any]:
        """The values that a value leads to directly."""
        if isinstance(value, FunctionType):
            yield from self.cells_of(value)
            yield from (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *vars(value).values())
            if is_project(value):
                yield from self.values_of_code(value.__code__, value.__globals__, value.__qualname__)
        elif isinstance(value, type):
            for owner in value.__mro__ if is_project(value) else ():
                yield owner
                yield from _members_of(owner) if is_project(owner) else ()
        elif isinstance(value, functools._lru_cache_wrapper):
            caches = [each for each in gc.get_referents(value) if type(each) is dict and each is not vars(value)]
            yield from (value.__wrapped__, *(result for cache in caches for result in cache.values()))
        elif not isinstance(value, ModuleType):
            yield type(value)
            yield from gc.get_referents(value)  # runs no code of the user

    def cells_of(self, function: FunctionType) -> Iterator[CellType]:
        """The variables of enclosing functions that a function reads or sets."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        steps = [step for code in _nested(function.__code__) for step in dis.get_instructions(code)] if cells else []
        stored = {step.argval for step in steps if step.opname in _CELL_STORES}
        self.reached.global_names |= {(id(cell), name) for name, cell in cells.items()}
        self.reached.stores |= {(id(cell), name) for name, cell in cells.items() if name in stored}
        yield from cells.values()

    def values_of_code(
        self, code: CodeType, namespace: dict[str, Any], where: str, *, defined_only: bool = False
    ) -> list[Any]:
        values: list[Any] = []
        attributes: set[str] = set()
        stored: set[str] = set()
        for each in _nested(code, defined_only=defined_only):
            attributes |= set(each.co_names)
            steps = list(dis.get_instructions(each))
            for index, step in enumerate(steps):
                name = str(step.argval)
                if step.opname in _GLOBAL_READS:
                    values += self.values_of_global(name, namespace, where)
                elif step.opname in _GLOBAL_STORES:
                    self.reached.stores.add((id(namespace), name))
                elif step.opname in ("STORE_ATTR", "DELETE_ATTR"):
                    stored.add(name)
                    self.reached.sets_attributes |= _owner_name(steps[:index]) != "self"
                elif step.opname == "IMPORT_NAME" and not defined_only:
                    values += [sys.modules[name]] if name in sys.modules else []
                    if not is_installed(name):
                        self.reached.absent_packages.setdefault(name.partition(".")[0], where)
        self.reached.sets_attributes |= bool(attributes & {"setattr", "delattr"})
        if found_dynamic := attributes & _DYNAMIC_ATTRIBUTES:
            self.reached.dynamic = f"{min(found_dynamic)} in {where}"
        for module in [each for each in values if isinstance(each, ModuleType)]:
            values += self.values_of_module(module, attributes, stored, where)
        return values

    def values_of_global(self, name: str, namespace: dict[str, Any], where: str) -> list[Any]:
        self.reached.global_names.add((id(namespace), name))
        if name in namespace:
            return [namespace[name]]
        if name in _DYNAMIC_CALLS:
            self.reached.dynamic = f"{name}() in {where}"
        elif not hasattr(builtins, name):
            self.reached.global_names.add((id(namespace), UNRESOLVED))
            self.reached.undefined.setdefault(name, where)
        return []

    def values_of_module(self, module: ModuleType, attributes: set[str], stored: set[str], where: str) -> list[Any]:
        """The attributes of a module that code may read: those that it names, all if it computes a name."""
        names, is_own = vars(module), is_project(module)
        self.reached.objects[id(module)] = module
        computing = attributes & {"getattr", "setattr", "delattr", "vars", "__dict__"}
        if (module is sys and "modules" in attributes) or (is_own and computing):
            self.reached.dynamic = f"attributes of the module {module.__name__} in {where}"
        self.reached.global_names |= {(id(names), name) for name in attributes}
        self.reached.stores |= {(id(names), name) for name in stored}
        values = [names[name] for name in attributes if name in names]
        if not is_own:
            return [each for each in values if not isinstance(each, ModuleType | type | FunctionType)]
        for each in [each for each in values if isinstance(each, ModuleType) and id(each) not in self.reached.objects]:
            values += self.values_of_module(each, attributes, stored, where)
        return values


def _owner_name(steps: Sequence[dis.Instruction]) -> str:
    """The variable that the next instruction sets an attribute of, or of one of its attributes; empty if it is none."""
    if steps[-1].opname == "SWAP":  # `owner.name += value`: the owner was copied before the value was read
        steps = steps[: max((index for index, step in enumerate(steps) if step.opname == "COPY"), default=1)]
    owner = next((step for step in reversed(steps) if step.opname != "LOAD_ATTR"), None)
    if owner is None or not owner.opname.startswith("LOAD_FAST"):
        return ""
    return str(owner.argval[-1] if isinstance(owner.argval, tuple) else owner.argval)


def _nested(code: CodeType, *, defined_only: bool = False) -> Iterator[CodeType]:
    """The code and the code inside it; with `defined_only`, without the bodies of functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            is_function = constant.co_flags & inspect.CO_OPTIMIZED and not constant.co_name.startswith("<")
            if not (defined_only and is_function):
                yield from _nested(constant, defined_only=defined_only)


@functools.lru_cache(maxsize=512)
def is_installed(name: str) -> bool:
    """Whether the package of a module can be found."""
    root = name.partition(".")[0]
    if root in sys.modules or root in sys.stdlib_module_names or not root:
        return True
    try:
        return importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        return True


def is_project(value: Any) -> bool:
    """Whether a function, a class or a module is defined in a file of the user, not in a package or in Python."""
    if isinstance(value, FunctionType):
        return is_project_file(value.__code__.co_filename)
    module = sys.modules.get(value.__module__) if isinstance(value, type) else value
    return isinstance(module, ModuleType) and is_project_file(str(vars(module).get("__file__") or "<"))


@functools.lru_cache(maxsize=4096)
def is_project_file(name: str) -> bool:
    """Whether a file is the user's, not of a package or of Python."""
    parts = Path(name).parts
    return not (name.startswith(("<", *_INSTALLED)) or "site-packages" in parts or "dist-packages" in parts)


def _members_of(owner: type) -> Iterator[Any]:
    """The members that a class defines, without those that Python adds, such as its annotations."""
    kept = ("_",) if issubclass(owner, enum.Enum) else ("__", "_abc_")
    for name, value in vars(owner).items():
        if callable(value) or inspect.isroutine(value) or not name.startswith(kept):
            yield value
