"""Mutable containers that cross between a judge and a program: how each is taken apart, built and filled.

Used on both sides, so it imports only the standard library (and numpy where a value needs it). Contents are changed by
the methods of the plain type, since an object of the program may be an instance of a subclass.
"""

import importlib
import math
import operator
import re
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable
from functools import partial
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple

SMALL = 1 << 53
SAME_HASHES = 64  # keys of one set or dict that may share a hash: colliding keys make building it quadratic
ARRAY_TYPE = re.compile(r"[<>|=]?([?biufc]\d{0,2}|[US]\d{1,6})")
Graph = Any  # of `values`, which imports this module


class NotPlain(ValueError):
    """A value that cannot be sent, or text that is not a value."""


class Container(NamedTuple):
    """The functions that split, build and fill one kind of mutable container.

    `parts` are values of which the first `header` build an empty container (`make`) and the others are its contents
    (`fill`); those in the slice `hashed` are keys. Contents are compared by identity, or as the bytes that `raw` gives.
    """

    tag: str
    parts: Callable[[Any], list[Any]]
    fill: Callable[[Any, list[Any]], None]
    make: Callable[..., Any]
    header: int = 0
    hashed: slice | None = None
    raw: Callable[[Any], bytes] | None = None

    def copy(self, value: Any) -> Any:
        """The contents, to compare with later."""
        return self.contents(value) if self.raw is None else self.raw(value)

    def contents(self, value: Any) -> list[Any]:
        """The contents, to fill a container with later."""
        return self.parts(value)[self.header :]

    def is_same(self, value: Any, known: Any) -> bool:
        """Whether the contents are those of an earlier copy."""
        if self.raw is not None:
            return bool(self.raw(value) == known)
        contents = self.parts(value)[self.header :] if self.header else self.parts(value)
        return len(contents) == len(known) and all(map(operator.is_, contents, known))

    def write(self, graph: Graph, parts: list[Any], depth: int) -> list[Any]:
        """The parts of a container as JSON."""
        kinds = set(map(type, parts))
        if len(kinds) == 1:
            (kind,) = kinds
            if kind is int and min(parts) > -SMALL and max(parts) < SMALL:
                return parts[:]
            if (kind is str and all(map(str.isascii, parts))) or (kind is float and all(map(math.isfinite, parts))):
                return parts[:]
        return items_of(graph, parts, depth)

    def build(self, graph: Graph, content: Any) -> Any:
        """An empty container from the JSON of its parts."""
        return self.make(*decode_items(graph, expect_list(content)[: self.header], 2)) if self.header else self.make()

    def replace_contents(self, graph: Graph, value: Any, content: Any, depth: int) -> None:
        """Fill a container from the JSON of its parts."""
        items = decode_items(graph, expect_list(content)[self.header :] if self.header else content, depth)
        if self.hashed is not None:
            check_hashes(graph, items[self.hashed])
        self.fill(value, items)


def items_of(graph: Graph, items: Any, depth: int) -> list[Any]:
    return [graph.encode(item, depth) for item in items]


def decode_items(graph: Graph, content: Any, depth: int) -> list[Any]:
    return [graph.decode(item, depth) for item in expect_list(content)]


def check_hashes(graph: Graph, keys: list[Any]) -> list[Any]:
    if len(keys) - len({hash(key) for key in keys}) > SAME_HASHES:
        raise NotPlain("too many keys share a hash")
    return keys


def expect_list(content: Any) -> list[Any]:
    if type(content) is not list:
        raise NotPlain("content is not a list")
    return content


def expect_text(content: Any) -> str:
    if type(content) is not str:
        raise NotPlain("content is not text")
    return content


def import_numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise NotPlain("an array, and numpy is not installed") from None


def _flat(pairs: Any) -> list[Any]:
    return list(chain.from_iterable(pairs.items()))


def _fill_pairs(kind: Any, value: Any, items: list[Any]) -> None:
    pairs = list(zip(items[::2], items[1::2], strict=True))
    kind.clear(value)
    for key, item in pairs:
        kind.__setitem__(value, key, item)


def _fill_list(value: list[Any], items: list[Any]) -> None:
    list.__setitem__(value, slice(None), items)


def _fill_set(value: set[Any], items: list[Any]) -> None:
    set.clear(value)
    set.update(value, items)


def _fill_deque(value: deque[Any], items: list[Any]) -> None:
    deque.clear(value)
    deque.extend(value, items)


def _fill_namespace(value: SimpleNamespace, items: list[Any]) -> None:
    for name in items[::2]:
        expect_text(name)
    _fill_pairs(dict, vars(value), items)


def _fill_wrapper(kind: type, value: Any, items: list[Any]) -> None:
    (content,) = items
    if type(content) is not kind:
        raise NotPlain(f"content is not of type {kind.__name__}")
    vars(value)["data"] = content


def _fill_chain(value: Any, items: list[Any]) -> None:
    if any(type(one) not in (dict, Counter, OrderedDict, defaultdict) for one in items):
        raise NotPlain("a ChainMap of something that is not a dict")
    vars(value)["maps"] = items


def _expect_bytes(items: list[Any]) -> bytes:
    (content,) = items
    if type(content) is not bytes:
        raise NotPlain("content is not bytes")
    return content


def _fill_bytearray(value: bytearray, items: list[Any]) -> None:
    bytearray.__setitem__(value, slice(None), _expect_bytes(items))


def _make_typed(code: Any) -> Any:
    if len(expect_text(code)) != 1 or code not in "bBhHiIlLqQfd":
        raise NotPlain("not the type of an array")
    return array(code)


def _fill_typed(value: Any, items: list[Any]) -> None:
    del value[:]
    value.fromlist(items)


def _make_array(kind: Any, shape: Any) -> Any:
    if not ARRAY_TYPE.fullmatch(expect_text(kind)) or any(type(length) is not int or length < 0 for length in shape):
        raise NotPlain("not an array")
    return import_numpy().empty(shape, dtype=kind)


def _fill_array(value: Any, items: list[Any]) -> None:
    shape, *flat = items
    if shape != value.shape or len(flat) != value.size:
        raise NotPlain("an array of another shape")
    value[...] = import_numpy().array(flat, dtype=value.dtype).reshape(shape)


def _array_parts(value: Any) -> list[Any]:
    shape = tuple(map(int, value.shape))
    return [value.dtype.str, shape, shape, *value.reshape(-1).tolist()]  # also as content, since it can be changed


KEYS = slice(None, None, 2)
CONTAINERS: dict[type, Container] = {
    list: Container("l", lambda value: value, _fill_list, list),
    dict: Container("d", _flat, partial(_fill_pairs, dict), dict, hashed=KEYS),
    Counter: Container("C", _flat, partial(_fill_pairs, Counter), Counter, hashed=KEYS),
    OrderedDict: Container("O", _flat, partial(_fill_pairs, OrderedDict), OrderedDict, hashed=KEYS),
    defaultdict: Container(
        "e", lambda value: [value.default_factory, *_flat(value)], partial(_fill_pairs, dict), defaultdict, 1, KEYS
    ),
    set: Container("s", list, _fill_set, set, hashed=slice(None)),
    deque: Container(
        "q", lambda value: [value.maxlen, *value], _fill_deque, lambda most: deque(maxlen=most), header=1
    ),
    bytearray: Container("y", lambda value: [bytes(value)], _fill_bytearray, bytearray, raw=bytes),
    SimpleNamespace: Container("N", lambda value: _flat(vars(value)), _fill_namespace, SimpleNamespace),
    UserDict: Container("w", lambda value: [value.data], partial(_fill_wrapper, dict), UserDict),
    UserList: Container("j", lambda value: [value.data], partial(_fill_wrapper, list), UserList),
    UserString: Container("J", lambda value: [value.data], partial(_fill_wrapper, str), lambda: UserString("")),
    ChainMap: Container("h", lambda value: value.maps, _fill_chain, ChainMap),
    array: Container(
        "Y", lambda value: [value.typecode, *value], _fill_typed, _make_typed, header=1, raw=array.tobytes
    ),
}  # fmt: skip
ARRAY = Container("a", _array_parts, _fill_array, _make_array, header=2, raw=lambda value: value.tobytes())
CONTAINERS_BY_TAG = {container.tag: container for container in (*CONTAINERS.values(), ARRAY)}
