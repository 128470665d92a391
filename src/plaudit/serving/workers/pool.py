"""The workers of one reward, driven by the event loop of the server.

A worker is given one request at a time, so a request that hangs holds up no other. A new worker describes its reward;
if that is another version, the worker is dropped and the server reloads.
"""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from plaudit.errors import InvalidSettings, PlauditError, ScoringFailed
from plaudit.processes.pool import Limits, Pool, PoolUnit, Worker
from plaudit.processes.worker import Service
from plaudit.serving.protocols.protocol import Answer, WorkerRequest, decode_answer, encode_request, refusal_body

logger = logging.getLogger("plaudit.serving")
logger.addHandler(logging.NullHandler())

RETRY_S = 1.0
POLL_S = 0.01
LEAST_S = 0.001
UNLOADABLE = "the reward cannot be loaded any more; the log of the server says why"
_STOPPING = Answer(503, refusal_body("the server is stopping"))
_EXPIRED = Answer(504, refusal_body("the time that the client allowed is over"))


class ServicePool:
    """Answers requests with worker processes; `description` lists their rewards, `failure` is the reason if they cannot
    serve.
    """

    def __init__(
        self,
        service: Service,
        count: int,
        limits: Limits,
        on_loss: Callable[[str], None],
        on_new_version: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(service, 1, limits, watch=self._watch, unwatch=self._unwatch, lost=on_loss)
        self._count, self._on_new_version = count, on_new_version
        self._waiting: deque[PoolUnit] = deque()
        self._admitted: set[Worker] = set()
        self._first: asyncio.Future[None] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self.failure = ""
        self.description: dict[str, Any] = {}

    @property
    def queued(self) -> int:
        """Requests that wait for a worker."""
        return len(self._waiting)

    @property
    def size(self) -> int:
        """Workers that run."""
        return len(self._pool.workers)

    @property
    def busy(self) -> int:
        """Workers that score."""
        return sum(bool(worker.units) for worker in self._admitted)

    def pids(self) -> list[int]:
        """The process ids of the workers that are in use."""
        return [worker.pid for worker in self._admitted]

    async def start(self) -> None:
        """Start one worker, and all others when it has loaded the reward; raises where it cannot."""
        self._proceed()
        await self._first
        self._refill()

    async def score(self, protocol: str, body: bytes, *, packed: bool, expires_at: float = math.inf) -> Answer:
        """The answer to the body of an HTTP request, at the latest at `expires_at` (of `time.monotonic`)."""
        if self.failure or self._closed:
            return Answer(503, refusal_body(self.failure)) if self.failure else _STOPPING
        future: asyncio.Future[Answer] = self._loop.create_future()
        request = encode_request(WorkerRequest(protocol, body, packed))
        self._waiting.append(PoolUnit(request, 0, owner=future, is_composed=True))
        self._dispatch()
        if expires_at == math.inf:
            return await future
        try:
            return await asyncio.wait_for(future, expires_at - time.monotonic())
        except TimeoutError:
            return _EXPIRED

    async def drain(self) -> None:
        """Return when no request waits or is being scored."""
        while not all(unit.owner.done() for unit in self._units()):
            await asyncio.sleep(POLL_S)

    async def close(self) -> None:
        """Kill every worker; requests under way are answered with 503."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._answer_all(_STOPPING)
        self._pool.close()
        self._first.cancel()

    def _units(self) -> list[PoolUnit]:
        """Everything that waits or is being scored."""
        return [*self._waiting, *self._pool.queue, *(unit for worker in self._pool.workers for unit in worker.units)]

    def _answer_all(self, answer: Answer) -> None:
        for unit in self._units():
            if not unit.owner.done():
                unit.owner.set_result(answer)
        self._waiting.clear()
        self._pool.queue.clear()

    def _watch(self, worker: Worker) -> None:
        self._loop.add_reader(worker.process.reading, self._read, worker)

    def _unwatch(self, worker: Worker) -> None:
        self._loop.remove_reader(worker.process.reading)
        self._loop.remove_writer(worker.process.writing)
        self._admitted.discard(worker)

    def _give(self, worker: Worker, unit: PoolUnit) -> None:
        worker.give(unit)
        self._write_rest(worker)

    def _write_rest(self, worker: Worker) -> None:
        """Continue writing when the worker has read."""
        if worker.process.unsent:
            self._loop.add_writer(worker.process.writing, self._flush, worker)

    def _flush(self, worker: Worker) -> None:
        worker.flush()
        if not worker.process.unsent:
            self._loop.remove_writer(worker.process.writing)

    def _read(self, worker: Worker) -> None:
        try:
            self._pool.read(worker)
            if worker.is_ready and worker in self._pool.workers and worker not in self._admitted:
                self._admit(worker)
        except (InvalidSettings, ScoringFailed) as error:
            self._drop(worker, error)
        self._proceed()

    def _tick(self) -> None:
        self._timer = None
        self._pool.expire()
        self._proceed()

    def _proceed(self) -> None:
        """Answer finished requests, replace lost workers, give waiting requests to workers that have room."""
        while self._pool.finished:
            unit = self._pool.finished.popleft()
            if not unit.owner.done():
                unit.owner.set_result(_answer_of(unit))
        if self._closed:
            return
        while len(self._pool.workers) < self._pool.count:
            self._pool.start_worker()
        for worker in self._pool.workers:
            self._write_rest(worker)
        self._dispatch()

    def _dispatch(self) -> None:
        idle = [worker for worker in self._admitted if not worker.units]
        while self._waiting and idle:
            unit = self._waiting.popleft()
            if not unit.owner.done():  # the client's time may be over
                self._give(idle.pop(), unit)
        if self._timer is None and (expiry := self._pool.next_expiry()) < math.inf:
            self._timer = self._loop.call_later(max(LEAST_S, expiry - time.monotonic()), self._tick)

    def _admit(self, worker: Worker) -> None:
        """Use a worker that is ready; InvalidSettings if it has loaded another version of the reward."""
        if not self.description:
            self.description = worker.description
            self._first.set_result(None)
        elif worker.description["key"] != self.description["key"]:
            self._on_new_version()
            raise InvalidSettings("the reward has changed since the server loaded it")
        self._admitted.add(worker)
        self.failure = ""

    def _drop(self, worker: Worker, error: PlauditError) -> None:
        """Give up a worker that cannot be used: an error at the start; later the others continue and it is retried."""
        if worker in self._pool.workers:
            self._pool.remove(worker)
        self._pool.count = len(self._pool.workers)
        if not self._first.done():
            self._first.set_exception(error)
            return
        logger.error("a worker could not be replaced: %s", error)  # not for clients: it may name files
        self._waiting.extendleft(reversed(worker.units))
        if not self._pool.workers:
            self.failure = UNLOADABLE
            self._answer_all(Answer(503, refusal_body(self.failure)))
        self._loop.call_later(RETRY_S, self._refill)

    def _refill(self) -> None:
        if not self._closed:
            self._pool.count = min(self.description.get("copies") or self._count, self._count)
            self._proceed()


def _answer_of(unit: PoolUnit) -> Answer:
    if unit.result is not None:
        return decode_answer(unit.result)
    assert unit.failure is not None
    return Answer(500, refusal_body(f"workers are lost at this request, not at a sample of it: {unit.failure.reason}"))
