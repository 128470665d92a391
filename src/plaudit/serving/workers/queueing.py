"""Jobs that wait, in fair order: whoever sends much waits behind its own requests, not before those of others."""

import math
from collections import deque
from collections.abc import Callable

from plaudit.serving.protocols.protocol import refusal_body
from plaudit.serving.workers.wire import Answer, WireJob

__all__ = ["EXPIRED", "FairQueue", "Job"]

EXPIRED = Answer(504, refusal_body("the request waited longer than it allowed; nothing was scored"))
MAX_UNBEGUN = 3
_ABANDONED = Answer(499, b"")  # counted only: there is nobody to read it


class Job:
    """One request on its way: what is asked, by whom, until when, and who is told the answer."""

    __slots__ = (
        "_on_answer", "_unbegun", "alone", "answered", "client", "expires_at", "tries", "unwanted", "wire",
    )  # fmt: skip

    def __init__(
        self,
        wire: WireJob,
        client: str,
        on_answer: Callable[["Job", Answer], None],
        expires_at: float = math.inf,
    ) -> None:
        self.wire, self.client, self._on_answer = wire, client, on_answer
        self.expires_at = expires_at
        self.tries = self._unbegun = 0  # workers that were killed at it from outside, and that were lost before it
        self.alone = self.unwanted = self.answered = False

    def abandon(self) -> None:
        """Nobody waits for the answer any more."""
        self.unwanted = True

    def may_begin_again(self) -> bool:
        """Its worker was lost before it began: whether another may, which it may not again and again."""
        self._unbegun += 1
        return self._unbegun <= MAX_UNBEGUN

    def finish(self, answer: Answer) -> None:
        """Tell the answer, once: whatever comes later is not heard."""
        if not self.answered:
            self.answered = True
            self._on_answer(self, answer)


class FairQueue:
    """Jobs by client, taken in turns; what comes back from a lost worker goes first."""

    def __init__(self) -> None:
        self._returned: deque[Job] = deque()
        self._by_client: dict[str, deque[Job]] = {}
        self._turns: deque[str] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, job: Job) -> None:
        """Queue a job behind those of the same client."""
        waiting = self._by_client.get(job.client)
        if waiting is None:
            waiting = self._by_client[job.client] = deque()
            self._turns.append(job.client)
        waiting.append(job)
        self._count += 1

    def put_back(self, job: Job) -> None:
        """Queue a job before all others."""
        self._returned.appendleft(job)
        self._count += 1

    def take(self, most: int, most_bytes: int) -> list[Job]:
        """The next jobs, at least one if there is any that is wanted; one that must be alone is."""
        taken: list[Job] = []
        size = 0
        while self._count and len(taken) < most and size < most_bytes:
            job = self._next()
            if job.unwanted:
                job.finish(_ABANDONED)
                continue
            if job.alone and taken:
                self.put_back(job)
                break
            taken.append(job)
            size += len(job.wire.body)
            if job.alone:
                break
        return taken

    def drop_stale(self, now: float) -> None:
        """Answer the jobs that nobody has begun and whose time is over, or for which nobody waits, and forget them."""
        waiting = (job for jobs in (self._returned, *self._by_client.values()) for job in jobs)
        for job in [job for job in waiting if job.unwanted or job.expires_at < now]:
            self._forget(job)
            job.finish(_ABANDONED if job.unwanted else EXPIRED)

    def _forget(self, job: Job) -> None:
        self._count -= 1
        if job in self._returned:
            self._returned.remove(job)
            return
        waiting = self._by_client[job.client]
        waiting.remove(job)
        if not waiting:
            del self._by_client[job.client]
            self._turns.remove(job.client)

    def _next(self) -> Job:
        self._count -= 1
        if self._returned:
            return self._returned.popleft()
        client = self._turns.popleft()
        waiting = self._by_client[client]
        job = waiting.popleft()
        if waiting:
            self._turns.append(client)
        else:
            del self._by_client[client]
        return job
