"""The inside of a worker: read a unit, score what it asks for, answer.

A reward that takes samples one by one is asked so, and each output goes into the journal. One that takes batches gets
the samples of all requests of a unit at once, unless it compares the samples of a batch or a group: then every request
stays by itself.
"""

import contextlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from plaudit.contract.boundary import score_each, score_plainly, score_samples
from plaudit.contract.contents import copies_of, warm_up
from plaudit.contract.function import RewardFunction, scores_one_by_one
from plaudit.contract.output import RewardOutput, Status
from plaudit.engine import reward_key
from plaudit.engine.backends.messages import encode_value, read_value
from plaudit.engine.backends.worker import MEBIBYTE, MemoryAllowance, settle_memory
from plaudit.engine.shipping import Shipment
from plaudit.errors import PlauditError
from plaudit.frames import frame_reader, write_all, write_frame
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.protocol import About, RequestRefused, Samples, Scored, are_bare, refusal_body
from plaudit.serving.workers.wire import Answer, Journal, WireJob, decode_outputs, encode_answers, read_unit
from plaudit.trajectory import Trajectory

logger = logging.getLogger("plaudit.serving")
HOLD_S = 0.002

__all__ = ["RewardService", "RewardSetup", "Service", "ServiceSetup", "serve"]


class Service(Protocol):
    """What a worker does with its units."""

    def describe(self) -> dict[str, Any]:
        """What the server needs to know of it."""

    def answer(self, jobs: list[WireJob], journal: Journal) -> Iterator[Answer]:
        """One answer per job, as far as the journal lets it go on."""


class ServiceSetup(Protocol):
    """What a worker is built from; it is pickled."""

    def open(self) -> Service:
        """The service, ready to answer."""


def serve(channel: int, journal: int) -> None:
    """Serve until the server closes its end."""
    setup: ServiceSetup = read_value(channel)
    try:
        service = setup.open()
    except Exception as error:  # noqa: BLE001 - whatever it is, a worker that only dies tells nobody why
        write_all(channel, encode_value(_why(error)))
        return
    settle_memory()
    _work_in_the_background()
    about = service.describe()
    write_all(channel, encode_value(about))
    us, folder = os.getpid(), os.open(".", os.O_RDONLY)
    kept = Journal(journal, repeatable=about["deterministic"])
    next_unit = frame_reader(channel)
    while (body := next_unit()) is not None:
        kept.begin()
        answers, due = list[Answer](), time.monotonic() + HOLD_S
        for answer in service.answer(read_unit(body), kept):
            if os.getpid() != us:
                os._exit(0)  # a child that the reward forked and forgot: only its parent answers
            answers.append(answer)
            if time.monotonic() > due:  # no answer waits long for others
                write_frame(channel, encode_answers(answers, last=False))
                answers, due = [], time.monotonic() + HOLD_S
        os.fchdir(folder)  # the reward may have gone elsewhere
        write_frame(channel, encode_answers(answers))


def _why(error: Exception) -> str:
    """What keeps a worker from its reward."""
    if isinstance(error, PlauditError | MemoryError):
        return str(error)  # as loading explains it
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return f"the reward cannot be loaded: {type(error).__name__}: {error}"


def _work_in_the_background() -> None:
    """Let the server go on when it gives us work, instead of taking its processor at once; ours, not our children's."""
    if hasattr(os, "SCHED_BATCH"):
        with contextlib.suppress(OSError):
            if os.sched_getscheduler(0) != os.SCHED_OTHER:
                return  # as the user chose
            os.sched_setscheduler(0, os.SCHED_BATCH | os.SCHED_RESET_ON_FORK, os.sched_param(0))


@dataclass(frozen=True, slots=True)
class RewardSetup:
    """A reward to be served, under a name."""

    name: str
    shipment: Shipment
    memory_mb: int | None
    most_samples: int
    on_unscored: str
    version: str

    def open(self) -> "RewardService":
        reward = self.shipment.open()
        warm_up(reward)
        return RewardService(reward, self)


class RewardService:
    """Scores the samples of requests with one reward."""

    def __init__(self, reward: RewardFunction, setup: RewardSetup) -> None:
        self._reward, self._most = reward, setup.most_samples
        self._about = About(setup.name, reward_key(reward), setup.version, setup.on_unscored)
        self._one_by_one = scores_one_by_one(reward)
        self._merges = not self._one_by_one and reward.scope == "sample"
        memory = None if setup.memory_mb is None else MemoryAllowance(setup.memory_mb * MEBIBYTE)
        self._score_each: Callable[[RewardFunction, Iterable[Trajectory]], Iterator[Scored]] = (
            score_each if memory is None else memory.score_each
        )
        self._is_counted = memory is not None
        self._score_many: Callable[[RewardFunction, Sequence[Trajectory]], list[RewardOutput]] = (
            score_samples if memory is None else memory.score_unit
        )

    def describe(self) -> dict[str, Any]:
        reward = self._reward
        return {
            "name": self._about.name,
            "reward": reward.name,
            "key": self._about.key,
            "version": self._about.version,
            "scope": reward.scope,
            "bounds": reward.bounds,
            "deterministic": reward.deterministic,
            "copies": copies_of(reward),
            "one_by_one": self._one_by_one,
            "merges": self._merges,
            "protocols": list(PROTOCOLS),
            "about": reward.__doc__ if type(reward.__doc__) is str else "",
        }

    def answer(self, jobs: list[WireJob], journal: Journal) -> Iterator[Answer]:
        if self._merges and not any(job.singly or job.known or job.rest for job in jobs):
            yield from self._answer_together(jobs, journal)
            return
        for job in jobs:  # one after the other, so that memory that was just used is used again
            if not journal.next_job():
                return
            yield self._answer_alone(job, journal)

    def _read(self, job: WireJob) -> Samples | Answer:
        try:
            samples = PROTOCOLS[job.protocol].read(job.body, packed=job.packed)
            if len(samples.trajectories) > self._most:
                raise RequestRefused(
                    413, f"{len(samples.trajectories)} samples in one request; at most {self._most} are taken"
                )
        except RequestRefused as refused:
            return Answer(refused.status, refusal_body(str(refused)))
        except Exception as error:  # noqa: BLE001 - ours, and a worker that ends here is lost to the next one too
            return _admit("read", error)
        return samples

    def _answer_together(self, jobs: list[WireJob], journal: Journal) -> list[Answer]:
        read = [self._read(job) for job in jobs]
        together = [each for samples in read if isinstance(samples, Samples) for each in samples.valid()]
        journal.expect(max(1, len(together)))
        scored = self._score_many(self._reward, together)
        if len(jobs) > 1 and _failed_as_one(scored):
            return self._answer_apart(jobs, read, journal)
        outputs = iter(scored)
        return [
            samples
            if isinstance(samples, Answer)
            else self._write(job, samples, [next(outputs) for _ in samples.valid()])
            for job, samples in zip(jobs, read, strict=True)
        ]

    def _answer_apart(self, jobs: list[WireJob], read: list[Samples | Answer], journal: Journal) -> list[Answer]:
        """Answer each by itself, where the call for all failed as a whole: another request may be the cause."""
        answers: list[Answer] = []
        for job, samples in zip(jobs, read, strict=True):
            if isinstance(samples, Samples):
                valid = samples.valid()
                journal.expect(max(1, len(valid)))
                answers.append(self._write(job, samples, [*self._score_many(self._reward, valid)]))
            else:
                answers.append(samples)
        return answers

    def _answer_alone(self, job: WireJob, journal: Journal) -> Answer:
        samples = self._read(job)
        if isinstance(samples, Answer):
            return samples
        valid = samples.valid()
        if not job.known and not job.rest:
            return self._write(job, samples, self._score_rest(job, valid, 0, journal))
        known = journal.follow(_known_outputs(job, len(valid)))
        return self._write(job, samples, known + self._score_rest(job, valid[len(known) :], len(known), journal))

    def _score_rest(self, job: WireJob, left: Sequence[Trajectory], first: int, journal: Journal) -> list[Scored]:
        if self._one_by_one and not job.verdicts:
            if not journal.quick or self._is_counted or not PROTOCOLS[job.protocol].plain:
                return journal.follow(self._score_each(self._reward, left))
            return self._score_quickly(left, journal)
        if self._one_by_one or job.singly:
            return journal.follow(self._score_with_verdicts(job, left, first))
        if not left:
            return []
        journal.expect(len(left))
        return [*self._score_many(self._reward, left)]

    def _score_quickly(self, left: Sequence[Trajectory], journal: Journal) -> list[Scored]:
        """As long as it is quick; what takes longer than it did is noted sample by sample."""
        outputs = score_plainly(self._reward, left, journal.done, journal.write_at)
        journal.add(outputs)
        while (begun := len(outputs)) < len(left):
            if not journal.quick:
                return outputs + journal.follow(self._score_each(self._reward, left[begun:]))
            outputs += score_plainly(self._reward, left[begun:], journal.done, journal.write_at)
            journal.add(outputs[begun:])
        return outputs

    def _score_with_verdicts(self, job: WireJob, trajectories: Sequence[Trajectory], first: int) -> Iterator[Scored]:
        """Sample by sample; one that cost a worker gets what was said of it."""
        for place, trajectory in enumerate(trajectories, first):
            verdict = job.verdicts.get(place)
            yield self._score(trajectory) if verdict is None else decode_outputs(verdict)[0]

    def _score(self, trajectory: Trajectory) -> Scored:
        if self._one_by_one:
            return next(self._score_each(self._reward, (trajectory,)))
        return self._score_many(self._reward, [trajectory])[0]

    def _write(self, job: WireJob, samples: Samples, outputs: list[Scored]) -> Answer:
        every = samples.merge(outputs)
        counts, packed = _count(every), job.packed
        write = partial(PROTOCOLS[job.protocol].write, samples, every, self._about)
        try:
            try:
                body = write(packed=packed)
            except (UnicodeEncodeError, OverflowError):  # half a character, a number over 64 bits: JSON can hold them
                packed = False
                body = write(packed=packed)
        except RequestRefused as refused:
            return Answer(refused.status, refusal_body(str(refused)), counts)
        except Exception as error:  # noqa: BLE001 - see `_read`
            return _admit("answered", error)
        return Answer(200, body, counts, packed)


def _admit(what: str, error: Exception) -> Answer:
    """An answer that says that the fault is the server's; the log says more, without the sample."""
    logger.error("a request could not be %s: %s", what, type(error).__name__)
    return Answer(500, refusal_body(f"the request could not be {what}: a fault of the server ({type(error).__name__})"))


def _known_outputs(job: WireJob, samples: int) -> list[Scored]:
    """What is known of a job's samples before they are scored; a worker that had scored all of them was at none."""
    known = decode_outputs(job.known) if job.known else []
    if job.rest:
        known += decode_outputs(job.rest) * (samples - len(known))
    return known[:samples]


def _failed_as_one(outputs: Sequence[RewardOutput]) -> bool:
    """Whether all of them failed for the same reason, as where one call for all gave too few values."""
    return bool(outputs) and {(output.status, output.reason) for output in outputs} == {
        (Status.ERROR, outputs[0].reason)
    }


def _count(outputs: Sequence[Scored]) -> dict[str, int]:
    """The samples by status."""
    if are_bare(outputs):
        return {"ok": len(outputs)}
    failed = [output.status.value for output in outputs if not isinstance(output, float) and output.status is not _OK]
    counts = dict(Counter(failed)) if failed else {}
    if len(outputs) > len(failed):
        counts["ok"] = len(outputs) - len(failed)
    return counts


_OK = Status.OK
