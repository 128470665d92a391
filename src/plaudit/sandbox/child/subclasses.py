"""Instances of subclasses of plain types: read and changed by methods of the plain type, which no subclass replaces."""

from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

from plaudit.sandbox.containers import CONTAINERS, Container


def _copy_wrapper(kind: Any, value: Any) -> Any:
    """A `UserDict` or its like with the same content, which is not copied."""
    plain = kind.__new__(kind)
    plain.data = value.data
    return plain


# The plain value of an instance of a subclass, by methods that the subclass cannot replace.
UNDERLYING: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__index__,
    float: float.__float__,
    complex: lambda value: complex(complex.__dict__["real"].__get__(value), complex.__dict__["imag"].__get__(value)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytearray(bytearray.__getitem__(value, slice(None))),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    Counter: lambda value: Counter(dict(dict.items(value))),
    OrderedDict: lambda value: OrderedDict(OrderedDict.items(value)),
    defaultdict: lambda value: defaultdict(None, dict(dict.items(value))),
    dict: lambda value: dict(dict.items(value)),
    deque: lambda value: deque(deque.__iter__(value), deque.__dict__["maxlen"].__get__(value)),
    datetime: lambda value: datetime.fromisoformat(datetime.isoformat(value)),
    date: lambda value: date.fromisoformat(date.isoformat(value)),
    SimpleNamespace: lambda value: SimpleNamespace(**vars(value)),
    ChainMap: lambda value: ChainMap(*value.maps),
    **{kind: partial(_copy_wrapper, kind) for kind in (UserDict, UserList, UserString)},
}


def plain_base(value: Any) -> Any:
    """The plain type that the class of a value is derived from, or None."""
    bases = type.__dict__["__mro__"].__get__(type(value))
    return next((base for base in bases if base in UNDERLYING), None)


@lru_cache
def subclass_container(base: type) -> Container:
    """The container methods for subclasses of a mutable base: instances are read and changed by the methods of the
    base.
    """
    kind, plain = CONTAINERS[base], UNDERLYING[base]
    raw = kind.raw
    return kind._replace(
        parts=lambda value: kind.parts(plain(value)), raw=None if raw is None else lambda value: raw(plain(value))
    )
