"""Calls to one endpoint: a limit on concurrency, a rate limit, a circuit breaker, and retries.

Breaker and rate limit are shared by the whole process; the limit on concurrency is kept per event loop, since a
semaphore belongs to one. Packages for breakers and rate limits are bound to one event loop, and their breakers do not
let callers wait for the prober, so both are implemented here. The waits between retries are computed by tenacity.
"""

import asyncio
import enum
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from plaudit.contract.output import Status
from plaudit.endpoint.transient import fault_of, is_transient, status_of
from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, Positive, check_fields

POLL_S = 0.05
"""The interval at which waiting callers check whether the prober has returned; it may run in another event loop."""

T = TypeVar("T")
Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """Limits, retries and the circuit breaker of one endpoint.

    The numbers hold for one process: a reward on four worker processes calls its endpoint four times as often.
    """

    concurrency: Count = 32
    """The number of calls that may run at the same time."""
    per_second: Positive | None = None
    """The number of calls that may start per second, evenly spaced; None sets no limit."""
    tries: Count = 4
    """The number of requests for a sample before it fails."""
    first_wait_s: NonNegative = 0.5
    """Upper bound of the first backoff; doubles per retry, with jitter."""
    longest_wait_s: NonNegative = 30.0
    """Upper bound of every wait between two tries, even if Retry-After is longer."""
    attempt_s: Positive = 60.0
    """Timeout of one try."""
    breaker_after: Count = 10
    """After this many failures in a row, over all samples, the breaker opens and nothing is sent."""
    breaker_rest_s: NonNegative = 30.0
    """The seconds that the breaker stays open before one sample is sent as a probe."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.first_wait_s > self.longest_wait_s:
            raise InvalidSettings(
                f"need first_wait_s <= longest_wait_s, got {self.first_wait_s:g} and {self.longest_wait_s:g}"
            )


@dataclass(frozen=True, slots=True)
class CallResult(Generic[T]):
    """The result of a call, how often it was sent and how long it waited."""

    value: T
    attempts: int
    waited_s: float


class CallFailed(Exception):
    """A call failed after its last try: `status` and the message give the reason."""

    def __init__(self, status: Status, message: str, attempts: int, waited_s: float) -> None:
        super().__init__(message)
        self.status, self.attempts, self.waited_s = status, attempts, waited_s


class Channel:
    """Calls to one endpoint within a policy. Unpickling makes a new channel, with a breaker and limits of its own."""

    def __init__(self, policy: EndpointPolicy, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self.policy, self._clock, self._sleep = policy, clock, sleep
        self._breaker = Breaker(policy.breaker_after, policy.breaker_rest_s, clock)
        self._rate_limit = RateLimit(policy.per_second, clock)
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def send(self, request: Callable[[], Awaitable[T]]) -> CallResult[T]:
        """The result of `request`, retried after transient errors; CallFailed if all attempts fail."""
        call = _Call(self._breaker, self.policy.tries, self._clock)
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
            retry_error_callback=partial(_give_up, call),
        )
        try:
            value: T = await retrying(self._attempt, request, call)
        except asyncio.CancelledError:
            if call.last_fault:  # the engine adds this to the reason why the sample timed out
                raise asyncio.CancelledError(f"the last failure of the endpoint was {call.last_fault}") from None
            raise
        return CallResult(value, call.attempts, call.waited_s())

    async def _attempt(self, request: Callable[[], Awaitable[T]], call: "_Call") -> T:
        async with self._slot():
            try:
                if not await self._wait_for_permission(call):
                    raise CallFailed(Status.ERROR, self._breaker.describe(), call.attempts, call.waited_s())
                with call:
                    return await self._answer(request)
            finally:
                self._breaker.release(call)

    async def _wait_for_permission(self, call: "_Call") -> bool:
        """Wait until the call may be sent; False when the endpoint is down."""
        while True:
            if not await self._ask_breaker(call):
                return False
            if wait_s := self._rate_limit.reserve():
                await self._sleep(wait_s)
            if self._breaker.ask(call) is Permission.SEND:  # it may have opened during the wait
                return True

    async def _ask_breaker(self, call: "_Call") -> bool:
        """Wait for the breaker, at most once for each call; False when the endpoint is down."""
        may_wait = not call.has_waited
        while (permission := self._breaker.ask(call)) is Permission.WAIT and may_wait:
            call.has_waited = True
            await self._sleep(self._breaker.wait_s())
        return permission is Permission.SEND

    async def _answer(self, request: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self.policy.attempt_s) as limit:
                return await request()
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(f"no answer within {self.policy.attempt_s:g} s") from error

    def _slot(self) -> asyncio.Semaphore:
        """The semaphore that limits the calls of the running event loop."""
        with self._lock:
            return self._slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.policy.concurrency))

    def __reduce__(self) -> tuple[Any, ...]:
        return Channel, (self.policy, self._clock, self._sleep)


class _Call:
    """One call: a context manager around each try that counts and times it and reports its result to the breaker."""

    def __init__(self, breaker: "Breaker", tries: int, clock: Clock) -> None:
        self._breaker, self._tries, self._clock = breaker, tries, clock
        self._began = self._sent = clock()
        self._running_s = 0.0
        self.attempts = 0
        self.has_waited = False
        self.last_fault = ""

    def __enter__(self) -> None:
        self.attempts += 1
        self._sent = self._clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running_s += self._clock() - self._sent
        fault = fault_of(error)
        self.last_fault = fault.message if fault else self.last_fault
        if error is None or (fault is None and status_of(error) is not None):
            self._breaker.record_success()  # a refusal is an answer too
        elif fault is not None and (not fault.throttled or self.attempts == self._tries):  # HTTP 429 alone is no outage
            self._breaker.record_failure(self, fault.message)

    def waited_s(self) -> float:
        """The seconds that the call waited between and before its tries."""
        return round(max(0.0, self._clock() - self._began - self._running_s), 3)


class Permission(enum.Enum):
    """The breaker's instruction to a caller."""

    SEND = "send"
    WAIT = "wait"
    DOWN = "down"


class Breaker:
    """Circuit breaker: opens after `after` failures in a row, and lets one caller, the prober, send after `rest_s`.

    While it is open for the first time, callers wait for the prober. Once a prober has failed the endpoint is down, and
    callers are refused without a wait. Callers are compared by identity; one that may send ends with `record_success`,
    `record_failure` or `release`.
    """

    def __init__(self, after: int, rest_s: float, clock: Callable[[], float]) -> None:
        self._after, self._rest_s, self._clock = after, rest_s, clock
        self._failures, self._last = 0, ""
        self._rests_until: float | None = None  # None: closed
        self._probe_failed = False
        self._prober: object = None
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether every caller may send."""
        return self._rests_until is None

    def ask(self, caller: object) -> Permission:
        """The instruction for `caller`; the first caller after the rest becomes the prober."""
        with self._lock:
            if self._rests_until is None or self._prober is caller:
                return Permission.SEND
            resting = self._clock() < self._rests_until
            if not resting and self._prober is None:
                self._prober = caller
                return Permission.SEND
            return Permission.DOWN if resting and self._probe_failed else Permission.WAIT

    def wait_s(self) -> float:
        """The seconds to wait before the next try."""
        with self._lock:
            return max(POLL_S, (self._rests_until or 0.0) - self._clock())

    def first_rest_s(self) -> float:
        """Seconds left of the first rest, for which callers wait; 0.0 once a prober has failed."""
        with self._lock:
            return 0.0 if self._probe_failed else max(0.0, (self._rests_until or 0.0) - self._clock())

    def record_success(self) -> None:
        """The endpoint answered: close the breaker."""
        with self._lock:
            self._failures, self._rests_until, self._probe_failed, self._prober = 0, None, False, None

    def record_failure(self, caller: object, message: str) -> None:
        """The endpoint did not answer `caller`."""
        with self._lock:
            self._failures, self._last = self._failures + 1, message
            if self._prober is caller:
                self._prober, self._probe_failed = None, True
                self._rests_until = self._clock() + self._rest_s
            elif self._rests_until is None and self._failures >= self._after:
                self._rests_until = self._clock() + self._rest_s

    def release(self, caller: object) -> None:
        """Release the probe slot if `caller` holds it."""
        with self._lock:
            if self._prober is caller:
                self._prober = None

    def describe(self) -> str:
        """The message that explains why no request is sent."""
        with self._lock:
            return f"endpoint is down: {self._failures} failures in a row, the last one {self._last}"


class RateLimit:
    """At most `per_second` calls start per second, over all threads and event loops; None sets no limit."""

    def __init__(self, per_second: float | None, clock: Clock) -> None:
        self._interval_s = 1.0 / per_second if per_second else 0.0
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Reserve the next slot; returns the seconds until it begins."""
        with self._lock:
            now = self._clock()
            slot = max(now, self._next)
            self._next = slot + self._interval_s
        return slot - now


def wait_strategy(policy: EndpointPolicy) -> Callable[[RetryCallState], float]:
    """The waits of a policy, for tenacity: Retry-After of the endpoint plus a random exponential backoff."""
    backoff = wait_random_exponential(multiplier=policy.first_wait_s, max=policy.longest_wait_s)

    def wait_s(state: RetryCallState) -> float:
        fault = fault_of(state.outcome.exception()) if state.outcome else None
        return min(policy.longest_wait_s, (fault.retry_after_s if fault else 0.0) + backoff(state))

    return wait_s


def _give_up(call: _Call, state: RetryCallState) -> NoReturn:
    fault = fault_of(state.outcome.exception()) if state.outcome else None
    assert fault is not None  # only transient errors use up the tries
    tries = "1 try" if call.attempts == 1 else f"{call.attempts} tries"
    status = Status.TIMEOUT if fault.timeout else Status.ERROR
    raise CallFailed(status, f"gave up after {tries}: {fault.message}", call.attempts, call.waited_s())
