"""The plain values that cross between a judge and a program, beside containers: how each is written and built.

Used on both sides, so it imports only the standard library (and numpy where a value needs it). What a program's
process sends may be forged: readers accept only the forms below.
"""

import builtins
import gc
import math
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import PosixPath, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from plaudit.sandbox.containers import (
    ARRAY_TYPE,
    NotPlain,
    check_hashes,
    decode_items,
    expect_text,
    import_numpy,
    items_of,
)

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


# What a view of a dict shows, by its class.
_VIEWS = {type(getattr(kind(), name)()): name for kind in (dict, OrderedDict) for name in ("keys", "values", "items")}


def _shown(view: Any) -> Any:
    """The dict behind a view or a read-only proxy, which changes with it."""
    (content,) = gc.get_referents(view)
    return content


def copy_view(value: Any) -> Any:
    """A view of a dict, over a copy of its content; any other value is returned unchanged."""
    name = _VIEWS.get(type(value))
    return value if name is None else getattr(_shown(value).copy(), name)()


def _build_view(name: str, content: Any) -> Any:
    if name not in _VIEWS.values() or not isinstance(content, dict):
        raise NotPlain("not a view of a dict")
    return getattr(content, name)()


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


def _read_scalar(graph: Graph, content: Any, depth: int) -> Any:
    kind, item = content
    item = graph.decode(item, 1)
    if not ARRAY_TYPE.fullmatch(expect_text(kind)):
        raise NotPlain("not a number")
    return import_numpy().dtype(kind).type(item)


def _read_view(graph: Graph, content: Any, depth: int) -> Any:
    """An array that shows a part of another one; numpy refuses what is not within that one."""
    number, offset, kind, shape, strides = content
    shown = graph.shown_array(number)
    if not ARRAY_TYPE.fullmatch(expect_text(kind)) or shown is None or math.prod(shape) > shown.size:
        raise NotPlain("not a part of an array")
    numpy = import_numpy()
    memory = numpy.ascontiguousarray(shown)  # a copy only of what this side shows in another order
    return graph.as_answer(numpy.ndarray(tuple(shape), kind, memory, offset, tuple(strides)))


def _read_reference(graph: Graph, content: Any, depth: int) -> Any:
    entry = graph.entry(content) if type(content) is int else None
    if entry is None:
        raise NotPlain("a reference to an unknown container")
    entry.is_returned = True
    return entry.container


class Kind(NamedTuple):
    """A plain type: the parts of a value, which are plain too, and how a value is built of them.

    `types` are the exact types of the parts; without them `build` checks what it gets.
    """

    tag: str
    split: Callable[[Any], Iterable[Any]]
    build: Callable[..., Any]
    types: tuple[type, ...] | None = None


def _split_datetime(value: datetime) -> tuple[Any, ...]:
    zone = value.tzinfo.key if type(value.tzinfo) is ZoneInfo else None
    return (value if zone is None else value.replace(tzinfo=None)).isoformat(), zone, value.fold


def _build_datetime(text: str, zone: str | None, fold: int) -> datetime:
    value = datetime.fromisoformat(text).replace(fold=fold)
    return value if zone is None else value.replace(tzinfo=ZoneInfo(zone))


def _build_zone(offset: timedelta, name: str) -> timezone:
    unnamed = timezone(offset)
    return unnamed if unnamed.tzname(None) == name else timezone(offset, name)


def _build_fraction(numerator: int, denominator: int) -> Fraction:
    if max(numerator.bit_length(), denominator.bit_length()) > FRACTION_BITS:
        raise NotPlain("a fraction of numbers that are too large")
    return Fraction(numerator, denominator)


def _build_pattern(pattern: str | bytes, flags: int) -> Any:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise NotPlain(f"not a regular expression: {error}") from None


def _build_proxy(content: Any) -> Any:
    if not isinstance(content, dict):
        raise NotPlain("a proxy of something that is not a dict")
    return MappingProxyType(content)


_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SINGLETONS: dict[str, Any] = {"Ellipsis": ..., "NotImplemented": NotImplemented}
KINDS: dict[type, Kind] = {
    tuple: Kind("t", lambda value: value, lambda *items: items),
    bytes: Kind("b", lambda value: (value.hex(),), bytes.fromhex, (str,)),
    complex: Kind("c", lambda value: (value.real, value.imag), complex, (float, float)),
    range: Kind("r", lambda value: (value.start, value.stop, value.step), range, (int, int, int)),
    slice: Kind("x", lambda value: (value.start, value.stop, value.step), slice),
    Decimal: Kind("D", lambda value: (str(value),), Decimal, (str,)),
    Fraction: Kind("F", lambda value: (value.numerator, value.denominator), _build_fraction, (int, int)),
    datetime: Kind("T", _split_datetime, _build_datetime),
    date: Kind("A", lambda value: (value.isoformat(),), date.fromisoformat, (str,)),
    time: Kind("M", lambda value: (value.isoformat(),), time.fromisoformat, (str,)),
    timedelta: Kind("L", lambda value: (value.days, value.seconds, value.microseconds), timedelta, (int, int, int)),
    timezone: Kind("Z", lambda value: (value.utcoffset(None), value.tzname(None)), _build_zone, (timedelta, str)),
    ZoneInfo: Kind("W", lambda value: (value.key,), ZoneInfo, (str,)),
    **dict.fromkeys(
        (type(...), type(NotImplemented)), Kind("o", lambda value: (repr(value),), _SINGLETONS.__getitem__, (str,))
    ),
    PosixPath: Kind("P", lambda value: (str(value),), PosixPath, (str,)),
    PurePosixPath: Kind("p", lambda value: (str(value),), PurePosixPath, (str,)),
    UUID: Kind("U", lambda value: (value.int,), lambda number: UUID(int=number), (int,)),
    re.Pattern: Kind("R", lambda value: (value.pattern, value.flags), _build_pattern),
    MappingProxyType: Kind("m", lambda value: (_shown(value),), _build_proxy),
    **dict.fromkeys(_VIEWS, Kind("v", lambda value: (_VIEWS[type(value)], _shown(value)), _build_view)),
}


def _write_parts(kind: Kind, graph: Graph, value: Any, depth: int) -> list[Any]:
    return [graph.encode(part, depth) for part in kind.split(value)]


def _read_parts(kind: Kind, graph: Graph, content: Any, depth: int) -> Any:
    parts = decode_items(graph, content, depth)
    if kind.types is not None and tuple(map(type, parts)) != kind.types:
        raise NotPlain(f"the parts of {kind.tag!r} have other types")
    built = kind.build(*parts)
    graph.has_nan |= kind.build is Decimal and built.is_nan()
    return built


def _read_float(graph: Graph, content: Any, depth: int) -> float:
    graph.has_nan |= content == "nan"
    return _FLOATS[expect_text(content)]


# Kinds whose items are keys, or whose class is part of the value, have functions of their own.
WRITERS: dict[type, tuple[str, Callable[[Graph, Any, int], Any]]] = {
    **{kind: (one.tag, partial(_write_parts, one)) for kind, one in KINDS.items()},
    frozenset: ("z", items_of),
}
READERS: dict[str, Callable[[Graph, Any, int], Any]] = {
    **{one.tag: partial(_read_parts, one) for one in KINDS.values()},
    "z": lambda graph, content, depth: frozenset(check_hashes(graph, decode_items(graph, content, depth))),
    "n": _read_namedtuple,
    "V": _read_view,
    "g": _read_scalar,
    "u": lambda graph, content, depth: bytes.fromhex(expect_text(content)).decode("utf-32-le", "surrogatepass"),
    "i": lambda graph, content, depth: int(expect_text(content), 16),
    "f": _read_float,
    "k": lambda graph, content, depth: _SENDABLE[expect_text(content)],
    "=": _read_reference,
    "@": lambda graph, content, depth: graph.resolve(content),
}
