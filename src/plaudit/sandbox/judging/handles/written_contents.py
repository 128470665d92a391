"""Expected values are computed on what the tests wrote, which containers that the program changed hold meanwhile.

The contents are exchanged before an expression of the tests is evaluated and after it, so this also holds for whatever
the expression calls. Containers that the tests check themselves keep what the program made of them.
"""

import copy
import sys
from collections.abc import Callable, Generator, Iterator
from typing import Any

from plaudit.sandbox.containers import CONTAINERS
from plaudit.sandbox.value_kinds import copy_view
from plaudit.sandbox.values import Entry, Graph


class WrittenContents:
    """Exchanges the contents of changed containers in the graph that `graph` gives."""

    def __init__(self, graph: Callable[[], Graph]) -> None:
        self._graph = graph
        self._exchanged: list[Entry] = []

    def begin(self, *kept: Any) -> bool:
        """Give containers the contents that the tests wrote, except those in `kept`; False if that was done already."""
        if not self._exchanged and (changed := self._graph().changed):
            held: set[int] = set()
            _collect(kept, held)
            self._exchanged = [entry for entry in changed.values() if id(entry.container) not in held]
            self._exchange()
            return True
        return False

    def begin_unreturned(self, *kept: Any) -> bool:
        """Like `begin`, except that containers which the program has returned keep their contents: they are answers."""
        returned = [entry.container for entry in self._graph().changed.values() if entry.is_returned]
        return self.begin(*kept, *returned)

    def end(self, begun: bool, value: Any) -> Any:
        """Undo `begin`, and return a copy of a value of the tests, with the contents that it has now.

        If the program was called since `begin`, the call has undone it already.
        """
        if not begun or not self._exchanged:
            return value
        value = self._lazily(value, _detach) if _is_lazy(value) else _detach(value)
        self.restore()
        return value

    def accept(self, result: Any, *arguments: Any) -> None:
        """Take changes of arguments for what the tests wrote if the function returned None: it only changes them."""
        held: set[int] = set()
        _collect(arguments, held)
        changed = self._graph().changed
        for number in [number for number, entry in changed.items() if result is None and id(entry.container) in held]:
            del changed[number]

    def argument(self, value: Any) -> Any:
        """An argument that an answer is compared with, as the tests wrote it, unless the program has returned it."""
        return self.end(self.begin_unreturned(), value)

    def call_own(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """The result of a function of the tests on what they wrote; containers that are answers keep their contents."""
        begun = self.begin_unreturned()
        try:
            value = function(*args, **keywords)
            return self._lazily(value, lambda item: item) if _is_lazy(value) else value
        finally:
            if begun:
                self.restore()

    def show(self) -> list[Entry]:
        """Show the program's changes while the tests check them; what `shown` needs to undo that."""
        exchanged = self._exchanged
        self.restore()
        return exchanged

    def shown(self, exchanged: list[Entry], value: Any) -> Any:
        """The value of a check, after which containers hold again what the tests wrote."""
        self._exchanged = exchanged
        self._exchange()
        return value

    def call(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """The result of a function that is not the program's, on what the tests wrote."""
        begun = self.begin()
        try:
            return self.end(begun, function(*args, **keywords))
        finally:
            if begun:
                self.restore()

    def items(self, begun: bool, value: Any) -> Any:
        """The items of a loop, whose number the program cannot change; the items themselves are live."""
        value = self._lazily(value, lambda item: item) if isinstance(value, Iterator) else copy_view(value)
        value = copy.copy(value) if type(value) in CONTAINERS else value
        if begun:
            self.restore()
        return value

    def restore(self) -> None:
        """Give all containers the contents that the program made."""
        if self._exchanged:
            self._exchange()
            self._exchanged = []

    def _exchange(self) -> None:
        for entry in self._exchanged:
            contents = entry.kind.contents(entry.container)
            entry.kind.fill(entry.container, entry.original)
            entry.original = contents

    def _lazily(self, items: Any, finish: Callable[[Any], Any]) -> Generator[Any, Any, None]:
        sent: Any = None
        while True:
            begun = self.begin()
            try:
                item = finish(next(items) if sent is None else items.send(sent))
            except StopIteration:
                return
            finally:
                if begun:
                    self.restore()
            sent = yield item


def _is_lazy(value: Any) -> bool:
    """Whether it is a generator or an iterator over something, and no file or the like."""
    return isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools")


def _collect(value: Any, seen: set[int]) -> None:
    """Add the identities of a container and of those within it."""
    kind = CONTAINERS.get(type(value))
    is_seen = id(value) in seen
    seen.add(id(value))
    if is_seen or (kind is None and type(value) is not tuple):
        return
    for part in value if kind is None else kind.contents(value):
        _collect(part, seen)


def _detach(value: Any, copies: dict[int, Any] | None = None) -> Any:
    """A value with copies of its containers."""
    copies = {} if copies is None else copies
    if type(value) is tuple:
        return tuple(_detach(item, copies) for item in value)
    kind = CONTAINERS.get(type(value))
    if kind is None:
        numpy = sys.modules.get("numpy")
        return value.copy() if numpy is not None and isinstance(value, numpy.ndarray) else copy_view(value)
    if id(value) not in copies:
        header = kind.parts(value)[: kind.header]
        copied = copies[id(value)] = kind.make(*header)
        kind.fill(copied, [_detach(part, copies) for part in kind.contents(value)])
    return copies[id(value)]
