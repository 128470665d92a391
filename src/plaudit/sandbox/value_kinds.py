"""The plain values that cross between a judge and a program, beside containers: how each is written and built.

Used on both sides, so it imports only the standard library (and numpy where a value needs it). What a program's
process sends may be forged: readers accept only the forms below.
"""

import builtins
import math
import re
import sys
import types
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import PosixPath, PurePosixPath
from types import MappingProxyType
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from plaudit.sandbox.containers import (
    ARRAY_TYPE,
    NotPlain,
    check_hashes,
    decode_items,
    expect_integer,
    expect_text,
    import_numpy,
    items_of,
)

__all__ = [
    "CLASS_NAMES", "READERS", "WRITERS", "is_unicode", "namedtuple_fields", "sendable_class", "standard_path",
    "surrogates",
]  # fmt: skip

FRACTION_BITS = 20_000  # reducing a fraction takes quadratic time
Graph = Any  # of `values`, which imports this module

# Classes of plain values.
_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, Counter, deque,
        defaultdict, OrderedDict, object,
    )
}  # fmt: skip
CLASS_NAMES: dict[Any, str] = {kind: name for name, kind in _CLASSES.items()}
_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException) and not issubclass(AssertionError, kind)
}
# The classes that cross as themselves: of plain values, and built-in exceptions by which no failed check is caught.
_SENDABLE = _CLASSES | _ERRORS
_SENDABLE_NAMES = {kind: name for name, kind in _SENDABLE.items()}


def sendable_class(kind: type) -> str | None:
    """The name of a class that crosses as itself."""
    return _SENDABLE_NAMES.get(kind)


# Classes that only the module `types` has names for, as that of generators.
_UNNAMED = {kind: f"types:{name}" for name, kind in vars(types).items() if isinstance(kind, type)}


def standard_path(thing: Any) -> str:
    """`module:name` of a function or class of the standard library; empty for anything else."""
    if isinstance(thing, type) and thing in _UNNAMED:
        return _UNNAMED[thing]
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    if type(module) is not str or type(name) is not str or module.partition(".")[0] not in sys.stdlib_module_names:
        return ""
    return f"{module}:{name}" if vars(sys.modules.get(module, sys)).get(name) is thing else ""


def _short(graph: Graph, content: Any) -> int:
    number = expect_integer(graph, content)
    if number.bit_length() > FRACTION_BITS:
        raise NotPlain("a fraction of numbers that are too large")
    return number


# How a view of a dict is built again, by what it shows; each class of views, with what it shows.
_VIEWS: dict[str, Callable[[list[Any]], Any]] = {
    "keys": lambda items: dict.fromkeys(items).keys(),
    "values": lambda items: dict(enumerate(items)).values(),
    "items": lambda items: dict(items).items(),
}
_VIEW_CLASSES = {type(getattr(kind(), name)()): name for kind in (dict, OrderedDict) for name in _VIEWS}


def _write_view(graph: Graph, value: Any, depth: int) -> Any:
    return [_VIEW_CLASSES[type(value)], items_of(graph, value, depth)]


def _read_view(graph: Graph, content: Any, depth: int) -> Any:
    shown, items = content
    items = decode_items(graph, items, depth)
    if shown != "values":
        check_hashes(graph, [item[0] for item in items] if shown == "items" else items)
    return _VIEWS[expect_text(shown)](items)


def is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def surrogates(text: str) -> str:
    return text.encode("utf-32-le", "surrogatepass").hex()


_GENERATED = set(vars(namedtuple("_GENERATED", "a"))) - {"a"} | {"__annotations__", "__orig_bases__", "__firstlineno__"}


@lru_cache(maxsize=256)
def namedtuple_fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a class that `namedtuple` or `NamedTuple` made and that defines nothing of its own."""
    if type.__dict__["__mro__"].__get__(kind) != (kind, tuple, object) or type(kind) is not type:
        return None
    fields = vars(kind).get("_fields")
    if type(fields) is not tuple or not all(type(name) is str for name in fields):
        return None
    return fields if set(vars(kind)) <= _GENERATED | set(fields) else None


@lru_cache(maxsize=256)
def _namedtuple_type(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)


def _read_namedtuple(graph: Graph, content: Any, depth: int) -> Any:
    name, fields, items = content
    kind = _namedtuple_type(expect_text(name)[:100], tuple(expect_text(field)[:100] for field in fields))
    return kind(*decode_items(graph, items, depth))


def _write_datetime(value: datetime) -> list[Any]:
    zone = value.tzinfo.key if type(value.tzinfo) is ZoneInfo else None
    return [(value if zone is None else value.replace(tzinfo=None)).isoformat(), zone, value.fold]


def _read_datetime(text: Any, zone: Any, fold: Any) -> datetime:
    value = datetime.fromisoformat(expect_text(text)).replace(fold=fold)
    return value if zone is None else value.replace(tzinfo=ZoneInfo(expect_text(zone)))


def _read_zone(offset: timedelta, name: str) -> timezone:
    unnamed = timezone(offset)
    return unnamed if unnamed.tzname(None) == name else timezone(offset, name)


def _read_complex(graph: Graph, content: Any, depth: int) -> Any:
    parts = [graph.decode(part) for part in content]
    if any(not isinstance(part, float) for part in parts):
        raise NotPlain("content is not a float")
    return complex(*parts)


def _read_scalar(graph: Graph, content: Any, depth: int) -> Any:
    kind, item = content
    item = graph.decode(item, 1)
    if not ARRAY_TYPE.fullmatch(expect_text(kind)):
        raise NotPlain("not a number")
    return import_numpy().dtype(kind).type(item)


def _read_wrapper(graph: Graph, content: Any, depth: int) -> Any:
    """A `UserDict`, `UserList` or `UserString`, whose content keeps its identity."""
    name, coded = content
    kind, base = _USER_CLASSES[expect_text(name)]
    data = graph.decode(coded, depth)
    if type(data) is not base:
        raise NotPlain(f"the data of a {name} is not a {base.__name__}")
    value = kind.__new__(kind)
    value.data = data
    return value


def _read_chain(graph: Graph, content: Any, depth: int) -> Any:
    maps = decode_items(graph, content, depth)
    if any(type(one) not in (dict, Counter, OrderedDict, defaultdict) for one in maps):
        raise NotPlain("a ChainMap of something that is not a dict")
    return ChainMap(*maps)


def _read_proxy(graph: Graph, content: Any, depth: int) -> Any:
    return MappingProxyType(dict(graph.decode(content, depth)))


def _read_pattern(graph: Graph, content: Any, depth: int) -> Any:
    pattern, flags = content
    return re.compile(graph.decode(pattern, 1), expect_integer(graph, flags))


def _read_reference(graph: Graph, content: Any, depth: int) -> Any:
    entry = graph.entry(content) if type(content) is int else None
    if entry is None:
        raise NotPlain("a reference to an unknown container")
    return entry.container


_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_USER_CLASSES: dict[str, tuple[Any, type]] = {
    "UserDict": (UserDict, dict),
    "UserList": (UserList, list),
    "UserString": (UserString, str),
}
WRITERS: dict[type, tuple[str, Callable[[Graph, Any, int], Any]]] = {
    tuple: ("t", items_of),
    frozenset: ("z", items_of),
    bytes: ("b", lambda graph, value, depth: value.hex()),
    memoryview: ("b", lambda graph, value, depth: value.tobytes().hex()),
    complex: ("c", lambda graph, value, depth: [graph.encode(value.real), graph.encode(value.imag)]),
    range: ("r", lambda graph, value, depth: [graph.encode(part) for part in (value.start, value.stop, value.step)]),
    slice: ("x", lambda graph, value, depth: items_of(graph, (value.start, value.stop, value.step), depth)),
    Decimal: ("D", lambda graph, value, depth: str(value)),
    Fraction: ("F", lambda graph, value, depth: [graph.encode(value.numerator), graph.encode(value.denominator)]),
    datetime: ("T", lambda graph, value, depth: _write_datetime(value)),
    date: ("A", lambda graph, value, depth: value.isoformat()),
    time: ("M", lambda graph, value, depth: value.isoformat()),
    timedelta: ("L", lambda graph, value, depth: [value.days, value.seconds, value.microseconds]),
    timezone: ("Z", lambda graph, value, depth: items_of(graph, (value.utcoffset(None), value.tzname(None)), depth)),
    ZoneInfo: ("W", lambda graph, value, depth: value.key),
    type(...): ("o", lambda graph, value, depth: "Ellipsis"),
    type(NotImplemented): ("o", lambda graph, value, depth: "NotImplemented"),
    PosixPath: ("P", lambda graph, value, depth: [True, graph.encode(str(value))]),
    PurePosixPath: ("P", lambda graph, value, depth: [False, graph.encode(str(value))]),
    UUID: ("U", lambda graph, value, depth: hex(value.int)),
    **dict.fromkeys(_VIEW_CLASSES, ("v", _write_view)),
    **dict.fromkeys(
        (UserDict, UserList, UserString),
        ("w", lambda graph, value, depth: [type(value).__name__, graph.encode(value.data, depth)]),
    ),
    ChainMap: ("h", lambda graph, value, depth: items_of(graph, value.maps, depth)),
    MappingProxyType: ("m", lambda graph, value, depth: graph.encode(dict(value), depth)),
    re.Pattern: ("R", lambda graph, value, depth: [graph.encode(value.pattern), value.flags]),
}
READERS: dict[str, Callable[[Graph, Any, int], Any]] = {
    "=": _read_reference,
    "@": lambda graph, content, depth: graph.resolve(content),
    "n": _read_namedtuple,
    "v": _read_view,
    "g": _read_scalar,
    "u": lambda graph, content, depth: bytes.fromhex(expect_text(content)).decode("utf-32-le", "surrogatepass"),
    "i": lambda graph, content, depth: int(expect_text(content), 16),
    "f": lambda graph, content, depth: _FLOATS[expect_text(content)],
    "t": lambda graph, content, depth: tuple(decode_items(graph, content, depth)),
    "z": lambda graph, content, depth: frozenset(check_hashes(graph, decode_items(graph, content, depth))),
    "b": lambda graph, content, depth: bytes.fromhex(expect_text(content)),
    "c": _read_complex,
    "r": lambda graph, content, depth: range(*(expect_integer(graph, part) for part in content)),
    "x": lambda graph, content, depth: slice(*decode_items(graph, content, depth)),
    "D": lambda graph, content, depth: Decimal(expect_text(content)),
    "F": lambda graph, content, depth: Fraction(*(_short(graph, part) for part in content)),
    "T": lambda graph, content, depth: _read_datetime(*content),
    "A": lambda graph, content, depth: date.fromisoformat(expect_text(content)),
    "M": lambda graph, content, depth: time.fromisoformat(expect_text(content)),
    "L": lambda graph, content, depth: timedelta(*(expect_integer(graph, part) for part in content)),
    "Z": lambda graph, content, depth: _read_zone(*(graph.decode(part) for part in content)),
    "W": lambda graph, content, depth: ZoneInfo(expect_text(content)),
    "o": lambda graph, content, depth: {"Ellipsis": ..., "NotImplemented": NotImplemented}[expect_text(content)],
    "P": lambda graph, content, depth: (PosixPath if content[0] is True else PurePosixPath)(graph.decode(content[1])),
    "U": lambda graph, content, depth: UUID(int=int(expect_text(content), 16)),
    "k": lambda graph, content, depth: _SENDABLE[expect_text(content)],
    "w": _read_wrapper,
    "h": _read_chain,
    "m": _read_proxy,
    "R": _read_pattern,
}
