"""The kinds of values that cross between a judge and a program: how each is written, built and filled.

Used on both sides, so it imports only the standard library (and numpy where a value needs it). What a program's
process sends may be forged: readers accept only the forms below.
"""

import importlib
import math
import operator
import re
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import PosixPath, PurePosixPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

__all__ = [
    "ARRAY", "CLASS_NAMES", "CONTAINERS", "CONTAINERS_BY_TAG", "Container", "NotPlain", "READERS", "SMALL", "WRITERS",
    "expect_list", "is_unicode", "items_of", "namedtuple_fields", "surrogates",
]  # fmt: skip

SMALL = 1 << 53
FRACTION_BITS = 20_000  # reducing a fraction takes quadratic time
SAME_HASHES = 64  # keys of one set or dict that may share a hash: colliding keys make building it quadratic
Graph = Any  # of `values`, which imports this module


class NotPlain(ValueError):
    """A value that cannot be sent, or text that is not a value."""


class Container:
    """How one kind of mutable container is copied, compared with its copy, written, built and filled."""

    def __init__(
        self,
        tag: str,
        copy: Callable[[Any], Any],
        write: Callable[[Graph, Any, int], Any],
        fill: Callable[[Graph, Any, Any, int], None],
        make: Callable[[Graph, Any], Any],
        is_same: Callable[[Any, Any], bool],
    ) -> None:
        self.tag, self.copy, self.write, self.fill = tag, copy, write, fill
        self.make, self.is_same = make, is_same


def _same_items(value: Any, known: Any) -> bool:
    return len(value) == len(known) and all(map(operator.is_, value, known))


def _same_pairs(value: Any, known: Any) -> bool:
    return _same_items(value, known[0]) and all(map(operator.is_, value.values(), known[1]))


def _same_bytes(value: Any, known: bytes) -> bool:
    return bool(value.tobytes() == known)


def _copy_pairs(value: Any) -> Any:
    return list(value), list(value.values())


def items_of(graph: Graph, items: Any, depth: int) -> list[Any]:
    return [graph.encode(item, depth) for item in items]


def _write_list(graph: Graph, items: list[Any], depth: int) -> Any:
    kinds = set(map(type, items))
    if len(kinds) == 1:
        (kind,) = kinds
        if kind is int and min(items) > -SMALL and max(items) < SMALL:
            return items[:]
        if (kind is str and all(map(str.isascii, items))) or (kind is float and all(map(math.isfinite, items))):
            return items[:]
    return [graph.encode(item, depth) for item in items]


def _write_pairs(graph: Graph, value: Any, depth: int) -> list[Any]:
    return [[graph.encode(key, depth), graph.encode(item, depth)] for key, item in value.items()]


def _fill_list(graph: Graph, value: list[Any], content: Any, depth: int) -> None:
    value[:] = _decode_list(graph, content, depth)


def _decode_list(graph: Graph, content: Any, depth: int) -> list[Any]:
    return [graph.decode(item, depth) for item in expect_list(content)]


def _fill_pairs(graph: Graph, value: Any, content: Any, depth: int) -> None:
    pairs = [(graph.decode(key, depth), graph.decode(item, depth)) for key, item in expect_list(content)]
    _check_hashes(graph, [key for key, _ in pairs])
    value.clear()
    for key, item in pairs:
        value[key] = item


def _fill_set(graph: Graph, value: set[Any], content: Any, depth: int) -> None:
    items = _check_hashes(graph, _decode_list(graph, content, depth))
    value.clear()
    value.update(items)


def _check_hashes(graph: Graph, keys: list[Any]) -> list[Any]:
    if graph.refuses_nan_keys and any(isinstance(key, float) and key != key for key in keys):
        raise NotPlain("NaN as a key, which can never be looked up")
    if len(keys) - len({hash(key) for key in keys}) > SAME_HASHES:
        raise NotPlain("too many keys share a hash")
    return keys


def expect_list(content: Any) -> list[Any]:
    if type(content) is not list:
        raise NotPlain("content is not a list")
    return content


def _text(content: Any) -> str:
    if type(content) is not str:
        raise NotPlain("content is not text")
    return content


def _whole(graph: Graph, content: Any) -> int:
    number = graph.decode(content)
    if type(number) is not int:
        raise NotPlain("content is not a whole number")
    return number


def _short(graph: Graph, content: Any) -> int:
    number = _whole(graph, content)
    if number.bit_length() > FRACTION_BITS:
        raise NotPlain("a fraction of numbers that are too large")
    return number


def _fill_deque(graph: Graph, value: deque[Any], content: Any, depth: int) -> None:
    items = _decode_list(graph, content[1], depth)
    value.clear()
    value.extend(items)


def _make_deque(graph: Graph, content: Any) -> deque[Any]:
    return deque(maxlen=None if content[0] is None else _whole(graph, content[0]))


def _write_default(graph: Graph, value: Any, depth: int) -> Any:
    return [graph.encode(value.default_factory), _write_pairs(graph, value, depth)]


def _fill_bytearray(graph: Graph, value: bytearray, content: Any, depth: int) -> None:
    value[:] = bytes.fromhex(_text(content))


def _make_typed(graph: Graph, content: Any) -> Any:
    if _text(content[0]) not in "bBhHiIlLqQfd" or len(content[0]) != 1:
        raise NotPlain("not the type of an array")
    return array(content[0])


def _fill_typed(graph: Graph, value: Any, content: Any, depth: int) -> None:
    del value[:]
    value.frombytes(bytes.fromhex(_text(content[1])))


def _numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise NotPlain("an array, and numpy is not installed") from None


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
    items = _decode_list(graph, items, depth)
    if shown != "values":
        _check_hashes(graph, [item[0] for item in items] if shown == "items" else items)
    return _VIEWS[_text(shown)](items)


def _make_array(graph: Graph, content: Any) -> Any:
    kind, shape, flat = content
    if not ARRAY_TYPE.fullmatch(_text(kind)) or any(type(length) is not int or length < 0 for length in shape):
        raise NotPlain("not an array")
    if math.prod(shape) != len(expect_list(flat)):
        raise NotPlain("an array of another size")
    return graph.own_array(_numpy().empty(shape, dtype=kind))


def _fill_array(graph: Graph, value: Any, content: Any, depth: int) -> None:
    kind, shape, flat = content
    if tuple(shape) != value.shape or math.prod(shape) != len(expect_list(flat)):
        raise NotPlain("an array that changed its shape")
    items = [graph.decode(item, 1) for item in flat]
    value[...] = _numpy().array(items, dtype=_text(kind)).reshape(shape)


def _write_array(graph: Graph, value: Any, depth: int) -> Any:
    flat = value.reshape(-1).tolist()
    return [value.dtype.str, [int(length) for length in value.shape], [graph.encode(item, 1) for item in flat]]


def _pairs_container(tag: str, kind: Any) -> Container:
    return Container(tag, _copy_pairs, _write_pairs, _fill_pairs, lambda graph, content: kind(), _same_pairs)


CONTAINERS: dict[type, Container] = {
    list: Container("l", lambda value: value[:], _write_list, _fill_list, lambda graph, content: [], _same_items),
    dict: _pairs_container("d", dict),
    Counter: _pairs_container("C", Counter),
    OrderedDict: _pairs_container("O", OrderedDict),
    defaultdict: Container(
        "e", _copy_pairs, _write_default,
        lambda graph, value, content, depth: _fill_pairs(graph, value, content[1], depth),
        lambda graph, content: defaultdict(graph.decode(content[0])), _same_pairs,
    ),
    set: Container("s", list, items_of, _fill_set, lambda graph, content: set(), _same_items),
    deque: Container(
        "q", list, lambda graph, value, depth: [graph.encode(value.maxlen), items_of(graph, value, depth)], _fill_deque,
        _make_deque, _same_items,
    ),
    bytearray: Container(
        "y", bytes, lambda graph, value, depth: value.hex(), _fill_bytearray, lambda graph, content: bytearray(),
        operator.eq,
    ),
    array: Container(
        "Y", array.tobytes, lambda graph, value, depth: [value.typecode, value.tobytes().hex()], _fill_typed,
        _make_typed, _same_bytes,
    ),
}  # fmt: skip
ARRAY = Container("a", lambda value: value.tobytes(), _write_array, _fill_array, _make_array, _same_bytes)
CONTAINERS_BY_TAG = {container.tag: container for container in (*CONTAINERS.values(), ARRAY)}
# The classes that cross as themselves: those of plain values.
_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, Counter, deque,
        defaultdict, OrderedDict, object,
    )
}  # fmt: skip
CLASS_NAMES: dict[Any, str] = {kind: name for name, kind in _CLASSES.items()}


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
    kind = _namedtuple_type(_text(name)[:100], tuple(_text(field)[:100] for field in fields))
    return kind(*_decode_list(graph, items, depth))


def _write_datetime(value: datetime) -> list[Any]:
    zone = value.tzinfo.key if type(value.tzinfo) is ZoneInfo else None
    return [(value if zone is None else value.replace(tzinfo=None)).isoformat(), zone, value.fold]


def _read_datetime(text: Any, zone: Any, fold: Any) -> datetime:
    value = datetime.fromisoformat(_text(text)).replace(fold=fold)
    return value if zone is None else value.replace(tzinfo=ZoneInfo(_text(zone)))


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
    if not ARRAY_TYPE.fullmatch(_text(kind)):
        raise NotPlain("not a number")
    return _numpy().dtype(kind).type(item)


def _read_reference(graph: Graph, content: Any, depth: int) -> Any:
    entry = graph.entry(content) if type(content) is int else None
    if entry is None:
        raise NotPlain("a reference to an unknown container")
    return entry.container


ARRAY_TYPE = re.compile(r"[<>|=]?([?biufc]\d{0,2}|[US]\d{1,6})")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
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
}
READERS: dict[str, Callable[[Graph, Any, int], Any]] = {
    "=": _read_reference,
    "@": lambda graph, content, depth: graph.resolve(content),
    "n": _read_namedtuple,
    "v": _read_view,
    "g": _read_scalar,
    "u": lambda graph, content, depth: bytes.fromhex(_text(content)).decode("utf-32-le", "surrogatepass"),
    "i": lambda graph, content, depth: int(_text(content), 16),
    "f": lambda graph, content, depth: _FLOATS[_text(content)],
    "t": lambda graph, content, depth: tuple(_decode_list(graph, content, depth)),
    "z": lambda graph, content, depth: frozenset(_check_hashes(graph, _decode_list(graph, content, depth))),
    "b": lambda graph, content, depth: bytes.fromhex(_text(content)),
    "c": _read_complex,
    "r": lambda graph, content, depth: range(*(_whole(graph, part) for part in content)),
    "x": lambda graph, content, depth: slice(*_decode_list(graph, content, depth)),
    "D": lambda graph, content, depth: Decimal(_text(content)),
    "F": lambda graph, content, depth: Fraction(*(_short(graph, part) for part in content)),
    "T": lambda graph, content, depth: _read_datetime(*content),
    "A": lambda graph, content, depth: date.fromisoformat(_text(content)),
    "M": lambda graph, content, depth: time.fromisoformat(_text(content)),
    "L": lambda graph, content, depth: timedelta(*(_whole(graph, part) for part in content)),
    "Z": lambda graph, content, depth: _read_zone(*(graph.decode(part) for part in content)),
    "W": lambda graph, content, depth: ZoneInfo(_text(content)),
    "o": lambda graph, content, depth: {"Ellipsis": ..., "NotImplemented": NotImplemented}[_text(content)],
    "P": lambda graph, content, depth: (PosixPath if content[0] is True else PurePosixPath)(graph.decode(content[1])),
    "U": lambda graph, content, depth: UUID(int=int(_text(content), 16)),
    "k": lambda graph, content, depth: _CLASSES[_text(content)],
}
