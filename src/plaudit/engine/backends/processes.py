"""Score on warm worker processes, with deadlines that kill.

A sample's clock starts when its worker is done with the one before, so waiting for a free worker costs nothing. A
worker that overruns is killed with everything it started, and replaced; the samples behind the slow one go on
elsewhere. Works from any thread, without signals of our own.
"""

import logging
import selectors
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.worker_handle import Worker
from plaudit.engine.shipping import Shipment
from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import Supply
from plaudit.engine.unit import Done, Limits, Unit
from plaudit.errors import InvalidSettings, ScoringFailed

__all__ = ["ProcessBackend"]

logger = logging.getLogger("plaudit.engine")
logger.addHandler(logging.NullHandler())  # whoever wants the log asks for it

QUEUED = 4  # units a worker has at hand, so that it never waits for us
PAUSE_S = 0.02  # at most, between looks at workers that have enough to do
LEAST_PAUSE_S = 0.0003
MAX_FALSE_STARTS = 3
NOT_ITS_FAULT = {signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT}


class ProcessBackend:
    """A pool of workers that outlives single calls; `close()` leaves no process behind."""

    def __init__(
        self, shipment: Shipment, workers: int, limits: Limits, *, by_sample: bool, stats: ScorerStats | None = None
    ) -> None:
        self._shipment, self._limits, self._by_sample = shipment, limits, by_sample
        self._stats = stats or ScorerStats(workers=workers)
        self._count = workers
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()
        # Workers die with the thread that started them, so that thread must live as long as the pool.
        self._starter = ThreadPoolExecutor(1, "plaudit-workers")
        self._false_starts = 0

    def run(self, supply: Supply) -> Iterator[Done]:
        """Score units as workers become free; outputs come as they are ready, in any order."""
        again: deque[Unit] = deque()
        while len(self._workers) < self._count:
            self._start()
        try:
            while self._give(supply, again) or not supply.exhausted:
                for worker in self._ready(self._wait_s()):
                    yield from self._progress(worker)
                    if worker.gone:
                        yield from self._after_death(worker, again)
                for worker in self._overdue():
                    yield from self._progress(worker)  # what it had written before
                    if self._is_overdue(worker):
                        yield from self._kill(worker, again)
        finally:
            if any(worker.units for worker in self._workers):  # the caller stopped early: forget what is under way
                self.close()

    def close(self) -> None:
        """Kill every worker; the next run starts new ones."""
        for worker in list(self._workers):
            self._remove(worker)

    def shutdown(self) -> None:
        """Close for good."""
        self.close()
        self._selector.close()
        self._starter.shutdown()

    def _start(self) -> None:
        worker = self._starter.submit(Worker, self._shipment, self._limits.memory_mb).result()
        self._workers.append(worker)
        self._selector.register(worker.reading, selectors.EVENT_READ, worker)

    def _remove(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.reading)
        worker.kill()

    def _give(self, supply: Supply, again: deque[Unit]) -> bool:
        """Give work to workers that have room; False when no worker has any."""
        for worker in sorted(self._workers, key=lambda worker: len(worker.units)):
            while len(worker.units) < QUEUED and (unit := again.popleft() if again else supply.take()):
                worker.give(unit)
        return any(worker.units for worker in self._workers)

    def _wait_s(self) -> float:
        now = time.monotonic()
        limits = [self._expires(worker) - now for worker in self._workers if worker.units]
        return max(0.0, min([limit for limit in limits if limit < float("inf")], default=0.5))

    def _ready(self, timeout: float) -> list[Worker]:
        """The workers that have written something, after a wait."""
        for worker in self._workers:
            worker.send()
        pause = min(PAUSE_S, min(worker.at_hand_s() for worker in self._workers) / 2)
        if LEAST_PAUSE_S < pause < timeout:
            time.sleep(pause)  # all have work for a while: waking for each of their samples would cost them a core
            timeout = 0.0
        elif any(worker.unsent for worker in self._workers):
            timeout = min(timeout, PAUSE_S)
        return [key.data for key, _ in self._selector.select(min(timeout, 0.5))]

    def _progress(self, worker: Worker) -> Iterator[Done]:
        for done in worker.receive():
            self._false_starts = 0
            yield done
        if worker.refusal is not None:
            raise InvalidSettings(f"a worker could not load the reward: {worker.refusal}")

    def _expires(self, worker: Worker) -> float:
        if not worker.units or self._limits.deadline_s is None or not worker.started:
            return float("inf")
        samples = 1 if self._by_sample else len(worker.units[0])
        return worker.since + self._limits.deadline_s * samples

    def _is_overdue(self, worker: Worker) -> bool:
        return time.monotonic() >= self._expires(worker)

    def _overdue(self) -> list[Worker]:
        return [worker for worker in self._workers if self._is_overdue(worker)]

    def _kill(self, worker: Worker, again: deque[Unit]) -> Iterator[Done]:
        seconds = self._limits.deadline_s
        reason = f"no result within the deadline of {seconds:g} s; the worker was killed"
        self._note_loss(worker, "deadline")
        yield from self._replaced(worker, again, lambda: _unscored(Status.TIMEOUT, reason, seconds))

    def _after_death(self, worker: Worker, again: deque[Unit]) -> Iterator[Done]:
        code = worker.exit_code()
        if not worker.started:
            self._false_starts += 1
            if self._false_starts >= MAX_FALSE_STARTS:
                self.close()
                raise ScoringFailed(f"workers die while they start ({_death(code)}); does importing the reward crash?")
        if worker.units and (not worker.started or (-code in NOT_ITS_FAULT and worker.units[0].tries == 0)):
            self._note_loss(worker, "killed by others")
            yield from self._replaced(worker, again, None)  # the sample gets another try
            return
        self._note_loss(worker, _death(code))
        out_of_memory = code == -signal.SIGKILL
        status = Status.MEMORY if out_of_memory else Status.ERROR
        reason = f"the worker died: {_death(code)}"
        yield from self._replaced(worker, again, lambda: _unscored(status, reason, None))

    def _note_loss(self, worker: Worker, how: str) -> None:
        place = worker.units[0].places[0] if worker.units else None
        logger.warning("worker lost: %s", how, extra={"how": how, "sample": place, "pid": worker.pid})
        self._stats.lose(how)

    def _replaced(
        self, worker: Worker, again: deque[Unit], verdict: Callable[[], RewardOutput] | None
    ) -> Iterator[Done]:
        """Replace a worker. The sample it was at gets the verdict, or another try where there is none."""
        units = list(worker.units)
        self._remove(worker)
        self._start()
        if not units:
            return
        current, *waiting = units
        again.extendleft(reversed(waiting))
        if verdict is None:
            again.appendleft(current.tried_again())
        elif self._by_sample:
            if len(current) > 1:
                again.appendleft(current.rest(1))
            yield current.done([verdict()])
        elif current.whole or len(current) == 1:
            yield current.done([verdict()] * len(current))
        else:  # some sample of a batch is at fault: try them one by one
            again.extendleft(reversed(current.singly()))


def _unscored(status: Status, reason: str, seconds: float | None) -> RewardOutput:
    return RewardOutput(None, status=status, reason=reason, latency_s=seconds)


def _death(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
