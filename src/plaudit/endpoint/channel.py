"""The way to one endpoint that all calls of a process share: slots, a pace, a breaker, and further tries.

The breaker and the pace hold for the whole process; only the bound on concurrency is kept per event loop, since a
semaphore belongs to one. The waits between tries are tenacity's.
"""

import asyncio
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
from plaudit.endpoint.breaker import Breaker, Permission
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.transient import fault_of, is_transient, status_of

__all__ = ["Channel", "Clock", "Pace", "Sent", "Sleep", "Unanswered", "wait_strategy"]

T = TypeVar("T")
Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Sent(Generic[T]):
    """What a call gave, how often it was sent and how long it waited."""

    value: T
    attempts: int
    waited_s: float


class Unanswered(Exception):
    """A call was given up: `status` and the words say why."""

    def __init__(self, status: Status, words: str, attempts: int, waited_s: float) -> None:
        super().__init__(words)
        self.status, self.attempts, self.waited_s = status, attempts, waited_s


class Channel:
    """Calls to one endpoint, as a policy allows them; pickled, it is opened anew where it arrives."""

    def __init__(self, policy: EndpointPolicy, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self.policy, self._clock, self._sleep = policy, clock, sleep
        self._breaker = Breaker(policy.breaker_after, policy.breaker_rest_s, clock)
        self._pace = Pace(policy.per_second, clock)
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def send(self, request: Callable[[], Awaitable[T]]) -> Sent[T]:
        """What `request` gives, tried again while that may help; Unanswered when it was given up."""
        call = _Call(self._breaker, self.policy.tries, self._clock)
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
            retry_error_callback=partial(_give_up, call),
        )
        value: T = await retrying(self._attempt, request, call)
        return Sent(value, call.attempts, call.waited_s())

    async def _attempt(self, request: Callable[[], Awaitable[T]], call: "_Call") -> T:
        async with self._slot():
            try:
                if not await self._wait_for_clearance(call):
                    raise Unanswered(Status.ERROR, self._breaker.words(), call.attempts, call.waited_s())
                with call:
                    return await self._answer(request)
            finally:
                self._breaker.left(call)

    async def _wait_for_clearance(self, call: "_Call") -> bool:
        """Wait until the call may be sent; False when the endpoint is down."""
        while True:
            if not await self._let_through(call):
                return False
            if wait_s := self._pace.reserve():
                await self._sleep(wait_s)
            if self._breaker.ask(call) is Permission.SEND:  # it may have opened during the wait
                return True

    async def _let_through(self, call: "_Call") -> bool:
        """Wait for the breaker, at most once for each call; False when the endpoint is down."""
        patient = not call.held
        while (permission := self._breaker.ask(call)) is Permission.WAIT and patient:
            call.held = True
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
        """One of the slots of the running event loop."""
        with self._lock:
            return self._slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self.policy.concurrency))

    def __reduce__(self) -> tuple[Any, ...]:
        return Channel, (self.policy, self._clock, self._sleep)


class _Call:
    """One call on its way: entered for each try, it counts them, times them and tells the breaker how they end."""

    def __init__(self, breaker: Breaker, tries: int, clock: Clock) -> None:
        self._breaker, self._tries, self._clock = breaker, tries, clock
        self._began = self._sent = clock()
        self._under_way_s = 0.0
        self.attempts = 0
        self.held = False

    def __enter__(self) -> None:
        self.attempts += 1
        self._sent = self._clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._under_way_s += self._clock() - self._sent
        fault = fault_of(error)
        if error is None or (fault is None and status_of(error) is not None):
            self._breaker.record_success()  # a refusal is an answer too
        elif fault is not None and (not fault.throttled or self.attempts == self._tries):
            self._breaker.record_failure(self, fault.words)  # one told to slow down is not down, unless that never ends

    def waited_s(self) -> float:
        """How long the call was not under way."""
        return round(max(0.0, self._clock() - self._began - self._under_way_s), 3)


class Pace:
    """At most `per_second` beginnings a second, over all threads and event loops; None lets everything through.

    The limiters for asyncio that exist (aiolimiter among them) belong to one event loop, but a reward meets a new loop
    with every batch, and a limiter made anew for each would let every batch begin with a burst.
    """

    def __init__(self, per_second: float | None, clock: Clock) -> None:
        self._interval_s = 1.0 / per_second if per_second else 0.0
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take the next free place; the seconds until it comes."""
        with self._lock:
            now = self._clock()
            place = max(now, self._next)
            self._next = place + self._interval_s
        return place - now


def wait_strategy(policy: EndpointPolicy) -> Callable[[RetryCallState], float]:
    """The waits a policy asks for, as tenacity takes them: what the endpoint wants, and a random backoff on top."""
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
    raise Unanswered(status, f"gave up after {tries}: {fault.words}", call.attempts, call.waited_s())
