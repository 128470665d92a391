"""Identify a reward by its code and parameters, the same in every process.

Whatever the reward can reach counts: attributes, nested rewards, closures, defaults and the globals that its functions
name, by value; functions and classes by their code and the whole text of their file. What cannot be identified makes
the reward uncacheable, and so does code that visibly depends on something else (`purity`). As for pickling, a class
says through `__getstate__` what its objects consist of.
"""

import copyreg
import dis
import enum
import functools
import hashlib
import logging
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    EllipsisType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    NotImplementedType,
)  # fmt: skip
from typing import Any

import msgspec

from plaudit.contract.function import RewardFunction
from plaudit.engine.caching.origins import Home, Origin, origin_of
from plaudit.engine.caching.purity import code_objects, find_impurity, is_generator

__all__ = ["DIGEST_SIZE", "Fingerprint", "NotIdentified", "fingerprint", "identity", "reward_key"]

DIGEST_SIZE = 16
_LEADS_TO_ID = frozenset({"id", "named", "to_dict", "to_json", "to_builtins", "asdict", "astuple", "__struct_fields__"})
_INERT = (logging.Logger, type(threading.Lock()), type(threading.RLock()))
_DESCRIPTORS = (MemberDescriptorType, GetSetDescriptorType)
_NOT_REDUCED = (TypeError, AttributeError, ValueError, RuntimeError, OSError)


class NotIdentified(Exception):
    """Something that no bytes can stand for."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies a reward; `digest` is None where its scores must not be kept, and `reason` says why.

    `reads_id` is True where its code may read the id of a sample, which says nothing about the score otherwise.
    """

    digest: bytes | None
    reason: str = ""
    reads_id: bool = False


def fingerprint(reward: RewardFunction) -> Fingerprint:
    """The fingerprint of a reward as it is now."""
    walk = _Walk([reward.name])
    try:
        encoded = _join("reward", [origin_of("sys").identity, walk.encode_value(reward)])
    except NotIdentified as error:
        return Fingerprint(None, str(error))
    except RecursionError:
        return Fingerprint(None, f"{reward.name} holds data that is nested too deeply or contains itself")
    return Fingerprint(hashlib.blake2b(encoded, digest_size=DIGEST_SIZE).digest(), reads_id=walk.reads_id)


def reward_key(reward: RewardFunction) -> str:
    """A short key that changes with a reward's code and parameters; what cannot be identified counts by its type.

    Unlike a fingerprint, it exists for every reward: it tells rewards apart, and says nothing of equal scores.
    """
    try:
        encoded = _Walk([reward.name], strict=False).encode_value(reward)
    except RecursionError:
        encoded = repr(reward).encode()
    return hashlib.blake2b(encoded, digest_size=DIGEST_SIZE // 2).hexdigest()


def identity(value: Any) -> bytes:
    """Bytes that stand for a value and its exact types; raises NotIdentified."""
    try:
        return _Walk(["it"]).encode_value(value)
    except RecursionError:
        raise NotIdentified("it is nested too deeply or contains itself") from None


class _Walk:
    """Turns values into bytes; code and objects that are met again are referred to by number, so that circles end."""

    def __init__(self, path: list[str], *, strict: bool = True) -> None:
        self.reads_id = False
        self._strict = strict  # else what cannot be identified counts by its type
        self._path = path
        self._met: dict[int, tuple[int, Any]] = {}  # keeps the values alive, or an id could come again
        self._origins: dict[str | None, Origin] = {}

    def encode_value(self, value: Any) -> bytes:
        kind = type(value)
        if kind in _SCALARS:
            return kind.__name__.encode() + b":" + _SCALARS[kind](value)
        if kind in _CONTAINERS:
            return _CONTAINERS[kind](self, value)
        if id(value) in self._met:
            return _join("again", [_whole(self._met[id(value)][0])])
        self._met[id(value)] = (len(self._met), value)
        return next(encode for kinds, encode in _OBJECTS if isinstance(value, kinds))(self, value)

    def sequence(self, values: Iterable[Any]) -> bytes:
        return _join(type(values).__name__, map(self.encode_value, values))

    def mapping(self, values: Mapping[Any, Any]) -> bytes:
        parts = ((self.encode_value(key), self._under(key, value)) for key, value in values.items())
        return _join("mapping", (part for pair in parts for part in pair))

    def encode_unordered(self, values: Iterable[Any]) -> bytes:
        return _join("set", sorted(map(self._alone, values)))

    def code(self, code: CodeType) -> bytes:
        """Everything but where it stands."""
        texts = {const for const in code.co_consts if type(const) is str}
        self.reads_id |= not _LEADS_TO_ID.isdisjoint(texts.union(code.co_names))
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return self.sequence((code.co_name, code.co_code, code.co_exceptiontable, code.co_consts, counts, names))

    def cell(self, cell: CellType) -> bytes:
        try:
            return self.encode_value(cell.cell_contents)
        except ValueError:  # not filled yet
            return _join("empty", [])

    def function(self, function: FunctionType) -> bytes:
        origin = self._origin(function.__globals__.get("__name__"))  # __module__ may be that of a wrapped function
        known = [function.__qualname__.encode(), origin.identity]
        closed = [
            self._under(name, cell)
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        ]
        if origin.home is not Home.OWN:
            return _join("function", [*known, *closed])
        if self._strict and (impurity := find_impurity(function)):
            raise NotIdentified(impurity)
        held = {**vars(function), "defaults": function.__defaults__, "keywords": function.__kwdefaults__}
        reached = [self._encode_sorted(held), self._encode_sorted(self._reachable(function))]
        return _join("function", [*known, self.code(function.__code__), *closed, *reached])

    def method(self, method: MethodType) -> bytes:
        return self.sequence((method.__func__, method.__self__))

    def builtin(self, function: BuiltinFunctionType) -> bytes:
        owner = None if isinstance(function.__self__, ModuleType) else function.__self__
        origin = self._origin(function.__module__)
        return _join("builtin", [function.__qualname__.encode(), origin.identity, self.encode_value(owner)])

    def wrapper(self, wrapper: Any) -> bytes:
        return self.encode_value(wrapper.__wrapped__)

    def property_(self, value: property) -> bytes:
        return self.sequence((value.fget, value.fset))

    def module(self, module: ModuleType) -> bytes:
        return _join("module", [self._origin(module.__name__).identity])

    def class_(self, cls: type) -> bytes:
        origin = self._origin(cls.__module__)
        known = [cls.__qualname__.encode(), origin.identity]
        if origin.home is not Home.OWN:
            return _join("class", [*known, cls.__module__.encode()])
        return _join("class", [*known, self.sequence(cls.__bases__), self._encode_sorted(_own_attributes(cls))])

    def set_(self, values: set[Any] | frozenset[Any]) -> bytes:
        return _join("subclass", [self.encode_value(type(values)), self.encode_unordered(values)])

    def inert(self, value: object) -> bytes:
        return _join("inert", [])

    def struct(self, value: msgspec.Struct) -> bytes:
        return self.sequence((type(value), {name: getattr(value, name) for name in value.__struct_fields__}))

    def reward(self, reward: RewardFunction) -> bytes:
        if self._strict and not reward.deterministic:
            raise NotIdentified(f"{reward.name} is not deterministic: the same sample may score differently next time")
        return self.encode_reduction(reward)

    def encode_reduction(self, value: object) -> bytes:
        """An object as pickling takes it apart; foreign objects that do this their own way may hold whole models."""
        kind = type(value)
        if self._strict and is_generator(value):
            raise NotIdentified(
                f"{'.'.join(self._path)} is a source of random numbers: the same sample may score differently next "
                "time; say deterministic=False"
            )
        if (buffer := _buffer(value)) is not None:
            return self.sequence((kind, buffer.format, buffer.shape, buffer.tobytes()))
        by = next(owner for owner in kind.__mro__ if not {"__reduce__", "__reduce_ex__"}.isdisjoint(vars(owner)))
        if kind not in copyreg.dispatch_table and self._origin(by.__module__).home is Home.INSTALLED:
            return self._opaque(value)
        try:
            parts: Any = copyreg.dispatch_table.get(kind, _reduce)(value)  # type: ignore[no-untyped-call]  # in typeshed
        except _NOT_REDUCED:
            return self._opaque(value)
        if isinstance(parts, str):
            return self.sequence((kind, parts))
        made, arguments, state, items, pairs = (*parts, None, None, None)[:5]
        held = [self._encode_sorted(part) for part in (state if isinstance(state, tuple) else (state,))]
        return _join("object", [self.sequence((kind, made, arguments, list(items or ()), list(pairs or ()))), *held])

    def _alone(self, value: Any) -> bytes:
        """A value by itself: within a set, numbers that refer back would follow the order of the hash seed."""
        if type(value) in _SCALARS:
            return self.encode_value(value)
        walk = _Walk(self._path, strict=self._strict)
        encoded = walk.encode_value(value)
        self.reads_id |= walk.reads_id
        return encoded

    def _encode_sorted(self, state: Any) -> bytes:
        if not isinstance(state, dict):
            return self.encode_value(state)
        return self.mapping({name: state[name] for name in sorted(state, key=str)})

    def _under(self, name: object, value: Any) -> bytes:
        self._path.append(name if isinstance(name, str) else type(name).__name__)
        encoded = self.encode_value(value)
        self._path.pop()
        return encoded

    def _reachable(self, function: FunctionType) -> dict[str, Any]:
        """The globals that a function names, and what it names of the user's own modules."""
        names = {
            name for code in code_objects(function.__code__) for name in code.co_names if not name.startswith("__")
        }
        reached: dict[str, Any] = {}
        opened: set[int] = set()

        def reach(path: str, value: Any) -> None:
            reached[path] = value
            if isinstance(value, ModuleType) and id(value) not in opened and self._is_own(value.__name__):
                opened.add(id(value))
                for name in sorted(names.intersection(vars(value))):
                    reach(f"{path}.{name}", vars(value)[name])

        for name in sorted(names.intersection(function.__globals__)):
            reach(name, function.__globals__[name])
        for name in sorted(_imported_by(function)):
            reach(f"import {name}", self._import_target(name, function))
        return reached

    def _import_target(self, name: str, function: FunctionType) -> ModuleType | bytes:
        """What a function imports when it runs: own modules themselves, others by their packages."""
        for full in (name, f"{function.__globals__.get('__package__')}.{name}"):
            if full in sys.modules and self._is_own(full):
                return sys.modules[full]
        root = name.partition(".")[0]
        if self._strict and self._is_own(root):
            raise NotIdentified(
                f"{function.__name__} imports {name!r} only while it runs, so its code is not known before; "
                "import it at the top of the file"
            )
        return self._origin(root).identity

    def _is_own(self, module: str) -> bool:
        return self._origin(module).home is Home.OWN

    def _origin(self, name: str | None) -> Origin:
        if name not in self._origins:
            self._origins[name] = origin_of(name)
        return self._origins[name]

    def _opaque(self, value: object) -> bytes:
        """What no bytes can stand for: an error that names it, or its type where that is enough."""
        if not self._strict:
            return self.encode_value(type(value))
        raise NotIdentified(
            f"{'.'.join(self._path)} is a {type(value).__name__}, which cannot be identified; open it when it is "
            "first used, or define __getstate__ to leave it out"
        )


def _join(tag: str, parts: Iterable[bytes]) -> bytes:
    return tag.encode() + b"(" + b"".join(struct.pack("<Q", len(part)) + part for part in parts)


def _whole(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def _imported_by(function: FunctionType) -> set[str]:
    steps = (step for code in code_objects(function.__code__) for step in dis.get_instructions(code))
    return {step.argval for step in steps if step.opname == "IMPORT_NAME"}


def _own_attributes(cls: type) -> dict[str, Any]:
    """What a class body defines, without what Python adds."""
    code = {name: value for name, value in vars(cls).items() if isinstance(value, _CODE)}
    if issubclass(cls, enum.Enum):
        return {**code, "members": [(name, member.value) for name, member in cls.__members__.items()]}
    data = {
        name: value
        for name, value in vars(cls).items()
        if not name.startswith("__") and name != "_abc_impl" and not isinstance(value, _DESCRIPTORS)
    }
    return {**data, **code}


def _buffer(value: object) -> memoryview | None:
    """The bytes of an array; None for what is no array, or one of objects."""
    try:
        buffer = memoryview(value)  # type: ignore[arg-type]  # that is the question
    except (TypeError, BufferError, ValueError):
        return None
    return None if "O" in buffer.format else buffer


def _reduce(value: object) -> Any:
    return value.__reduce_ex__(2)


_CODE = (FunctionType, property, staticmethod, classmethod)
_MEMOIZED = type(functools.cache(_reduce))
_SCALARS: dict[type, Callable[[Any], bytes]] = {
    NoneType: lambda value: b"",
    EllipsisType: lambda value: b"",
    NotImplementedType: lambda value: b"",
    bool: lambda value: b"\1" if value else b"\0",
    int: _whole,
    float: struct.Struct("<d").pack,
    complex: lambda value: struct.pack("<dd", value.real, value.imag),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: bytes,
}
_CONTAINERS: dict[type, Callable[[_Walk, Any], bytes]] = {
    tuple: _Walk.sequence,
    list: _Walk.sequence,
    dict: _Walk.mapping,
    MappingProxyType: _Walk.mapping,
    set: _Walk.encode_unordered,
    frozenset: _Walk.encode_unordered,
    CodeType: _Walk.code,
    CellType: _Walk.cell,
}
_OBJECTS: list[tuple[Any, Callable[[_Walk, Any], bytes]]] = [
    (FunctionType, _Walk.function),
    (MethodType, _Walk.method),
    (BuiltinFunctionType, _Walk.builtin),
    ((staticmethod, classmethod, _MEMOIZED), _Walk.wrapper),
    (property, _Walk.property_),
    (ModuleType, _Walk.module),
    (type, _Walk.class_),
    (_INERT, _Walk.inert),
    ((set, frozenset), _Walk.set_),
    (msgspec.Struct, _Walk.struct),
    (RewardFunction, _Walk.reward),
    (object, _Walk.encode_reduction),
]
