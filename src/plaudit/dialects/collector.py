"""Put single samples together into groups: every sample waits until its group is whole.

A group that does not become whole in time is given up: its samples are unscored, and the reason says what is missing.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["GroupCollector", "Place"]

Sample = TypeVar("Sample")
Result = TypeVar("Result")


@dataclass
class _Group(Generic[Sample, Result]):
    samples: list[Sample] = field(default_factory=list)
    results: "Future[Sequence[Result]]" = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class Place(Generic[Result]):
    """Where the result of one sample will be found: in those of its group."""

    results: "Future[Sequence[Result]]"
    index: int


class GroupCollector(Generic[Sample, Result]):
    """Calls `score` with whole groups of `size` samples, and `give_up` with what came of one within `wait_s`."""

    def __init__(
        self,
        score: Callable[[list[Sample]], Sequence[Result]],
        give_up: Callable[[list[Sample]], Sequence[Result]],
        executor: Executor,
        size: int,
        wait_s: float,
    ) -> None:
        self._score, self._give_up, self._executor = score, give_up, executor
        self._size, self._wait_s = size, wait_s
        self._groups: dict[Hashable, _Group[Sample, Result]] = {}
        self._lock = threading.Lock()

    def add(self, key: Hashable, sample: Sample) -> Place[Result]:
        """Take in a sample; whoever brings the last one of a group starts its scoring."""
        with self._lock:
            if key not in self._groups:
                self._groups[key] = _Group()
                timer = threading.Timer(self._wait_s, self._expire, (key, self._groups[key]))
                timer.daemon = True
                timer.start()
            group = self._groups[key]
            group.samples.append(sample)
            if len(group.samples) == self._size:
                del self._groups[key]
                self._executor.submit(self._score, group.samples).add_done_callback(_hand_on(group.results))
        return Place(group.results, len(group.samples) - 1)

    def _expire(self, key: Hashable, group: _Group[Sample, Result]) -> None:
        with self._lock:
            if self._groups.get(key) is not group:
                return
            del self._groups[key]
        self._executor.submit(self._give_up, group.samples).add_done_callback(_hand_on(group.results))


def _hand_on(to: "Future[Sequence[Result]]") -> "Callable[[Future[Sequence[Result]]], None]":
    def finish(done: "Future[Sequence[Result]]") -> None:
        error = done.exception()
        if error is None:
            to.set_result(done.result())
        else:
            to.set_exception(error)

    return finish
