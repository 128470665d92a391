"""Put single samples together into groups: every sample waits until its group is complete.

A group that is not complete in time is given up: its samples are unscored, and the reason says what is missing.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeAlias

__all__ = ["GroupCollector"]

Score: TypeAlias = Callable[[list[Any]], Sequence[Any]]


class GroupCollector:
    """Calls `score` with groups of `size` samples, and `give_up` with what came of a group within `wait_s`."""

    def __init__(self, score: Score, give_up: Score, executor: Executor, size: int, wait_s: float) -> None:
        self._score, self._give_up, self._executor = score, give_up, executor
        self._size, self._wait_s = size, wait_s
        self._groups: dict[Hashable, list[tuple[Any, Future[Any]]]] = {}
        self._lock = threading.Lock()

    def add(self, key: Hashable, sample: Any) -> "Future[Any]":
        """The future result of a sample; the last sample of a group starts its scoring."""
        future: Future[Any] = Future()
        with self._lock:
            group = self._groups.setdefault(key, [])
            group.append((sample, future))
            if len(group) == self._size:
                del self._groups[key]
                self._executor.submit(_complete, self._score, group)
            elif len(group) == 1:
                timer = threading.Timer(self._wait_s, self._expire, (key, group))
                timer.daemon = True
                timer.start()
        return future

    def _expire(self, key: Hashable, group: "list[tuple[Any, Future[Any]]]") -> None:
        with self._lock:
            if self._groups.get(key) is group:
                del self._groups[key]
                self._executor.submit(_complete, self._give_up, group)


def _complete(score: Score, group: "list[tuple[Any, Future[Any]]]") -> None:
    try:
        results = score([sample for sample, _ in group])
    except BaseException as error:  # noqa: BLE001 - it is raised wherever a sample of the group is waited for
        for _, future in group:
            future.set_exception(error)
    else:
        for (_, future), result in zip(group, results, strict=True):
            future.set_result(result)
