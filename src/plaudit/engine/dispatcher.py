"""Run streams: several at once, from any thread, until the scorer is closed.

Inline, a thread scores the samples of the stream that it reads, and waits for no other thread. On a backend, a thread
that waits for an output drives the backend for all: it takes a turn, in which it submits its own units and collects
results for every stream. Sources are read outside of turns and by the thread that consumes the stream, so that a source
may use the scorer itself. After a fork the new process gets a new backend.
"""

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from plaudit.contract.contents import warm_up
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.scoring import score_samples
from plaudit.engine.backends.backend import Backend
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import OrderedStream, Unit, UnitResult, UnitSize
from plaudit.errors import ScoringFailed
from plaudit.rollouts import ScoredRollout

TURN_S = 0.1  # at most, so that a stop or a close is noticed
_scoring: ContextVar[tuple["InlineRunner", ...]] = ContextVar("plaudit_scoring", default=())
"""Which runners this code is called by; async calls of a reward, on the thread of their loop, inherit it."""


class StreamRunner(ABC):
    """Scores streams until it is closed."""

    def __init__(self, stats: ScorerStats, size: UnitSize) -> None:
        self._stats, self._size, self._closed = stats, size, False

    @abstractmethod
    def run(self, stream: OrderedStream) -> Iterator[ScoredRollout]:
        """The samples of a stream with their outputs, in order."""

    @abstractmethod
    def close(self) -> None:
        """Stop; streams that are still open raise."""

    def _record(self, result: UnitResult) -> None:
        assert result.stream is not None
        result.stream.accept(result)
        self._size.learn(result.outputs)
        self._stats.scored += len(result.outputs)
        self._stats.busy_s += sum([output.latency_s or 0.0 for output in result.outputs])
        self._stats.queued_s.append(result.queued_s)

    def _check_open(self) -> None:
        if self._closed:
            raise ScoringFailed("this scorer is closed; make a new one")

    def _check(self, stream: OrderedStream) -> None:
        if self._closed:
            raise ScoringFailed(
                f"the scorer was closed while a stream was open: {stream.unreleased} samples of it were read and not "
                "scored; close it when all streams are done"
            )
        if stream.stop.is_set():
            raise ScoringFailed("the run was stopped")


class InlineRunner(StreamRunner):
    """Scores in the thread that reads the stream: no start-up, no deadline."""

    def __init__(self, reward: RewardFunction, stats: ScorerStats, size: UnitSize) -> None:
        super().__init__(stats, size)
        stats.workers = 1
        self._reward, self._is_warm = reward, False

    def run(self, stream: OrderedStream) -> Iterator[ScoredRollout]:
        self._check_open()
        while not stream.is_finished:
            self._check(stream)
            began = time.perf_counter()
            if (unit := stream.cut()) is not None:
                self._record(unit.result(self._score(unit)))
            self._stats.wall_s += time.perf_counter() - began
            yield from stream.release()
        stream.raise_error()

    def close(self) -> None:
        self._closed = True

    def _score(self, unit: Unit) -> list[RewardOutput]:
        if self in _scoring.get():
            raise ScoringFailed("a reward cannot use the scorer that is scoring it")
        within = _scoring.set((*_scoring.get(), self))
        try:
            if not self._is_warm:
                warm_up(self._reward)
                self._is_warm = True
            return score_samples(self._reward, unit.trajectories)
        finally:
            _scoring.reset(within)


class Dispatcher(StreamRunner):
    """A backend and the streams that are open on it."""

    def __init__(self, build: Callable[[], Backend], stats: ScorerStats, size: UnitSize) -> None:
        super().__init__(stats, size)
        self._build, self._backend = build, build()
        self._inherited: list[Backend] = []  # of a process that forked: neither used nor ended here
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._turn = threading.Condition()
        self._driver: int | None = None  # the thread that has its turn
        self._abandoned: list[OrderedStream] = []

    def run(self, stream: OrderedStream) -> Iterator[ScoredRollout]:
        self._adopt()
        self._check_open()
        pid = self._pid
        try:
            while not stream.is_finished:
                if os.getpid() != pid:
                    raise ScoringFailed("a stream cannot be continued after a fork; open a new one")
                self._prepare(stream)
                self._advance(stream)
                yield from stream.release()
            stream.raise_error()
        finally:
            if stream.unreleased and os.getpid() == pid:
                self._discard(stream)

    def close(self) -> None:
        self._adopt()
        with self._turn:
            self._closed = True
            self._turn.wait_for(lambda: self._driver in (None, threading.get_ident()))
            self._backend.shutdown()

    def _adopt(self) -> None:
        """In a process that was forked off, start anew: workers and locks belong to the parent."""
        if self._pid == os.getpid():
            return
        if not self._backend.survives_fork:
            raise ScoringFailed("this backend cannot be used after a fork; make a new Scorer in the new process")
        self._inherited.append(self._backend)
        self._backend = self._build()
        self._begin()

    def _prepare(self, stream: OrderedStream) -> None:
        """Cut as many units as the backend would take now."""
        began = time.perf_counter()
        while self._backend.wants_more(len(stream.prepared)) and (unit := stream.cut()):
            stream.prepared.append(unit)
        self._stats.wall_s += time.perf_counter() - began

    def _advance(self, stream: OrderedStream) -> None:
        """Take a turn, unless the next output is there or comes while others take theirs."""
        with self._turn:
            self._check(stream)
            if self._driver == threading.get_ident():  # a sample that scores while it is pickled
                raise ScoringFailed("a scorer cannot be used by the code that it runs")
            while self._driver is not None:
                self._turn.wait()
                self._check(stream)
                if stream.has_ready:
                    return
            if stream.has_ready or stream.is_finished:
                return
            self._driver = threading.get_ident()
        try:
            self._take_turn(stream)
        finally:
            with self._turn:
                self._driver = None
                self._turn.notify_all()

    def _take_turn(self, stream: OrderedStream) -> None:
        began = time.perf_counter()
        while self._abandoned:
            self._backend.discard(self._abandoned.pop())
        while stream.prepared:
            self._backend.submit(stream.prepared.popleft())
        for result in self._backend.collect(TURN_S):
            self._record(result)
        self._stats.wall_s += time.perf_counter() - began

    def _discard(self, stream: OrderedStream) -> None:
        """Drop the pending work of an abandoned stream."""
        with self._turn:
            if self._driver == threading.get_ident():  # garbage collection in the middle of a turn
                self._abandoned.append(stream)
                return
            self._turn.wait_for(lambda: self._driver is None)
            if not self._closed:
                self._backend.discard(stream)
