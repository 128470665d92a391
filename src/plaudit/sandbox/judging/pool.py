"""Judge many programs at once: a judge's servers per core, started when first needed.

Identical jobs are judged once. A judge that dies is replaced and its job tried again; only when that fails too is it an
error, never a verdict. Safe from many threads, and after a fork: the child starts new judges.
"""

import atexit
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from plaudit.errors import InvalidTrajectory, SandboxError
from plaudit.sandbox.child.protocol import FLAVOURS
from plaudit.sandbox.cores import cores
from plaudit.sandbox.idle_pool import IdlePool
from plaudit.sandbox.judging.client import JudgeClient, JudgeLost
from plaudit.sandbox.judging.job import Job
from plaudit.sandbox.judging.plan.test_plan import plan_suite
from plaudit.sandbox.judging.styles.other_languages import judge_program
from plaudit.sandbox.judging.verdict import RunStatus, Verdict
from plaudit.sandbox.languages.language import PYTHON
from plaudit.sandbox.languages.running import CommandPool

TRIES = 3
KINDS = 3
"""So many judges wait per worker: tests that import other packages need judges of their own, which start slowly."""


class JudgePool(IdlePool[tuple[str, ...], JudgeClient]):
    """Judges for one flavour of programs, by the modules that their tests import."""

    def __init__(self, flavour: str = "plain", workers: int | None = None, *, allow_unsafe: bool = False) -> None:
        self.flavour, self.workers, self.allow_unsafe = flavour, workers or cores(), allow_unsafe
        self._commands = CommandPool()  # of programs in other languages
        one_core = self.workers >= cores()  # else there is a core to spare for what can be done at the same time
        super().__init__(
            KINDS * self.workers,
            lambda modules: JudgeClient(flavour, modules, allow_unsafe=allow_unsafe, one_core=one_core),
        )

    def judge(self, job: Job, packed: bytes | None = None) -> Verdict:
        """The verdict on one job; `packed` is the job as it travels, where that is known."""
        if job.language != PYTHON:
            return judge_program(job, self._commands, self.judge)
        packed = packed or msgspec.msgpack.encode(job)
        try:
            plans = [plan_suite(suite) for suite in job.suites]
        except InvalidTrajectory as error:
            return Verdict(refusal=str(error))
        present = FLAVOURS.get(self.flavour, ())
        packed_plans = msgspec.msgpack.encode([plan.to_bytes() for plan in plans])
        packages = tuple(sorted({name for plan in plans for name in plan.packages if name not in present}))
        is_stateless = all(plan.is_stateless for plan in plans)
        losses: list[JudgeLost] = []
        while len(losses) < TRIES:
            judge = self.acquire(packages)
            try:
                verdict = judge.judge(job, packed, packed_plans, keep=is_stateless)
            except JudgeLost as error:
                losses.append(error)
                self.give_back(packages, judge, usable=judge.alive)
                continue
            except BaseException:
                judge.close()
                raise
            self.give_back(packages, judge, usable=judge.alive)
            return verdict
        why = losses[-1]
        if all(loss.answered for loss in losses):  # what only happens once a program has answered is its doing
            return Verdict(conclusion=RunStatus.CRASH, reason=f"its values broke the tests: {why}"[:500], calls=1)
        raise SandboxError(f"the judge was lost {TRIES} times over this program: {why}") from why

    def judge_all(self, jobs: Sequence[Job]) -> list[Verdict | SandboxError]:
        """The verdicts on many jobs, in order, or the error of each; identical jobs are judged once."""
        packed = [msgspec.msgpack.encode(job) for job in jobs]
        unique = dict(zip(packed, jobs, strict=True))
        count = min(self.workers, len(unique))
        if count <= 1:
            verdicts = list(map(self._judge_or_error, unique.values(), unique))
        else:
            with ThreadPoolExecutor(count, "plaudit-judge") as threads:
                verdicts = list(threads.map(self._judge_or_error, unique.values(), unique))
        by_job = dict(zip(unique, verdicts, strict=True))
        return [by_job[each] for each in packed]

    def _judge_or_error(self, job: Job, packed: bytes) -> Verdict | SandboxError:
        try:
            return self.judge(job, packed)
        except SandboxError as error:
            return error

    def close(self) -> None:
        """End every judge that is not at work."""
        super().close()
        self._commands.close()


_shared: dict[tuple[str, bool], JudgePool] = {}
_shared_lock = threading.Lock()


def shared_pool(flavour: str = "plain", *, allow_unsafe: bool = False) -> JudgePool:
    """The pool of this process for a flavour; it ends with the process."""
    with _shared_lock:
        if (flavour, allow_unsafe) not in _shared:
            _shared[flavour, allow_unsafe] = pool = JudgePool(flavour, allow_unsafe=allow_unsafe)
            atexit.register(pool.close)
        return _shared[flavour, allow_unsafe]
