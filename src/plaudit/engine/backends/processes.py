"""Score on warm worker processes, with deadlines that kill.

A sample's clock starts when its worker is done with the one before, so waiting for a free worker costs nothing. A
worker that overruns is killed with everything it started, and replaced; the samples behind the slow one go on
elsewhere. Works from any thread, without signals of our own.
"""

import logging
import selectors
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.backend import BackendSettings
from plaudit.engine.backends.losses import NOT_ITS_FAULT, after_deadline, after_death, describe_death
from plaudit.engine.backends.messages import OUTGROWN
from plaudit.engine.backends.worker_handle import WorkerHandle
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.errors import InvalidSettings, ScoringFailed

__all__ = ["ProcessBackend"]

logger = logging.getLogger("plaudit.engine")
logger.addHandler(logging.NullHandler())  # whoever wants the log asks for it

QUEUED = 4  # units a worker has at hand, so that it never waits for us
PAUSE_S = 0.02  # at most, between looks at workers that have enough to do
LEAST_PAUSE_S = 0.0003
MAX_FALSE_STARTS = 3


class ProcessBackend:
    """A pool of workers that outlives single runs; `shutdown()` leaves no process behind."""

    survives_fork = True

    def __init__(self, shipment: Shipment, settings: BackendSettings) -> None:
        self._shipment, self._count, self._stats = shipment, settings.workers, settings.stats
        self._limits, self._by_sample = settings.limits, settings.by_sample
        self._workers: list[WorkerHandle] = []
        self._queue: deque[Unit] = deque()
        self._selector = selectors.DefaultSelector()
        # Workers die with the thread that started them, so that thread must live as long as the pool.
        self._starter = ThreadPoolExecutor(1, "plaudit-workers")
        self._false_starts = 0

    def wants_more(self, units: int, samples: int) -> bool:
        at_hand = sum(len(worker.units) for worker in self._workers)
        return units + len(self._queue) + at_hand < QUEUED * self._count

    def submit(self, unit: Unit) -> None:
        self._queue.append(unit)

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Give units to workers that have room, wait, and look after workers that answered, died or overran."""
        self._give()
        results: list[UnitResult] = []
        if not any(worker.units for worker in self._workers):
            return results
        for worker in self._ready(min(timeout_s, self._next_deadline_s())):
            results += self._receive(worker)
            if worker.gone:
                results += self._after_death(worker)
        for worker in self._overdue():
            results += self._receive(worker)  # what it had written before
            if self._is_overdue(worker):
                results += self._kill(worker)
        return results

    def discard(self, stream: OrderedStream) -> None:
        self._queue = deque(unit for unit in self._queue if unit.stream is not stream)
        for worker in list(self._workers):
            if any(unit.stream is stream for unit in worker.units):
                self._remove(worker)  # it is at work for nobody
                self._queue.extendleft(unit for unit in reversed(worker.units) if unit.stream is not stream)

    def shutdown(self) -> None:
        """Kill every worker."""
        for worker in list(self._workers):
            self._remove(worker)
        self._selector.close()
        self._starter.shutdown()

    def _start(self) -> None:
        worker = self._starter.submit(WorkerHandle, self._shipment, self._limits.memory_mb).result()
        self._workers.append(worker)
        self._selector.register(worker.reading, selectors.EVENT_READ, worker)

    def _remove(self, worker: WorkerHandle) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.reading)
        worker.kill()

    def _give(self) -> None:
        """Give queued units to workers that have room, those with the least at hand first."""
        while self._queue and len(self._workers) < self._count:
            self._start()
        for worker in sorted(self._workers, key=lambda worker: len(worker.units)):
            while self._queue and len(worker.units) < QUEUED:
                worker.give(self._queue.popleft())

    def _next_deadline_s(self) -> float:
        now = time.monotonic()
        return max(0.0, min(self._expires(worker) - now for worker in self._workers))

    def _ready(self, timeout: float) -> list[WorkerHandle]:
        """The workers that have written something, after a wait."""
        for worker in self._workers:
            worker.send()
        pause = min(PAUSE_S, min(worker.at_hand_s() for worker in self._workers) / 2)
        if LEAST_PAUSE_S < pause < timeout:
            time.sleep(pause)  # all have work for a while: waking for each of their samples would cost them a core
            timeout = 0.0
        elif any(worker.unsent for worker in self._workers):
            timeout = min(timeout, PAUSE_S)
        return [key.data for key, _ in self._selector.select(timeout)]

    def _receive(self, worker: WorkerHandle) -> list[UnitResult]:
        results = worker.receive()
        if results:
            self._false_starts = 0
        if worker.refusal is not None:
            raise InvalidSettings(f"a worker could not load the reward: {worker.refusal}")
        return results

    def _expires(self, worker: WorkerHandle) -> float:
        if not worker.units or self._limits.deadline_s is None or not worker.started:
            return float("inf")
        samples = 1 if self._by_sample else len(worker.units[0])
        return worker.since + self._limits.deadline_s * samples

    def _is_overdue(self, worker: WorkerHandle) -> bool:
        return time.monotonic() >= self._expires(worker)

    def _overdue(self) -> list[WorkerHandle]:
        return [worker for worker in self._workers if self._is_overdue(worker)]

    def _kill(self, worker: WorkerHandle) -> list[UnitResult]:
        self._note_loss(worker, "deadline")
        return self._replace(worker, after_deadline(self._limits.deadline_s))

    def _after_death(self, worker: WorkerHandle) -> list[UnitResult]:
        code = worker.exit_code()
        if not worker.started:
            self._false_starts += 1
            if self._false_starts >= MAX_FALSE_STARTS:
                self._remove(worker)
                raise ScoringFailed(
                    f"workers die while they start ({describe_death(code)}); does importing the reward crash?"
                )
        if code == OUTGROWN:
            self._note_loss(worker, "grown memory")
            return self._replace(worker, None, fault=False)
        if worker.units and (not worker.started or (-code in NOT_ITS_FAULT and worker.units[0].tries == 0)):
            self._note_loss(worker, "killed by others")
            return self._replace(worker, None)
        self._note_loss(worker, describe_death(code))
        return self._replace(worker, after_death(code))

    def _note_loss(self, worker: WorkerHandle, how: str) -> None:
        place = worker.units[0].places[0] if worker.units else None
        logger.warning("worker lost: %s", how, extra={"how": how, "sample": place, "pid": worker.pid})
        self._stats.lose(how)

    def _replace(self, worker: WorkerHandle, verdict: RewardOutput | None, *, fault: bool = True) -> list[UnitResult]:
        """Replace a worker. The sample it was at gets the verdict; where there is none, another try if at `fault`."""
        units = list(worker.units)
        self._remove(worker)
        self._start()
        if not units:
            return []
        current, *waiting = units
        self._queue.extendleft(reversed(waiting))
        if verdict is None:
            self._queue.appendleft(current.retry() if fault else current)
            return []
        if self._by_sample:
            if len(current) > 1:
                self._queue.appendleft(current.rest(1))
            return [current.result([verdict])]
        if current.whole or len(current) == 1:
            return [current.result([verdict] * len(current))]
        self._queue.extendleft(reversed(current.split()))  # some sample of a batch is at fault: try them one by one
        return []
