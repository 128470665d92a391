"""Answers by the key that a client gave its request, so that a repeated request is not scored again.

A client that lost its connection repeats its request under the same key: it gets the stored answer, or waits for the
one that is being computed. Only answers with status 200 are stored.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from plaudit.serving.protocols.protocol import RequestRefused

__all__ = ["MAX_KEY_BYTES", "IdempotencyCache"]

T = TypeVar("T")
KEPT_S = 600.0
KEPT_BYTES = 64 << 20
ENTRY_BYTES = 1024  # memory of an entry beside the body of its answer
MAX_KEY_BYTES = 200


@dataclass(slots=True)
class _Entry(Generic[T]):
    digest: bytes
    answer: "asyncio.Task[T]"
    begun: float
    size: int = 0


class IdempotencyCache(Generic[T]):
    """Answers by key, the oldest removed first; `size_of` gives the bytes of an answer, None for one not to keep."""

    def __init__(self, size_of: Callable[[T], int | None]) -> None:
        self._size_of = size_of
        self._entries: OrderedDict[tuple[str, bytes], _Entry[T]] = OrderedDict()
        self._bytes = 0
        self.repeats = 0

    async def get(self, key: tuple[str, bytes], body: bytes, compute: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer for a key, computed for the first request only; RequestRefused (422) if the body differs."""
        self._remove_old()
        digest = hashlib.blake2b(body, digest_size=16).digest()
        entry = self._entries.get(key)
        if entry is None:
            entry = _Entry(digest, asyncio.get_running_loop().create_task(compute()), time.monotonic())
            self._entries[key] = entry
            entry.answer.add_done_callback(lambda task: self._store(key, task))
        elif entry.digest != digest:
            raise RequestRefused(422, "this idempotency key was used for another request")
        else:
            self.repeats += 1
        return await asyncio.shield(entry.answer)

    def _store(self, key: tuple[str, bytes], task: "asyncio.Task[T]") -> None:
        failed = task.cancelled() or task.exception() is not None
        size = None if failed else self._size_of(task.result())
        if size is None:
            del self._entries[key]
            return
        self._entries[key].size = size + ENTRY_BYTES
        self._bytes += size + ENTRY_BYTES

    def _remove_old(self) -> None:
        while self._entries:
            key, entry = next(iter(self._entries.items()))
            is_recent = entry.begun > time.monotonic() - KEPT_S and self._bytes < KEPT_BYTES
            if is_recent or not entry.answer.done():
                return
            del self._entries[key]
            self._bytes -= entry.size
