"""A pool of workers for one reward: gives queued jobs to free workers, and takes care of those that hang or die.

A worker is given a few requests at once while all goes well, and one at a time for a while after something went wrong,
so that a request does not wait behind one that hangs. A worker that takes far longer than usual is set aside, and
another one stands in for it until it answers or is killed. Loading a reward may take longer than a request can wait:
when requests had to wait for it, one more worker stands by from then on, loaded and idle; when all has gone well for a
while, those are let go.
"""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.losses import NOT_ITS_FAULT, after_deadline, after_death, describe_death
from plaudit.engine.backends.messages import OUTGROWN, encode_answer, encode_value
from plaudit.errors import InvalidSettings, ScoringFailed
from plaudit.serving.protocols.protocol import refusal_body
from plaudit.serving.workers.processes import TemplateProcess, WorkerProcess
from plaudit.serving.workers.queueing import EXPIRED, FairQueue, Job
from plaudit.serving.workers.wire import UNBEGUN, Answer
from plaudit.serving.workers.worker import ServiceSetup

__all__ = ["PoolSettings", "WorkerPool"]

logger = logging.getLogger("plaudit.serving")
logger.addHandler(logging.NullHandler())

PACKED, PACKED_BYTES = 8, 1 << 20  # requests and bytes that a worker is given at once
MERGED = 64
LEAST_S, STEP = 0.0001, 1.1  # of the usual time: its least, and how far one job moves it
QUICK_S, SLOW_S = 0.0005, 0.005  # requests that take less are not shared out; those that take more go one by one
CAUTIOUS_S = 10.0  # after a loss, one request at a time for so long
WARY_S = 1.0  # after a worker was set aside, requests are shared out for so long
UNUSUAL, UNUSUAL_S = 8.0, 0.02  # a worker is set aside after so many times the usual time, and at least so long
LOOK_S, REST_S = 0.01, 0.1  # how often workers are looked after, while some are at work and while none is
STAND_BY_S = 30.0  # after trouble, workers that stand by stay loaded for so long
MAX_FALSE_STARTS = 3
MAX_KILLS = 2  # workers that may be killed from outside at one request before it is held to be the cause
RETRY_S = 1.0
UNLOADABLE = "the reward cannot be loaded any more; the log of the server says why"
DRAIN_S = 0.01


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many workers, how long a sample may take, and how many workers may stand in for those that take long."""

    workers: int
    deadline_s: float | None
    stand_ins: int


class WorkerPool:
    """Workers and the jobs that wait for them."""

    def __init__(
        self, setup: ServiceSetup, settings: PoolSettings, on_loss: Callable[[str], None], on_change: Callable[[], None]
    ) -> None:
        self._setup, self._settings, self._on_loss = encode_value(setup), settings, on_loss
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self.queue = FairQueue()
        self._template = TemplateProcess(self._handle_end)
        self._workers: list[WorkerProcess] = []
        self._idle: list[WorkerProcess] = []
        self._aside: set[WorkerProcess] = set()
        self._unreleased: set[WorkerProcess] = set()
        self._first: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        self._false_starts, self._last_loss, self._usual_s = 0, -math.inf, 0.0
        self._last_trouble, self._stand_by = -math.inf, 0
        self._closed = self._soon = False
        self.failure = ""
        self.description: dict[str, Any] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def start(self) -> dict[str, Any]:
        """Start all workers; what the first of them says of the reward. Raises where it cannot be loaded."""
        self._begin_worker()
        try:
            self.description = await self._first
        except BaseException:
            await self.close()
            raise
        if (copies := self.description.get("copies")) is not None:
            self._settings = replace(self._settings, workers=min(copies, self._settings.workers), stand_ins=0)
        self._fill_up()
        self._look_after()
        return self.description

    @property
    def busy(self) -> int:
        """How many workers are at work."""
        return sum(worker.working for worker in self._workers)

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    @property
    def ready(self) -> bool:
        """Whether a request would be answered."""
        return not self._closed and not self.failure

    def submit(self, job: Job) -> None:
        """Queue a job, and give it to a worker if one is free."""
        if self.failure:
            job.finish(Answer(503, refusal_body(self.failure)))
            return
        self.queue.add(job)
        if self._idle and not self._soon:
            self._soon = True
            self._loop.call_soon(self._dispatch_soon)

    def _dispatch_soon(self) -> None:
        self._soon = False
        self._dispatch()

    async def drain(self) -> None:
        """Return when nothing waits and nobody works."""
        while self.queue or self.busy:
            await asyncio.sleep(DRAIN_S)

    def take_queue(self) -> list[Job]:
        """The jobs that nobody has begun, for another pool."""
        return self.queue.take(len(self.queue), 1 << 62)

    async def close(self) -> None:
        """End every worker; jobs under way are told that the server stops."""
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        stopped = Answer(503, refusal_body("the server is stopping"))
        for job in self.take_queue():
            job.finish(stopped)
        gone = self._template.close()
        for worker in self._workers:
            for job in worker.jobs:
                job.finish(stopped)
            worker.jobs = []
        for worker in self._unreleased:
            worker.release()
        self._workers, self._idle = [], []
        if not self._first.done():
            self._first.cancel()
        await gone

    def _begin_worker(self) -> None:
        if self._template.lost:
            self._template.close()
            self._template = TemplateProcess(self._handle_end)
        worker = WorkerProcess(self._template, self._setup, self._handle_ready, self._handle_answers)
        self._workers.append(worker)
        self._unreleased.add(worker)

    def _handle_ready(self, worker: WorkerProcess) -> None:
        if isinstance(worker.greeting, str):
            self._refuse(worker, worker.greeting)
        elif self.description and worker.greeting["key"] != self.description["key"]:
            self._refuse(worker, "the reward has changed since the server loaded it")
            self._on_change()
        else:
            self._false_starts, self.failure = 0, ""
            if not self._first.done():
                self._first.set_result(worker.greeting)
            self._idle.append(worker)
            self._dispatch()

    def _refuse(self, worker: WorkerProcess, why: str) -> None:
        """A worker that cannot be used: at first that is an error, later others go on, and it is tried again."""
        self._retire(worker)
        if not self._first.done():
            self._first.set_exception(InvalidSettings(why))
            return
        self._try_later(why)

    def _try_later(self, why: str) -> None:
        """Why is for the log: it may name files, which are nothing to clients."""
        logger.error("a worker could not be replaced: %s", why)
        if not self._workers:
            self.failure = UNLOADABLE
            for job in self.take_queue():
                job.finish(Answer(503, refusal_body(self.failure)))
        self._loop.call_later(RETRY_S, self._fill_up)

    def _fill_up(self) -> None:
        while not self._closed and len(self._workers) < self._wanted():
            self._begin_worker()

    def _wanted(self) -> int:
        """How many workers there should be, with those that stand in for others and the one that stands by."""
        return self._settings.workers + min(len(self._aside), self._settings.stand_ins) + self._stand_by

    def _handle_answers(self, worker: WorkerProcess, answers: list[Answer], last: bool) -> None:
        if answers:
            self._learn((time.monotonic() - worker.since) / len(answers), len(answers))
        jobs = worker.take_answered(len(answers))
        if last:
            worker.jobs, worker.working = [], False
            self._aside.discard(worker)
            self._idle.append(worker)
        for job, answer in zip(jobs, answers, strict=True):
            job.finish(answer)
        if last and self.queue:
            self._dispatch()

    def _learn(self, seconds: float, jobs: int) -> None:
        """Take in how long each of some jobs took: the usual time follows the median, which a few do not move."""
        usual_s = self._usual_s or seconds
        self._usual_s = max(LEAST_S, usual_s * STEP ** (jobs if seconds > usual_s else -jobs))

    def _dispatch(self) -> None:
        while self._idle and self.queue and self._may_work_more():
            worker = self._idle.pop()
            if worker.gone:  # we shall be told how it ended
                continue
            jobs = self.queue.take(self._portion(), PACKED_BYTES)
            if not jobs:
                self._idle.append(worker)
                return
            worker.give(jobs)

    def _may_work_more(self) -> bool:
        """Whether fewer workers are at it than there should be; those that were set aside do not count."""
        if len(self._workers) <= self._settings.workers:
            return True
        return self.busy - min(len(self._aside), self._settings.stand_ins) < self._settings.workers

    def _portion(self) -> int:
        """How many requests the next worker is given; quick ones are not shared out, if others may take them over."""
        if self.description.get("merges"):
            return MERGED
        now = time.monotonic()
        if now - self._last_loss < CAUTIOUS_S or not 0 < self._usual_s < SLOW_S:
            return 1
        is_quick = self._usual_s < QUICK_S and self._may_move and now - self._last_trouble > WARY_S
        return max(1, min(PACKED, len(self.queue) // (1 if is_quick else self._settings.workers)))

    @property
    def _may_move(self) -> bool:
        """Whether what a worker was given may be given to another as well: each sample always scores the same."""
        return bool(self.description["one_by_one"] and self.description["deterministic"])

    def _look_after(self) -> None:
        """Kill what overran, set aside what takes unusually long, let go what is not needed any more."""
        if self._closed:
            return
        now = time.monotonic()
        self._adjust_stand_by(now)
        if self._idle and len(self._workers) > self._wanted():
            self._retire(self._idle.pop())
        for worker in list(self._workers):
            if worker.working and not worker.overran:
                self._look_at(worker, now)
        self.queue.drop_stale(now)
        self._timer = self._loop.call_later(LOOK_S if self.busy else REST_S, self._look_after)

    def _adjust_stand_by(self, now: float) -> None:
        """One more worker stands by where requests wait for others to load; none where all went well of late."""
        if now - self._last_trouble > STAND_BY_S:
            self._stand_by = 0
        elif self._stand_by < self._settings.stand_ins and self._waits_for_loading():
            self._stand_by += 1
            self._fill_up()

    def _waits_for_loading(self) -> bool:
        full = len(self._workers) >= self._wanted()
        return bool(full and self.queue and not self._idle and not all(worker.ready for worker in self._workers))

    def _look_at(self, worker: WorkerProcess, now: float) -> None:
        samples, since, place = worker.journal.progress(worker.units)
        at, deadline = place[0] - worker.answered, self._settings.deadline_s
        is_stuck = worker.seen_at == (worker.units, place)
        if not is_stuck:  # a change of place is progress, though a quick worker does not say when it was
            worker.seen_at, worker.seen_since = (worker.units, place), now
        at_hand = worker.jobs[at : at + 1] if at >= 0 else worker.jobs
        expired = bool(at_hand) and all(job.expires_at < now for job in at_hand)
        if expired or (deadline is not None and now - max(since, worker.seen_since) > deadline * samples):
            if worker.late_at == (worker.units, place):
                worker.overran = True
                worker.end()
            worker.late_at = worker.units, place  # it may only wait for us, where it was us who had no time: look again
            return
        for job in worker.jobs:
            if job.expires_at < now:
                job.finish(EXPIRED)
        if since == math.inf or worker in self._aside or not is_stuck:
            return  # where it has not begun, it waits for a processor: one more worker would make that worse
        if now - worker.since > max(UNUSUAL_S, UNUSUAL * self._usual_s * len(worker.jobs)):
            self._set_aside(worker, at, now)

    def _set_aside(self, worker: WorkerProcess, at: int, now: float) -> None:
        """Let another worker stand in for one that takes long; jobs that wait for it go to others, if they may."""
        self._aside.add(worker)
        self._last_trouble = now
        if at >= 0 and self._may_move:
            self._put_back(worker.take_others(at))
        self._fill_up()
        self._dispatch()

    def _put_back(self, jobs: list[Job]) -> None:
        for job in reversed(jobs):
            if not job.answered:
                self.queue.put_back(job)

    def _retire(self, worker: WorkerProcess) -> None:
        self._workers.remove(worker)
        worker.unwanted = True
        worker.end()

    def _handle_end(self, worker: WorkerProcess, code: int) -> None:
        """A worker is gone: replace it, and see to its jobs."""
        finished, (at, sample) = worker.journal.read(worker.units)
        if worker.overran:
            at, sample = worker.late_at[1]  # it may have gone on since
        worker.release()
        self._unreleased.discard(worker)
        if self._closed or worker not in self._workers:
            return  # retired
        self._workers.remove(worker)
        self._aside.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        jobs, worker.working = worker.jobs, False
        self._note_loss(worker, code)
        for job, known in zip(jobs, finished[worker.answered :], strict=False):
            if job not in worker.moved:
                job.wire.known = known
        unbegun = (at, sample) == UNBEGUN and all(job.may_begin_again() for job in jobs)
        if unbegun or 0 <= at < worker.answered:  # it was at none of these
            self._put_back([job for job in jobs if job not in worker.moved])
        else:
            self._requeue(worker, (at - worker.answered, sample), code)
        if not worker.ready and self._count_false_start(code):
            return
        self._fill_up()
        self._dispatch()

    def _count_false_start(self, code: int) -> bool:
        """Whether workers die again and again before they are ready."""
        self._false_starts += 1
        if self._false_starts < MAX_FALSE_STARTS:
            return False
        why = f"workers die while they start ({describe_death(code)}); does importing the reward crash?"
        if self._first.done():
            self._try_later(why)
        else:
            self._first.set_exception(ScoringFailed(why))
        return True

    def _note_loss(self, worker: WorkerProcess, code: int) -> None:
        how = "deadline" if worker.overran else "grown memory" if code == OUTGROWN else describe_death(code)
        self._last_loss = self._last_trouble = time.monotonic()
        logger.warning("worker lost: %s", how, extra={"how": how, "pid": worker.pid})
        self._on_loss(how)

    def _requeue(self, worker: WorkerProcess, position: tuple[int, int], code: int) -> None:
        """Put back what a lost worker had: what is done stays done, and the sample it was at gets what befell it."""
        now, (at_job, at_sample), jobs, overran = time.monotonic(), position, worker.jobs, worker.overran
        verdict = encode_answer(after_deadline(self._settings.deadline_s) if overran else after_death(code))
        killed = not overran and -code in NOT_ITS_FAULT
        for place in reversed(range(len(jobs))):
            job = jobs[place]
            if job.answered or job in worker.moved:
                continue
            if job.expires_at < now:
                job.wire.rest, job.expires_at = encode_answer(_OUT_OF_TIME), math.inf
            elif code != OUTGROWN and (place == at_job or at_job < 0):
                job.alone = True  # where they were scored together, one of them is at fault
                if place == at_job or len(jobs) == 1:
                    if place == at_job and at_sample in job.wire.verdicts and not (killed and job.tries < MAX_KILLS):
                        job.finish(Answer(500, refusal_body("workers are lost at this request, not at a sample of it")))
                        continue
                    self._blame(job, at_sample if place == at_job else None, verdict, killed=killed)
            self.queue.put_back(job)

    def _blame(self, job: Job, sample: int | None, verdict: bytes, *, killed: bool) -> None:
        """What a job is told of the loss of its worker: another try, sample by sample, or that was it."""
        if killed and job.tries < MAX_KILLS:
            job.tries += 1
        elif sample is not None and (self.description["one_by_one"] or job.wire.singly):
            job.wire.verdicts = {**job.wire.verdicts, sample: verdict}
        elif self.description["merges"] and not job.wire.singly:
            job.wire.singly = True
        else:
            job.wire.rest = verdict


_OUT_OF_TIME = RewardOutput.unscored(Status.TIMEOUT, "no result within the time that the request allowed")
