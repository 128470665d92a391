"""The event loop of this process for async rewards: one loop, in a thread of its own, as long as the process lives.

Clients, locks and connection pools that a reward keeps between batches therefore always meet the same loop. Calls of an
async function run at once, within its `concurrency`, each with its own deadline. Import this module when something must
be awaited: asyncio would be a third of the time that `import plaudit` takes.
"""

import asyncio
import contextlib
import inspect
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from plaudit.contract.failures import describe_failure, timed_out
from plaudit.contract.isolation import own_copy
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import as_output, read_batch
from plaudit.contract.scoring import (
    Call,
    EndedCall,
    Progress,
    Style,
    check_concurrency,
    invoke_batch,
    passed_on,
)  # fmt: skip
from plaudit.trajectory import Trajectory

__all__ = ["AsyncCalls", "run_awaitable", "run_in_new_loop", "submit"]

T = TypeVar("T")
Given = list[Trajectory] | RewardOutput


class _LoopThread:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="plaudit-event-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self.loop.is_closed():  # asyncio raises SystemExit of a task here too: go on for other tasks
            with contextlib.suppress(BaseException):
                self.loop.run_forever()


_lock = threading.Lock()
_current: _LoopThread | None = None
_thread = threading.local()  # `is_nested` in threads that the loop may be waiting for


def submit(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start a coroutine on the loop; the future has its result.

    Code that runs on the loop and waits for the future blocks the loop. Its coroutine therefore runs on a new loop in a
    new thread, and so does what that coroutine submits.
    """
    if _blocks_loop():
        return _start_in_new_thread(coroutine)
    return asyncio.run_coroutine_threadsafe(coroutine, _loop_thread().loop)


def run_awaitable(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end on the loop, from synchronous code."""

    async def wait() -> T:
        return await awaitable

    future = submit(wait())
    try:
        return future.result()
    except BaseException:
        future.cancel()  # an interrupt of the waiting thread
        raise


def run_in_new_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own, in this thread unless a loop is already running here.

    For work that depends on its thread, such as sampling with torch, whose settings are those of a thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _start_in_new_thread(coroutine).result()


def _start_in_new_thread(coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
    outcome: Future[T] = Future()
    outcome.set_running_or_notify_cancel()
    is_nested = _blocks_loop()

    def run() -> None:
        _thread.is_nested = is_nested
        try:
            outcome.set_result(asyncio.run(coroutine))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="plaudit-nested-loop", daemon=True).start()
    return outcome


def _blocks_loop() -> bool:
    """Whether the loop stands still while this thread waits."""
    on_loop = _current is not None and threading.current_thread() is _current.thread
    return on_loop or getattr(_thread, "is_nested", False)


def _loop_thread() -> _LoopThread:
    global _current
    with _lock:
        if _current is None or _current.loop.is_closed():
            _current = _LoopThread()
        return _current


def _forget_after_fork() -> None:
    """Threads do not survive a fork: the child starts a loop of its own."""
    global _current, _lock
    _current, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)


class AsyncCalls:
    """The calls of one async function for one unit."""

    def __init__(self, reward: Any, progress: Progress) -> None:
        check_concurrency(reward)
        self._reward, self._progress = reward, progress
        self._is_single = reward.call_style is Style.SAMPLE
        self._interrupted = False

    def start(self, calls: Sequence[tuple[Call, Given]]) -> Callable[[], list[list[RewardOutput]]]:
        """Start the calls; what is returned waits for their outputs."""
        future = submit(self._gather(calls))

        def wait() -> list[list[RewardOutput]]:
            try:
                return future.result()
            except BaseException:  # the waiting thread was interrupted
                self._interrupted = True
                future.cancel()
                raise

        return wait

    async def _gather(self, calls: Sequence[tuple[Call, Given]]) -> list[list[RewardOutput]]:
        free = self._limit()
        outputs: dict[int, list[RewardOutput]] = {}

        async def take_turn(place: int, call: Call, given: Given) -> None:
            """The boundary is here, in the coroutine of the task: a GeneratorExit reaches no coroutine within."""
            has_begun = False
            try:
                async with free:
                    has_begun = True
                    outputs[place] = await self._call(call, given)
            except BaseException as error:
                if has_begun or not isinstance(error, asyncio.CancelledError):
                    outputs[place] = self._failed(call, error)
            await self._end_cancellation()

        while len(outputs) < len(calls):  # a function may cancel all tasks: calls that had not begun are made again
            left = [place for place in range(len(calls)) if place not in outputs]
            await self._wait([asyncio.ensure_future(take_turn(place, *calls[place])) for place in left])
        return [outputs[place] for place in range(len(calls))]

    def _limit(self) -> asyncio.Semaphore:
        """How many calls may be under way: of this reward wherever it stands in the unit, or of the whole unit."""
        key, count = (0, 1) if self._progress.one_at_a_time else (id(self._reward), self._reward.concurrency)
        limits: dict[int, asyncio.Semaphore] = vars(self._progress).setdefault("limits", {})
        return limits.setdefault(key, asyncio.Semaphore(count))

    async def _wait(self, tasks: Sequence["asyncio.Future[None]"]) -> None:
        """Wait until the tasks have ended, or one was interrupted."""
        left: set[asyncio.Future[None]] = set(tasks)
        while left:
            try:
                done, left = await asyncio.wait(left, return_when=asyncio.FIRST_EXCEPTION)
            except asyncio.CancelledError:
                if self._interrupted:
                    for task in left:
                        task.cancel()
                    raise
                continue
            for task in done:
                if not task.cancelled():
                    task.result()

    async def _end_cancellation(self) -> None:
        """Let a cancellation that the function asked for happen now, so that it does not end the task."""
        task = asyncio.current_task()
        if task is not None and task.cancelling() and not self._interrupted:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)

    async def _call(self, call: Call, given: Given) -> list[RewardOutput]:
        known = self._progress.known(call)
        if known is not None:
            return known
        self._progress.started(call)
        outputs = [given] * call.size if isinstance(given, RewardOutput) else await self._outputs(given)
        self._progress.ended(call, outputs)
        return outputs

    async def _outputs(self, samples: list[Trajectory]) -> list[RewardOutput]:
        name, deadline_s, began = self._reward.name, self._progress.deadline_s, time.perf_counter()
        limit = asyncio.timeout(None if deadline_s is None else deadline_s * len(samples))
        observer, given, value, error = self._progress.observer, samples, None, None
        try:
            async with limit:
                given = list(map(own_copy, samples))
                value = self._invoke(given)
                value = await value if inspect.isawaitable(value) else value
            outputs = self._read(value, samples, time.perf_counter() - began)
        except BaseException as raised:
            if self._interrupted or isinstance(raised, passed_on()):
                raise
            outputs = [describe_failure(name, raised, time.perf_counter() - began)] * len(samples)
            error = raised if observer is not None else None
        if limit.expired() and deadline_s is not None:  # also if the function ignored the cancellation
            return [timed_out(deadline_s, "the call was cancelled")] * len(samples)
        if observer is not None:
            observer(EndedCall(samples, given, [value] if self._is_single else value, error, outputs))
        return outputs

    def _failed(self, call: Call, error: BaseException) -> list[RewardOutput]:
        if self._interrupted or isinstance(error, passed_on()):
            raise error
        outputs = [describe_failure(self._reward.name, error)] * call.size
        self._progress.ended(call, outputs)
        return outputs

    def _invoke(self, given: list[Trajectory]) -> Any:
        return self._reward.compute_reward(given[0]) if self._is_single else invoke_batch(self._reward, given)

    def _read(self, value: Any, samples: list[Trajectory], seconds: float) -> list[RewardOutput]:
        if self._is_single:
            return [as_output(value, samples[0], seconds)]
        return read_batch(self._reward.name, value, samples, seconds)
