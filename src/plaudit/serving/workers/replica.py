"""A replica of a Ray Serve deployment: a pool of workers on some machine of a cluster, asked by the server's process.

A sample that hangs or crashes costs a worker of the replica, as on one machine; the replica itself runs no reward. Its
workers die with it. A reward that cannot be loaded is no reason to start replicas again and again: it is told when the
replica is asked what it serves.
"""

import asyncio
import math
import time
from typing import Any

from plaudit.errors import PlauditError
from plaudit.serving.workers.pool import PoolSettings, WorkerPool
from plaudit.serving.workers.queueing import Job
from plaudit.serving.workers.wire import Answer, encode_answers, read_unit
from plaudit.serving.workers.worker import ServiceSetup

__all__ = ["RewardReplica"]


class RewardReplica:
    """What Serve starts: `describe` says what it serves, `answer` takes one request."""

    def __init__(self, setup: ServiceSetup, settings: PoolSettings) -> None:
        self._setup, self._settings = setup, settings
        self._pool: WorkerPool | None = None
        self._starting: asyncio.Task[WorkerPool] | None = None

    async def describe(self) -> dict[str, Any] | str:
        """What is served; in words why nothing is."""
        try:
            return (await self._started()).description
        except PlauditError as error:
            return str(error)

    async def answer(self, job: bytes, left_s: float, client: str, key: str) -> bytes | None:
        """The answer to one request, whose client will wait for so long; None where this replica has another reward."""
        pool, [wire] = await self._started(), read_unit(job)
        if pool.description["key"] != key:
            return None
        now, answered = time.monotonic(), asyncio.get_running_loop().create_future()

        def finish(_: Job, answer: Answer) -> None:
            if not answered.done():
                answered.set_result(answer)

        pool.submit(Job(wire, client, finish, now + left_s if math.isfinite(left_s) else math.inf))
        return encode_answers([await answered])

    async def check_health(self) -> None:
        """Serve replaces a replica whose workers cannot be started any more."""
        if self._pool is not None and self._pool.failure:
            raise RuntimeError(self._pool.failure)

    async def _started(self) -> WorkerPool:
        if self._pool is None:
            if self._starting is None:
                self._starting = asyncio.get_running_loop().create_task(self._start())
            self._pool = await asyncio.shield(self._starting)
        return self._pool

    async def _start(self) -> WorkerPool:
        pool = WorkerPool(self._setup, self._settings, lambda how: None, lambda: None)
        await pool.start()
        return pool
