"""Score on warm worker processes, with deadlines that kill: the thread that waits for results drives a `Pool`."""

from plaudit.engine.backends.backend import BackendSettings
from plaudit.engine.reward_service import RewardService, outputs_of, pack_samples
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.processes.messages import pack_outputs
from plaudit.processes.pool import QUEUED, Pool, PoolUnit

TURN_S = 1.0


class ProcessBackend:
    """A pool of workers that outlives single runs; `shutdown()` leaves no process behind."""

    survives_fork = True

    def __init__(self, shipment: Shipment, settings: BackendSettings) -> None:
        self._pool = Pool(RewardService(shipment), settings.workers, settings.limits, lost=settings.stats.lose)

    def wants_more(self, units: int) -> bool:
        return units + self._pool.load < QUEUED * self._pool.count

    def submit(self, unit: Unit) -> None:
        self._pool.submit(PoolUnit(pack_samples(unit.trajectories), len(unit), owner=unit, first=unit.indices[0]))

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Give units to workers that have room, wait, and take what is done."""
        self._pool.turn(timeout_s)
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
            self._pool.turn(TURN_S)
        return pack_outputs(outputs_of(self._pool.finished.popleft()))

    def discard(self, stream: OrderedStream) -> None:
        self._pool.discard(lambda unit: unit.owner.stream is stream)

    def shutdown(self) -> None:
        """Kill every worker."""
        self._pool.close()
