"""The event loop of this process for async rewards: one loop in a separate thread, for the life of the process.

Clients, locks and connection pools that a reward keeps between batches therefore always use the same loop. Calls of an
async function run at once, within its `concurrency`, each with its own deadline. Every call is a task of its own: how
that task ends is the result of that call. No call can find the tasks of another, because `asyncio.all_tasks()` is empty
on this loop. Import this module when something must be awaited: asyncio would be a third of the time that
`import plaudit` takes.
"""

import asyncio
import contextlib
import inspect
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from plaudit.contract.failures import describe_failure, passed_on, timed_out
from plaudit.contract.isolation import compute_gradients, own_copy, own_decimal_context
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import as_output, read_batch
from plaudit.contract.scoring import (
    Call,
    EndedCall,
    Progress,
    Style,
    check_declared,
    invoke_batch,
)  # fmt: skip
from plaudit.trajectory import Trajectory

LATE_S = 0.05  # by which the alarm of a deadline may ring late on a loop that runs
T = TypeVar("T")
Prepared = list[Trajectory] | RewardOutput
"""The samples of a call, or the output of a call that could not be prepared."""


class _LoopThread:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.loop.set_task_factory(_create_unlisted_task)
        self.thread = threading.Thread(target=self._run, name="plaudit-event-loop", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self.loop.is_closed():  # asyncio raises SystemExit of a task here too: continue for other tasks
            with contextlib.suppress(BaseException):
                self.loop.run_forever()


def _create_unlisted_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
    """A task that `asyncio.all_tasks()` does not list, so that a function cannot cancel or await other calls."""
    task = asyncio.Task(coroutine, loop=loop, **options)
    asyncio._unregister_task(task)  # documented in "Extending asyncio"
    return task


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
        try:
            return await awaitable
        finally:
            compute_gradients()

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
    """Whether the loop is blocked while this thread waits."""
    on_loop = _current is not None and threading.current_thread() is _current.thread
    return on_loop or getattr(_thread, "is_nested", False)


def _loop_thread() -> _LoopThread:
    global _current
    with _lock:
        if _current is None or _current.loop.is_closed():
            _current = _LoopThread()
        return _current


def _forget_after_fork() -> None:
    """Threads do not survive a fork: the child starts a new loop."""
    global _current, _lock
    _current, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)


@dataclass(eq=False, slots=True)
class _Running:
    """One call under way."""

    call: Call
    samples: Sequence[Trajectory]
    free: asyncio.Semaphore
    copies: Sequence[Trajectory] = ()
    value: Any = None
    began: float = 0.0
    alarm: asyncio.TimerHandle | None = None
    is_overdue: bool = False

    def set_alarm(self, task: "asyncio.Task[Any]", seconds: float) -> None:
        """Cancel the task of the call after so many seconds.

        If the alarm rings late, another call has blocked the loop: this call gets that time in addition.
        """
        loop = task.get_loop()
        due = loop.time() + seconds

        def ring() -> None:
            if (late_s := loop.time() - due) > LATE_S:
                self.set_alarm(task, late_s)
            else:
                self.is_overdue = task.cancel()

        self.alarm = loop.call_at(due, ring)


class AsyncCalls:
    """The calls of one async function for one unit."""

    def __init__(self, reward: Any, progress: Progress) -> None:
        check_declared(reward)
        self._reward, self._progress = reward, progress
        self._is_single = reward.call_style is Style.SAMPLE
        self._outputs: dict[Call, list[RewardOutput]] = {}
        self._tasks: list[asyncio.Future[list[RewardOutput]]] = []
        self._interruption: BaseException | None = None

    def start(self, calls: Sequence[tuple[Call, Prepared]]) -> Callable[[], list[list[RewardOutput]]]:
        """Start the calls; what is returned waits for their outputs."""
        future = submit(self._run(calls))

        def wait() -> list[list[RewardOutput]]:
            try:
                return future.result()
            except BaseException as error:  # the waiting thread was interrupted
                self._interruption = error
                future.cancel()
                raise

        return wait

    async def _run(self, calls: Sequence[tuple[Call, Prepared]]) -> list[list[RewardOutput]]:
        free = self._limit()
        for call, prepared in calls:
            known = [prepared] * call.size if isinstance(prepared, RewardOutput) else self._progress.known(call)
            if known is not None:
                self._outputs[call] = known
            elif not isinstance(prepared, RewardOutput):
                running = _Running(call, prepared, free)
                self._tasks.append(asyncio.ensure_future(self._call(running)))
                self._tasks[-1].add_done_callback(partial(self._end, running))
        try:
            if self._tasks:
                await asyncio.wait(self._tasks)
        except asyncio.CancelledError:
            self._cancel_calls()
            raise
        if self._interruption is not None:
            raise self._interruption
        return [self._outputs[call] for call, _ in calls]

    def _limit(self) -> asyncio.Semaphore:
        """The limit of concurrent calls of this reward, shared by all its occurrences in the unit."""
        count = 1 if self._progress.one_at_a_time else self._reward.concurrency
        limits: dict[int, asyncio.Semaphore] = vars(self._progress).setdefault("limits", {})
        return limits.setdefault(id(self._reward), asyncio.Semaphore(count))

    async def _call(self, running: _Running) -> list[RewardOutput]:
        deadline_s, samples = self._progress.deadline_s, running.samples
        await running.free.acquire()
        self._progress.started(running.call)
        began = running.began = time.perf_counter()
        own_decimal_context()
        if deadline_s is not None and (task := asyncio.current_task()):
            running.set_alarm(task, deadline_s * len(samples))
        try:
            running.copies = list(map(own_copy, samples))
            value = self._invoke(running.copies)
            value = await value if inspect.isawaitable(value) else value
            if self._progress.observer is not None:  # else it is released here, where its `__del__` has a deadline
                running.value = value
            return self._read(value, samples, time.perf_counter() - began)
        finally:
            if running.alarm is not None:
                running.alarm.cancel()
            self._progress.state.restore()  # here, because the next call may start before the callbacks of this task

    def _cancel_calls(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _end(self, running: _Running, task: "asyncio.Future[list[RewardOutput]]") -> None:
        """Take the result of a call from the end of its task: it returned, raised, or was cancelled."""
        deadline_s, error = self._progress.deadline_s, None
        try:
            outputs = task.result()
        except BaseException as raised:
            if self._interruption is not None or issubclass(type(raised), passed_on()):
                self._interruption = self._interruption or raised
                self._cancel_calls()
                return
            seconds = time.perf_counter() - running.began
            outputs = [describe_failure(self._reward.name, raised, seconds)] * running.call.size
            error = raised
        if running.is_overdue and deadline_s is not None:
            outputs = [timed_out(deadline_s, _cancelled(error))] * running.call.size  # even if it returned
        elif self._progress.observer is not None:
            values = [running.value] if self._is_single else running.value
            self._progress.observer(EndedCall(running.samples, running.copies, values, error, outputs))
        self._outputs[running.call] = outputs
        self._progress.ended(running.call, outputs)
        running.free.release()  # the next call starts after the end of this one was reported

    def _invoke(self, copies: Sequence[Trajectory]) -> Any:
        return self._reward.compute_reward(copies[0]) if self._is_single else invoke_batch(self._reward, list(copies))

    def _read(self, value: Any, samples: Sequence[Trajectory], seconds: float) -> list[RewardOutput]:
        if self._is_single:
            return [as_output(value, samples[0], seconds)]
        return read_batch(self._reward.name, value, samples, seconds)


def _cancelled(error: BaseException | None) -> str:
    """A message that a call was cancelled at its deadline, with the message of its CancelledError."""
    message = str(error) if type(error) is asyncio.CancelledError else ""
    return f"the call was cancelled: {message}" if message else "the call was cancelled"
