"""Wrap a reward that calls an endpoint, so that each sample is sent within limits and tried again when that may help.

The breaker and the pace belong to the guarded reward and hold for the whole process; only the bound on concurrency is
kept per event loop, since a semaphore belongs to one. The waits between tries are tenacity's.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from plaudit.contract.boundary import Style, as_output
from plaudit.contract.function import RewardFunction, Rewarding, as_reward
from plaudit.contract.output import RewardOutput, Status
from plaudit.endpoint.breaker import Breaker, Verdict
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.transient import fault_of, is_transient, status_of
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

__all__ = ["Pace", "guarded", "wait_strategy"]

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


def guarded(
    reward: Rewarding,
    policy: EndpointPolicy | None = None,
    *,
    clock: Clock = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> RewardFunction:
    """`reward`, called as `policy` allows: `guarded(judge, EndpointPolicy(per_second=10))`.

    `reward` is async and takes one sample. Its outputs tell `attempts` and `waited_s` in their metadata.
    """
    inner = as_reward(reward)
    if inner.style is not Style.SAMPLE or not inner.is_async:
        raise InvalidSettings(
            f"{inner.name} cannot be guarded: it must be async and take one sample at a time; "
            "guard the reward that calls the endpoint, not a combination around it"
        )
    return _GuardedReward(inner, policy or EndpointPolicy(), clock, sleep)


class _GuardedReward(RewardFunction):
    """A reward whose calls go through a breaker, a pace and a bounded number of slots."""

    def __init__(self, reward: RewardFunction, policy: EndpointPolicy, clock: Clock, sleep: Sleep) -> None:
        self.reward, self.policy, self._clock, self._sleep = reward, policy, clock, sleep
        self.name, self.scope, self.bounds = reward.name, reward.scope, reward.bounds
        self.deterministic, self.concurrency = reward.deterministic, policy.concurrency
        self.__doc__ = reward.__doc__
        self._channel = _Channel(policy, clock)

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        call = _Call(self._channel.breaker, self.policy.tries, self._clock)
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
            retry_error_callback=partial(self._given_up, call),
        )
        output: RewardOutput = await retrying(self._attempt, trajectory, call)
        return msgspec.structs.replace(output, metadata={**output.metadata, **call.report()})

    async def _attempt(self, trajectory: Trajectory, call: "_Call") -> RewardOutput:
        async with self._channel.slot():
            try:
                if not await self._wait_for_clearance(call):
                    return RewardOutput.unscored(Status.ERROR, f"{self.name}: {self._channel.breaker.words()}")
                with call:
                    value = await self._answer(trajectory)
            finally:
                self._channel.breaker.left(call)
        return as_output(value, trajectory, call.elapsed_s())

    async def _wait_for_clearance(self, call: "_Call") -> bool:
        """Wait until the sample may be sent; False when the endpoint is down."""
        while True:
            if not await self._let_through(call):
                return False
            if wait_s := self._channel.pace.reserve():
                await self._sleep(wait_s)
            if self._channel.breaker.ask(call) is Verdict.SEND:  # it may have opened during the wait
                return True

    async def _let_through(self, call: "_Call") -> bool:
        """Wait for the breaker, at most once for each sample; False when the endpoint is down."""
        patient = not call.held
        while (verdict := self._channel.breaker.ask(call)) is Verdict.WAIT and patient:
            call.held = True
            await self._sleep(self._channel.breaker.wait_s())
        return verdict is Verdict.SEND

    async def _answer(self, trajectory: Trajectory) -> Any:
        try:
            async with asyncio.timeout(self.policy.attempt_s) as limit:
                return await self.reward.compute_reward(trajectory)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutError(f"no answer within {self.policy.attempt_s:g} s") from error

    def _given_up(self, call: "_Call", state: RetryCallState) -> RewardOutput:
        fault = fault_of(state.outcome.exception()) if state.outcome else None
        assert fault is not None  # only transient errors use up the tries
        tries = "1 try" if call.attempts == 1 else f"{call.attempts} tries"
        status = Status.TIMEOUT if fault.timeout else Status.ERROR
        return RewardOutput.unscored(status, f"{self.name}: gave up after {tries}: {fault.words}")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_channel"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _channel=_Channel(state["policy"], state["_clock"]))

    def __repr__(self) -> str:
        return f"guarded({self.reward!r})"


class _Channel:
    """The way to the endpoint that all samples of a process share."""

    def __init__(self, policy: EndpointPolicy, clock: Clock) -> None:
        self.breaker = Breaker(policy.breaker_after, policy.breaker_rest_s, clock)
        self.pace = Pace(policy.per_second, clock)
        self._concurrency = policy.concurrency
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def slot(self) -> asyncio.Semaphore:
        """One of the slots of the running event loop."""
        with self._lock:
            return self._slots.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._concurrency))


class _Call:
    """One sample on its way: entered for each try, it counts them, times them and tells the breaker how they end."""

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

    def elapsed_s(self) -> float:
        return self._clock() - self._began

    def report(self) -> dict[str, Any]:
        """What the output says about the calls."""
        return {"attempts": self.attempts, "waited_s": round(max(0.0, self.elapsed_s() - self._under_way_s), 3)}


class Pace:
    """At most `per_second` beginnings a second, over all threads and event loops; None lets everything through.

    The limiters for asyncio that exist (aiolimiter among them) belong to one event loop, but a reward meets a new loop
    with every batch, and a limiter made anew for each would let every batch begin with a burst.
    """

    def __init__(self, per_second: float | None, clock: Callable[[], float]) -> None:
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
