"""Servers that are kept for the next that needs such a one; safe from many threads, and empty after a fork."""

import os
import threading
from collections.abc import Callable
from typing import Generic, Protocol, Self, TypeVar


class _Closable(Protocol):
    def close(self) -> None:
        """End it."""


K = TypeVar("K")
T = TypeVar("T", bound=_Closable)


class IdlePool(Generic[K, T]):
    """The idle objects by their kind, the oldest first; as a context manager it leaves no process behind."""

    def __init__(self, most: int, make: Callable[[K], T]) -> None:
        self._most, self._make = most, make
        self._idle: list[tuple[K, T]] = []
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def acquire(self, kind: K) -> T:
        """One of this kind, made where none is idle; then the oldest of another kind ends if there are too many."""
        with self._lock:
            if self._owner != os.getpid():  # this is a fork: what is idle belongs to the parent
                self._idle, self._owner = [], os.getpid()
            for index in reversed(range(len(self._idle))):
                if self._idle[index][0] == kind:
                    return self._idle.pop(index)[1]
            excess = self._idle[:1] if len(self._idle) >= self._most else []
            del self._idle[: len(excess)]
        for _, one in excess:
            one.close()
        return self._make(kind)

    def give_back(self, kind: K, one: T, *, usable: bool) -> None:
        """Keep one for the next, or end it."""
        with self._lock:
            if usable and len(self._idle) < self._most:
                self._idle.append((kind, one))
                return
        one.close()

    def close(self) -> None:
        """End all that is not at work."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, one in idle:
            one.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
