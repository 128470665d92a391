"""Workers that score units: who has what, since when, and what happens when one is too slow or dies.

`turn` waits for the workers and handles what they have written. The server's event loop does the same itself: it calls
`read` when a worker has written something and `expire` when a deadline is due. Units that are done are in `finished`.
Finished calls of a lost worker are kept, the call under way gets the failure, and the unit goes to another worker.
"""

import logging
import pickle
import select
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.failures import timed_out
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import Call
from plaudit.errors import InvalidSettings, ScoringFailed
from plaudit.processes.child import ChildProcess, Template, describe_exit
from plaudit.processes.messages import ENDED, OUTPUT, RESULT, STARTED, decode_output, encode_output, unpack_outputs
from plaudit.processes.worker import EXIT_MEMORY, WAKE_S, Service

logger = logging.getLogger("plaudit.engine")
logger.addHandler(logging.NullHandler())

QUEUED = 4  # units that a worker holds, so that it never waits for the parent
MAX_FALSE_STARTS = 3
MAX_TRIES = 3
READ_S = 1e-7  # that a worker may take for a byte of its unit, before the clock of a call starts
GRACE_S = 0.3  # for a worker to cancel an async call that is overdue, before it is killed
BETWEEN_S, BETWEEN_EACH_S = 1.0, 1e-3  # beyond a deadline, to read a unit or to merge outputs: in all, and a sample
RETRIED = {-9, -15, -1, -2, EXIT_MEMORY}  # SIGKILL, SIGTERM, SIGHUP, SIGINT: the call is tried once more


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one sample."""

    deadline_s: float | None = None
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        if self.deadline_s is not None and self.deadline_s <= 0:
            raise InvalidSettings(f"deadline_s must be positive, got {self.deadline_s}")
        if self.memory_mb is not None and self.memory_mb < 1:
            raise InvalidSettings(f"memory_mb must be positive, got {self.memory_mb}")


NO_LIMITS = Limits()


def template_of(service: Service, limits: Limits = NO_LIMITS) -> Template:
    """A template for the workers of a service."""
    settings = {
        "service": pickle.dumps(service), "memory_mb": limits.memory_mb, "deadline_s": limits.deadline_s,
        "search_path": list(sys.path),
    }  # fmt: skip
    return Template(pickle.dumps(settings))


@dataclass(eq=False, slots=True)
class PoolUnit:
    """Work for one worker at a time; `body` is what the service reads, `count` the samples in it."""

    body: bytes
    count: int
    owner: Any = None
    first: int = 0
    """The index of its first sample, for the log."""
    is_composed: bool = False
    """Whether the worker makes a result of the outputs; without that, a unit is done when all outputs are known."""
    outputs: dict[int, bytes] = field(default_factory=dict)
    """The messages with the outputs of samples that were scored in order."""
    known: dict[tuple[tuple[int, ...], int], list[RewardOutput]] = field(default_factory=dict)
    """The outputs of other calls that have ended."""
    one_at_a_time: bool = False
    tries: int = 0
    created: float = field(default_factory=time.monotonic)
    began: float = 0.0
    result: bytes | None = None
    failure: RewardOutput | None = None
    """The failure of the unit as a whole, if it could not be scored."""

    def message(self) -> bytes:
        """The message that sends the unit to a worker."""
        in_order = {((), index): [decode_output(message)] for index, message in self.outputs.items()}
        task = {
            "body": self.body, "known": self.known | in_order, "one_at_a_time": self.one_at_a_time,
            "failure": self.failure,
        }  # fmt: skip
        return pickle.dumps(task, pickle.HIGHEST_PROTOCOL)


class Worker:
    """One worker process and the units it holds; the first is the one it is scoring."""

    def __init__(self, process: ChildProcess) -> None:
        self.process, self.pid = process, 0
        self.units: deque[PoolUnit] = deque()
        self.calls: dict[Call, float] = {}  # under way, with their start
        self.next_sample = 0  # of a unit that is scored in order
        self.since = time.monotonic()
        self.is_ready = False
        self.in_order = True
        self.description: dict[str, Any] = {}

    def give(self, unit: PoolUnit) -> None:
        """Send a unit; its clock starts when the unit before it is done."""
        self.units.append(unit)
        if len(self.units) == 1:
            self._begin(unit)
        self.process.send(unit.message())

    @property
    def is_sending(self) -> bool:
        """Whether the unit that it is to score is still on its way."""
        return len(self.process.unsent) >= len(self.units) > 0

    def flush(self) -> None:
        """Continue with sending; the clock of the first unit starts when all of it is sent."""
        was_sending = self.is_sending
        self.process.flush()
        if was_sending and not self.is_sending:
            self._start_clock()

    def take(self, messages: list[bytes]) -> list[PoolUnit]:
        """Note what messages say; the units that are done."""
        done, kind = list[PoolUnit](), RESULT
        for message in messages:
            unit, kind = self.units[0], message[:1]
            if kind == OUTPUT:
                unit.outputs[self.next_sample] = message
                unit.tries = 0  # tries count for the call that was under way
                self._skip_known(unit)
            elif kind == RESULT:
                unit.result = message[1:]
                self._end(unit)
                done.append(unit)
            else:
                self._note_call(unit, kind, message)
        if kind != RESULT and self.process.was_woken:  # else the calls ended at most WAKE_S after it was woken last
            self._start_clock()
        return done

    def _note_call(self, unit: PoolUnit, kind: bytes, message: bytes) -> None:
        plain = pickle.loads(memoryview(message)[1:])
        if kind == STARTED and self.in_order:
            unit.count = Call(*plain).size  # the service has read how many samples the unit holds
        elif kind == STARTED:
            self.calls[Call(*plain)] = time.monotonic()
        elif kind == ENDED:
            path, first, packed = plain
            unit.known[path, first] = unpack_outputs(packed)
            self.calls = {call: at for call, at in self.calls.items() if (call.path, call.first) != (path, first)}
            unit.tries = 0

    def expires(self, deadline_s: float | None) -> float:
        """The time at which the running call is overdue."""
        if deadline_s is None or not self.units or not self.is_ready or self.is_sending:
            return float("inf")
        if self.in_order:
            return self.since + deadline_s + WAKE_S
        ends = [at + deadline_s * call.size + GRACE_S * call.is_async for call, at in self.calls.items()]
        return min(ends, default=self.since + deadline_s + BETWEEN_S + BETWEEN_EACH_S * self.units[0].count)

    def suspects(self, deadline_s: float | None) -> list[Call]:
        """The calls that the worker may have been lost in: all under way, or of these the ones beyond a deadline."""
        now = time.monotonic()
        return [call for call, at in self.calls.items() if deadline_s is None or now - at >= deadline_s * call.size]

    def greet(self, greeting: dict[str, Any]) -> None:
        """The worker has opened its service."""
        self.is_ready, self.in_order, self.pid = True, greeting["in_order"], greeting["pid"]
        self.description = greeting["description"]
        if self.units:
            self._begin(self.units[0])

    def _start_clock(self) -> None:
        """The clock of a call starts when the worker has had time to read its samples, which are in the unit."""
        self.since = time.monotonic() + len(self.units[0].body) * READ_S

    def _begin(self, unit: PoolUnit) -> None:
        unit.began = time.monotonic()
        self._start_clock()
        self.calls.clear()
        self.next_sample = -1
        self._skip_known(unit)

    def _end(self, unit: PoolUnit) -> None:
        self.units.popleft()
        if self.units:
            self._begin(self.units[0])

    def _skip_known(self, unit: PoolUnit) -> None:
        self.next_sample += 1
        while self.next_sample in unit.outputs:
            self.next_sample += 1


class Pool:
    """`count` workers of one service. `watch` and `unwatch` are called with each worker that starts and ends."""

    def __init__(
        self,
        service: Service,
        count: int,
        limits: Limits = NO_LIMITS,
        *,
        watch: Callable[[Worker], None] = lambda worker: None,
        unwatch: Callable[[Worker], None] = lambda worker: None,
        lost: Callable[[str], None] = lambda how: None,
    ) -> None:
        self.count, self.limits = count, limits
        self._template = template_of(service, limits)
        self._watch, self._unwatch, self._lost = watch, unwatch, lost
        self.workers: list[Worker] = []
        self.queue: deque[PoolUnit] = deque()
        self.finished: deque[PoolUnit] = deque()
        self._false_starts = 0

    @property
    def load(self) -> int:
        """The number of units that are waiting or being scored."""
        return len(self.queue) + sum(len(worker.units) for worker in self.workers)

    def submit(self, unit: PoolUnit) -> None:
        """Queue a unit, and hand it to a worker at once if one has room."""
        self.queue.append(unit)
        self.give()

    def give(self) -> None:
        """Hand each queued unit to the worker that has the fewest, while one has room."""
        while self.queue and len(self.workers) < self.count:
            self.start_worker()
        while self.queue and len((worker := min(self.workers, key=lambda each: len(each.units))).units) < QUEUED:
            worker.give(self.queue.popleft())

    def turn(self, timeout_s: float) -> None:
        """Hand out queued units, wait until a worker has written something, at most so long, and take it."""
        self.give()
        events = select.poll()
        for worker in self.workers:
            worker.flush()
            events.register(worker.process.reading, select.POLLIN)
            if worker.process.unsent:
                events.register(worker.process.writing, select.POLLOUT)
        wait_s = min(timeout_s, self.next_expiry() - time.monotonic()) if self.load else 0.0
        ready = dict(events.poll(1e3 * max(0.0, wait_s)))
        for worker in [worker for worker in self.workers if worker.process.reading in ready]:
            if worker in self.workers:
                self.read(worker)
        self.expire()

    def read(self, worker: Worker) -> None:
        """Take what a worker has written; deal with its end."""
        messages = worker.process.receive()
        if messages and not worker.is_ready:
            self._greet(worker, pickle.loads(messages.pop(0)))
        if done := worker.take(messages):
            self._false_starts = 0
            self.finished.extend(done)
        if worker.process.has_ended:
            self._after_death(worker)

    def expire(self) -> None:
        """Kill the workers whose call is overdue."""
        for worker in list(self.workers):
            if self._is_overdue(worker):
                self.read(worker)  # what it wrote before
                if worker in self.workers and self._is_overdue(worker):
                    output = timed_out(self.limits.deadline_s or 0.0, "the worker was killed")
                    self._replace(worker, "deadline", output)

    def next_expiry(self) -> float:
        """The time at which `expire` must be called, on the clock `time.monotonic`."""
        return min((worker.expires(self.limits.deadline_s) for worker in self.workers), default=float("inf"))

    def discard(self, is_unwanted: Callable[[PoolUnit], bool]) -> None:
        """Forget units, also those being scored."""
        self.queue = deque(unit for unit in self.queue if not is_unwanted(unit))
        for worker in list(self.workers):
            if any(map(is_unwanted, worker.units)):
                self.remove(worker)
                self.queue.extendleft(unit for unit in reversed(worker.units) if not is_unwanted(unit))

    def close(self) -> None:
        """Kill every worker."""
        for worker in list(self.workers):
            self.remove(worker)
        self._template.close()

    def start_worker(self) -> Worker:
        """Start one more worker."""
        worker = Worker(self._template.start_worker())
        self.workers.append(worker)
        self._watch(worker)
        return worker

    def remove(self, worker: Worker) -> None:
        """Kill a worker and forget it."""
        self.workers.remove(worker)
        self._unwatch(worker)
        worker.process.kill()

    def _greet(self, worker: Worker, greeting: dict[str, Any]) -> None:
        if "refusal" in greeting:
            raise InvalidSettings(f"a worker could not load the reward: {greeting['refusal']}")
        worker.greet(greeting)

    def _is_overdue(self, worker: Worker) -> bool:
        return time.monotonic() >= worker.expires(self.limits.deadline_s)

    def _after_death(self, worker: Worker) -> None:
        code = worker.process.exit_code()
        if not worker.is_ready:
            self._false_starts += 1
            if self._false_starts >= MAX_FALSE_STARTS:
                self.remove(worker)
                raise ScoringFailed(
                    f"workers die while they start ({describe_exit(code)}); does importing the reward crash?"
                )
        first_try = bool(worker.units) and worker.units[0].tries == 0 and not worker.units[0].one_at_a_time
        if not worker.is_ready or (first_try and code in RETRIED):
            how = "out of memory" if code == EXIT_MEMORY else "killed by another process"
            self._replace(worker, how, None)
            return
        status = Status.MEMORY if code in (-9, EXIT_MEMORY) else Status.ERROR
        output = RewardOutput.unscored(status, f"the worker died: {describe_exit(code)}")
        self._replace(worker, describe_exit(code), output)

    def _replace(self, worker: Worker, how: str, output: RewardOutput | None) -> None:
        """Replace a worker. The call under way gets the output; without one it is tried again."""
        sample = worker.units[0].first + worker.next_sample if worker.units else None
        logger.warning("worker lost: %s", how, extra={"how": how, "sample": sample, "pid": worker.pid})
        self._lost(how)
        self.remove(worker)
        for unit in reversed(list(worker.units)[1:]):
            self.queue.appendleft(unit)
        if worker.units:
            self._retry(worker, worker.units[0], output)
        self.give()

    def _retry(self, worker: Worker, unit: PoolUnit, output: RewardOutput | None) -> None:
        """Queue the unit that a lost worker was scoring, with the call under way marked as failed.

        A call that is made again is made by a new worker, on which earlier calls have left nothing. No call is made
        more than twice: calls that were under way together are made again one by one.
        """
        if output is None:
            unit.tries += 1
            unit.one_at_a_time = len(worker.calls) > 1
            self.start_worker().give(unit)
            return
        if worker.in_order and worker.next_sample < unit.count:
            unit.outputs[worker.next_sample], unit.tries = encode_output(output), 0
            if not unit.is_composed and len(unit.outputs) == unit.count:
                unit.result = b""
                self.finished.append(unit)
                return
        elif not self._blame(worker, unit, output):
            unit.tries += 1
            if unit.tries >= MAX_TRIES:
                has_failed, unit.failure = unit.failure is not None, output
                if has_failed or not unit.is_composed:  # else a worker makes the result, without any call
                    self.finished.append(unit)
                    return
                unit.tries = 0
        self.queue.appendleft(unit)

    def _blame(self, worker: Worker, unit: PoolUnit, output: RewardOutput) -> bool:
        """Mark the call during which the worker died; False if that call is unknown."""
        calls = worker.suspects(self.limits.deadline_s if output.status is Status.TIMEOUT else None)
        if len(calls) == 1:
            unit.known[calls[0].path, calls[0].first] = [output] * calls[0].size
        elif not unit.one_at_a_time:
            unit.one_at_a_time = True  # several calls were under way, or none: the next worker makes one at a time
        else:
            return False
        return True
