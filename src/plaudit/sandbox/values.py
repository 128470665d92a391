"""The values that cross between a judge and a program, as JSON text, with the identity of mutable containers.

Plain values are a closed list of exact types. Both sides of a channel hold a `Graph`, which numbers every mutable
container that has crossed in the order in which it crossed. A message carries the changed contents of these containers,
new containers, and references by number, so mutation, aliasing and cycles behave as in one process. Everything else is
a handle: only its description crosses. A program's process may send anything, so decoding accepts only the forms below,
up to a depth and a count, and builds only types of the standard library (and of numpy where it is installed).
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.sandbox.containers import (
    ARRAY,
    CONTAINERS,
    CONTAINERS_BY_TAG,
    SMALL,
    Container,
    NotPlain,
    expect_list,
    items_of,
)
from plaudit.sandbox.value_kinds import (
    READERS,
    WRITERS,
    is_unicode,
    namedtuple_fields,
    sendable_class,
    surrogates,
)

__all__ = ["PROGRAM_DEPTH", "Graph", "NotPlain", "Opaque", "dumps", "from_text", "loads", "to_text"]

DEPTH = 200
PROGRAM_DEPTH = 150  # of what a program returns, so that tests can pass it on as a part of something else
MOST_CONTAINERS = 500_000
_SCALARS = {str, int, float, bool, type(None)}
dumps = json.JSONEncoder(ensure_ascii=True, check_circular=False, allow_nan=False, separators=(",", ":")).encode


def _refuse_constant(name: str) -> Any:
    raise NotPlain(f"{name} is not a value")


_scan = json.JSONDecoder(parse_constant=_refuse_constant).scan_once  # type: ignore[attr-defined]


def loads(text: str) -> Any:
    """The JSON value of a whole text; NotPlain if it is none."""
    try:
        coded, end = _scan(text, 0)
    except NotPlain:
        raise
    except StopIteration:
        raise NotPlain("no JSON") from None
    except (ValueError, RecursionError) as error:
        raise NotPlain(f"no JSON: {type(error).__name__}") from error
    if end != len(text):
        raise NotPlain("text after the value")
    return coded


def to_text(value: Any) -> str:
    """A plain value as text, without handles."""
    return dumps(Graph().encode(value))


def from_text(text: str) -> Any:
    """The value of a text that `to_text` wrote."""
    return Graph().decode(loads(text))


@dataclass(frozen=True, slots=True)
class Opaque:
    """The description of an object of the program that is not plain: its key and the name of its type.

    An instance of a subclass of a plain type also has its plain value, in JSON, and may be a member of an enum.
    """

    key: int | str
    type_name: str
    value: Any = None
    is_member: bool = False


def _no_handle(value: Any) -> Any:
    raise NotPlain(f"{type(value).__name__} is not plain data")


class Entry:
    """A container that has crossed: its contents at the last message, and those that its own side wrote."""

    __slots__ = ("container", "is_own", "is_returned", "kind", "known", "original")

    def __init__(self, container: Any, kind: Container, known: Any, *, is_own: bool) -> None:
        self.container, self.kind, self.known, self.is_own = container, kind, known, is_own
        self.original: Any = None
        self.is_returned = False  # by the other side, which has it from this one


class Graph:
    """The containers that have crossed one channel, seen from one side.

    `describe` turns any other object into the JSON of a handle, `resolve` does the reverse; `array_type` is the class
    of arrays that are built here. Values `from_program` are less deep.
    """

    def __init__(
        self,
        describe: Callable[[Any], Any] = _no_handle,
        resolve: Callable[[Any], Any] = _no_handle,
        array_type: Callable[[], Any] | None = None,
        *,
        from_program: bool = False,
    ) -> None:
        self._depth = (PROGRAM_DEPTH if from_program else DEPTH) + 3
        self.has_nan = False  # something that was decoded
        self._describe, self.resolve, self._array_type = describe, resolve, array_type
        self._numbers: dict[int, int] = {}
        self._entries: dict[int, Entry] = {}
        self._next = 0
        self.changed: dict[int, Entry] = {}  # containers of this side that the other side has changed

    def __len__(self) -> int:
        return len(self._entries)

    def encode(self, value: Any, depth: int = DEPTH) -> Any:
        """A value as JSON; what JSON cannot express is `{tag: content}`."""
        kind = type(value)
        if kind is str:
            return value if value.isascii() or is_unicode(value) else {"u": surrogates(value)}
        if kind is bool or value is None:
            return value
        if kind is int:
            return value if -SMALL < value < SMALL else {"i": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"f": repr(value)}
        if depth <= 0:
            raise NotPlain("nested too deeply")
        container = CONTAINERS.get(kind)
        if container is not None:
            return self.encode_container(value, container, depth)
        writer = WRITERS.get(kind)
        if writer is not None:
            return {writer[0]: writer[1](self, value, depth - 1)}
        return self._encode_other(value, kind, depth)

    def encode_container(self, value: Any, kind: Container, depth: int = DEPTH) -> Any:
        """A container by its number, or with its contents where it crosses for the first time."""
        number = self._numbers.get(id(value))
        if number is not None:
            return {"=": number}
        parts = kind.parts(value)
        self._add(value, kind, parts[kind.header :] if kind.raw is None else kind.raw(value), is_own=True)
        contents = kind.write(self, parts, depth - 1)
        return contents if kind.tag == "l" else {kind.tag: contents}

    def _encode_other(self, value: Any, kind: type, depth: int) -> Any:
        """A class, a namedtuple or a numpy value; everything else is a handle."""
        if kind is type and (name := sendable_class(value)) is not None:
            return {"k": name}
        fields = namedtuple_fields(kind)
        if fields is not None:
            return {"n": [kind.__name__, list(fields), items_of(self, tuple.__iter__(value), depth - 1)]}
        if kind is memoryview and type(value.obj) is bytes:
            return self.encode(value.tobytes(), depth)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            is_own = issubclass(kind, numpy.ndarray) and self._array_type is not None and kind is self._array_type()
            if kind is numpy.ndarray or is_own:
                if value.dtype.kind in "?biufcUS":
                    return self._encode_array(value, depth)
            elif issubclass(kind, numpy.generic) and kind.__module__ == "numpy" and value.dtype.kind in "?biufcUS":
                item = value.item()  # of the widest types, the value itself
                return {"g": [value.dtype.str, self.encode(float(value) if type(item) is kind else item, 1)]}
        return {"@": self._describe(value)}

    def _encode_array(self, value: Any, depth: int) -> Any:
        """An array: a container, or the part that it shows of another array that has crossed."""
        base = value.base
        while base is not None and id(base) not in self._numbers:
            base = getattr(base, "base", None)
        shown = None if base is None or id(value) in self._numbers else self.shown_array(self._numbers[id(base)])
        if shown is None or value.size > shown.size or not shown.flags.c_contiguous:
            return self.encode_container(value, ARRAY, depth)
        offset = value.__array_interface__["data"][0] - shown.__array_interface__["data"][0]
        return {"V": [self._numbers[id(shown)], offset, value.dtype.str, list(value.shape), list(value.strides)]}

    def shown_array(self, number: Any) -> Any:
        """The array of a number; None if there is none."""
        entry = self._entries.get(number) if type(number) is int else None
        return entry.container if entry is not None and entry.kind is ARRAY else None

    def as_answer(self, value: Any) -> Any:
        """An array as one of the class of arrays that are built here."""
        return value if self._array_type is None else value.view(self._array_type())

    def decode(self, coded: Any, depth: int | None = None, extend: Callable[[Any], Any] | None = None) -> Any:
        """The value that `encode` described; NotPlain for anything it would not have written.

        `extend` is applied to a new container before it is filled.
        """
        kind = type(coded)
        depth = self._depth if depth is None else depth
        if kind is list:
            if depth <= 0:
                raise NotPlain("nested too deeply")
            if extend is None and _SCALARS.issuperset(map(type, coded)):
                self._add(coded, CONTAINERS[list], coded[:], is_own=False)
                return coded
            return self._decode_new(CONTAINERS[list], coded, depth, extend)
        if kind is not dict:
            return coded
        if depth <= 0 or len(coded) != 1:
            raise NotPlain("nested too deeply" if depth <= 0 else "not a tagged value")
        ((tag, content),) = coded.items()
        try:
            container = CONTAINERS_BY_TAG.get(tag)
            if container is not None:
                return self._decode_new(container, content, depth, extend)
            return READERS[tag](self, content, depth - 1)
        except NotPlain:
            raise
        except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, MemoryError, OSError) as error:
            raise NotPlain(f"bad content of {tag[:20]!r}: {type(error).__name__}") from error

    def _decode_new(self, container: Container, content: Any, depth: int, extend: Callable[[Any], Any] | None) -> Any:
        value = container.build(self, content)
        if container is ARRAY:
            value = self.as_answer(value)
        if extend is not None:
            value = extend(value)
        entry = self._add(value, container, None, is_own=False)
        container.replace_contents(self, value, content, depth - 1)
        entry.known = container.copy(value)
        return value

    def _add(self, value: Any, kind: Container, known: Any, *, is_own: bool) -> Entry:
        if not is_own and len(self._entries) >= MOST_CONTAINERS:
            raise NotPlain("too many containers")
        entry = self._entries[self._next] = Entry(value, kind, known, is_own=is_own)
        self._numbers[id(value)] = self._next
        self._next += 1
        return entry

    def write_changes(self) -> list[Any]:
        """The contents of all containers that were changed on this side since the last message."""
        changes: list[Any] = []
        for number, entry in list(self._entries.items()):
            if not entry.kind.is_same(entry.container, entry.known):
                entry.known = entry.kind.copy(entry.container)
                self.changed.pop(number, None)
                changes.append([number, entry.kind.write(self, entry.kind.parts(entry.container), DEPTH)])
        return changes

    def apply_changes(self, changes: Any) -> None:
        """Make the changes of the other side to the containers on this side."""
        for number, contents in expect_list(changes):
            entry = self._entries.get(number) if type(number) is int else None
            if entry is None:
                raise NotPlain("a change of an unknown container")
            if entry.is_own and number not in self.changed:
                entry.original = entry.kind.contents(entry.container)
                self.changed[number] = entry
            try:
                entry.kind.replace_contents(self, entry.container, contents, self._depth)
            except (ValueError, TypeError, ArithmeticError, LookupError) as error:
                raise NotPlain(f"bad contents: {error}") from error
            entry.known = entry.kind.copy(entry.container)

    def release(self) -> Any:
        """Drop the containers that only this graph refers to: their numbers, or True where none is left."""
        dropped = []
        for number in list(self._entries):
            entry = self._entries[number]
            if sys.getrefcount(entry.container) <= _UNSHARED:
                dropped.append(number)
                self._forget(number)
        if not self._entries and dropped:
            self._next = 0
            return True
        return dropped

    def forget(self, released: Any) -> None:
        """Drop what the other side released."""
        if released is True:
            for known in (self._entries, self._numbers, self.changed):
                known.clear()
            self._next = 0
            return
        for number in released:
            self._forget(number)

    def _forget(self, number: int) -> None:
        entry = self._entries.pop(number)
        self.changed.pop(number, None)
        del self._numbers[id(entry.container)]

    def entry(self, number: int) -> Entry | None:
        """The container of a number."""
        return self._entries.get(number)


def _unshared_count() -> int:
    """The count that `sys.getrefcount` reports in `release` for a container that only its entry refers to."""
    entries = {0: Entry([], CONTAINERS[list], None, is_own=True)}
    for number in list(entries):
        entry = entries[number]
        count = sys.getrefcount(entry.container)
    return count


_UNSHARED = _unshared_count()
