"""Score on warm worker processes, with deadlines that kill: the thread that waits for results drives a `Pool`."""

import selectors
import time

from plaudit.engine.backends.backend import BackendSettings
from plaudit.engine.reward_service import RewardService, outputs_of, pack_samples
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.processes.messages import pack_outputs
from plaudit.processes.pool import QUEUED, Pool, PoolUnit, Worker

__all__ = ["ProcessBackend"]

TURN_S = 1.0


class ProcessBackend:
    """A pool of workers that outlives single runs; `shutdown()` leaves no process behind."""

    survives_fork = True

    def __init__(self, shipment: Shipment, settings: BackendSettings) -> None:
        self._selector = selectors.DefaultSelector()
        self._pool = Pool(
            RewardService(shipment),
            settings.workers,
            settings.limits,
            watch=lambda worker: self._watch(worker),
            unwatch=lambda worker: self._unwatch(worker),
            lost=settings.stats.lose,
        )

    def wants_more(self, units: int) -> bool:
        return units + self._pool.load < QUEUED * self._pool.count

    def submit(self, unit: Unit) -> None:
        self._pool.submit(PoolUnit(pack_samples(unit.trajectories), len(unit), owner=unit, first=unit.indices[0]))

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Give units to workers that have room, wait, and take what is done."""
        self._turn(timeout_s)
        results = []
        while self._pool.finished:
            done = self._pool.finished.popleft()
            unit: Unit = done.owner
            results.append(unit.result(outputs_of(done), max(0.0, done.began - unit.cut_at)))
        return results

    def score_packed(self, body: bytes, count: int) -> bytes:
        """The packed outputs of packed samples; waits for them."""
        self._pool.submit(PoolUnit(body, count))
        while not self._pool.finished:
            self._turn(TURN_S)
        return pack_outputs(outputs_of(self._pool.finished.popleft()))

    def discard(self, stream: OrderedStream) -> None:
        self._pool.discard(lambda unit: unit.owner.stream is stream)

    def shutdown(self) -> None:
        """Kill every worker."""
        self._pool.close()
        self._selector.close()

    def _turn(self, timeout_s: float) -> None:
        self._pool.give()
        if self._pool.load:
            for worker in self._ready(timeout_s):
                if worker in self._pool.workers:
                    self._pool.read(worker)
            self._pool.expire()

    def _watch(self, worker: Worker) -> None:
        self._selector.register(worker.process.reading, selectors.EVENT_READ, worker)

    def _unwatch(self, worker: Worker) -> None:
        self._selector.unregister(worker.process.reading)

    def _ready(self, timeout_s: float) -> list[Worker]:
        """The workers that have written something, after a wait."""
        workers = self._pool.workers
        timeout = max(0.0, min(timeout_s, self._pool.next_expiry() - time.monotonic()))
        for worker in workers:
            worker.flush()
        unsent = [worker.process.writing for worker in workers if worker.process.unsent]
        for descriptor in unsent:
            self._selector.register(descriptor, selectors.EVENT_WRITE)
        try:
            return [key.data for key, _ in self._selector.select(timeout) if key.data is not None]
        finally:
            for descriptor in unsent:
                self._selector.unregister(descriptor)
