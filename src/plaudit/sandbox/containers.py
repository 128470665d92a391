"""Mutable containers that cross between a judge and a program: how each is copied, compared, written and filled.

Used on both sides, so it imports only the standard library (and numpy where a value needs it). Contents are changed by
the methods of the plain type, since an object of the program may be an instance of a subclass.
"""

import importlib
import math
import operator
import re
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

__all__ = [
    "ARRAY", "ARRAY_TYPE", "CONTAINERS", "CONTAINERS_BY_TAG", "SMALL", "Container", "NotPlain", "check_hashes",
    "decode_items", "expect_integer", "expect_list", "expect_text", "import_numpy", "items_of",
]  # fmt: skip

SMALL = 1 << 53
SAME_HASHES = 64  # keys of one set or dict that may share a hash: colliding keys make building it quadratic
ARRAY_TYPE = re.compile(r"[<>|=]?([?biufc]\d{0,2}|[US]\d{1,6})")
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
    list.__setitem__(value, slice(None), decode_items(graph, content, depth))


def decode_items(graph: Graph, content: Any, depth: int) -> list[Any]:
    return [graph.decode(item, depth) for item in expect_list(content)]


def _fill_pairs(kind: Any, graph: Graph, value: Any, content: Any, depth: int) -> None:
    pairs = [(graph.decode(key, depth), graph.decode(item, depth)) for key, item in expect_list(content)]
    check_hashes(graph, [key for key, _ in pairs])
    kind.clear(value)
    for key, item in pairs:
        kind.__setitem__(value, key, item)


def _fill_set(graph: Graph, value: set[Any], content: Any, depth: int) -> None:
    items = check_hashes(graph, decode_items(graph, content, depth))
    set.clear(value)
    set.update(value, items)


def _fill_namespace(graph: Graph, value: SimpleNamespace, content: Any, depth: int) -> None:
    pairs = [(expect_text(name), graph.decode(item, depth)) for name, item in expect_list(content)]
    vars(value).clear()
    vars(value).update(pairs)


def check_hashes(graph: Graph, keys: list[Any]) -> list[Any]:
    if graph.refuses_nan_keys and any(isinstance(key, float) and key != key for key in keys):
        raise NotPlain("NaN as a key, which can never be looked up")
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


def expect_integer(graph: Graph, content: Any) -> int:
    number = graph.decode(content)
    if type(number) is not int:
        raise NotPlain("content is not a whole number")
    return number


def _fill_deque(graph: Graph, value: deque[Any], content: Any, depth: int) -> None:
    items = decode_items(graph, content[1], depth)
    deque.clear(value)
    deque.extend(value, items)


def _make_deque(graph: Graph, content: Any) -> deque[Any]:
    return deque(maxlen=None if content[0] is None else expect_integer(graph, content[0]))


def _write_default(graph: Graph, value: Any, depth: int) -> Any:
    return [graph.encode(value.default_factory), _write_pairs(graph, value, depth)]


def _fill_bytearray(graph: Graph, value: bytearray, content: Any, depth: int) -> None:
    bytearray.__setitem__(value, slice(None), bytes.fromhex(expect_text(content)))


def _make_typed(graph: Graph, content: Any) -> Any:
    if expect_text(content[0]) not in "bBhHiIlLqQfd" or len(content[0]) != 1:
        raise NotPlain("not the type of an array")
    return array(content[0])


def _fill_typed(graph: Graph, value: Any, content: Any, depth: int) -> None:
    del value[:]
    value.frombytes(bytes.fromhex(expect_text(content[1])))


def import_numpy() -> Any:
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise NotPlain("an array, and numpy is not installed") from None


def _make_array(graph: Graph, content: Any) -> Any:
    kind, shape, flat = content
    if not ARRAY_TYPE.fullmatch(expect_text(kind)) or any(type(length) is not int or length < 0 for length in shape):
        raise NotPlain("not an array")
    if math.prod(shape) != len(expect_list(flat)):
        raise NotPlain("an array of another size")
    return graph.own_array(import_numpy().empty(shape, dtype=kind))


def _fill_array(graph: Graph, value: Any, content: Any, depth: int) -> None:
    kind, shape, flat = content
    if tuple(shape) != value.shape or math.prod(shape) != len(expect_list(flat)):
        raise NotPlain("an array that changed its shape")
    items = [graph.decode(item, 1) for item in flat]
    value[...] = import_numpy().array(items, dtype=expect_text(kind)).reshape(shape)


def _write_array(graph: Graph, value: Any, depth: int) -> Any:
    flat = value.reshape(-1).tolist()
    return [value.dtype.str, [int(length) for length in value.shape], [graph.encode(item, 1) for item in flat]]


def _pairs_container(tag: str, kind: Any) -> Container:
    fill = partial(_fill_pairs, kind)
    return Container(tag, _copy_pairs, _write_pairs, fill, lambda graph, content: kind(), _same_pairs)


CONTAINERS: dict[type, Container] = {
    list: Container("l", lambda value: value[:], _write_list, _fill_list, lambda graph, content: [], _same_items),
    dict: _pairs_container("d", dict),
    Counter: _pairs_container("C", Counter),
    OrderedDict: _pairs_container("O", OrderedDict),
    defaultdict: Container(
        "e", _copy_pairs, _write_default,
        lambda graph, value, content, depth: _fill_pairs(dict, graph, value, content[1], depth),
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
    SimpleNamespace: Container(
        "N", lambda value: _copy_pairs(vars(value)),
        lambda graph, value, depth: _write_pairs(graph, vars(value), depth), _fill_namespace,
        lambda graph, content: SimpleNamespace(), lambda value, known: _same_pairs(vars(value), known),
    ),
    array: Container(
        "Y", array.tobytes, lambda graph, value, depth: [value.typecode, value.tobytes().hex()], _fill_typed,
        _make_typed, _same_bytes,
    ),
}  # fmt: skip
ARRAY = Container("a", lambda value: value.tobytes(), _write_array, _fill_array, _make_array, _same_bytes)
CONTAINERS_BY_TAG = {container.tag: container for container in (*CONTAINERS.values(), ARRAY)}
