"""The calls of one episode to its environment, each within a deadline; what goes wrong in one ends this episode only.

Calls are awaited in the episode's own task, and the episode has one timer, which is moved only when it fires: a task
and a timer for every call would cost more than most calls. So an environment may also open in `reset` what it closes
in `step`. A call that overruns is cancelled and left to itself: it may clean up, or refuse to end, and nobody waits.
"""

import asyncio
import contextlib
import types
from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any

from plaudit.agents.environment import EpisodeStart
from plaudit.agents.hosting.host import EnvironmentHost, HostedEnvironment
from plaudit.agents.hosting.session import ActionStates
from plaudit.contract.failures import DescribedFailure, attempt
from plaudit.contract.output import RewardOutput, Status

__all__ = ["EnvironmentCalls"]

Call = Coroutine[Any, Any, Any]
Answer = Coroutine[Any, Any, Any]
"""What the environment returned, or a RewardOutput that says why it did not."""

_abandoned: set["asyncio.Task[None]"] = set()  # asyncio itself keeps tasks by weak references only


class EnvironmentCalls:
    """Opens an environment, calls it, and gives its place back; None is no deadline."""

    def __init__(self, host: EnvironmentHost, deadline_s: float | None) -> None:
        self._host, self._deadline_s = host, deadline_s
        self._step_name = f"{host.environment.__name__}.step"
        self._hosted: HostedEnvironment | None = None
        self._hangs = True  # until the last call has returned
        self._due: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    async def open(self) -> None:
        """Get a place for the episode; waiting for one is nobody's fault."""
        self._hosted = await self._host.open()
        self._hangs = False

    def create(self) -> Answer:
        name = f"{self._host.environment.__name__}.__init__"
        return attempt(name, lambda: self._wait(name, self._environment.create()))

    def reset(self, start: EpisodeStart) -> Answer:
        name = f"{self._host.environment.__name__}.reset"
        return attempt(name, lambda: self._wait(name, self._environment.reset(start)))

    def step(self, states: ActionStates) -> Answer:
        return attempt(self._step_name, partial(self._wait, self._step_name, self._environment.step(states)))

    def end(self) -> None:
        """Give the place back; an environment that has not answered is ended."""
        if self._timer is not None:
            self._timer.cancel()
        if self._hosted is not None:
            self._hosted.end(kill=self._hangs)

    @property
    def _environment(self) -> HostedEnvironment:
        assert self._hosted is not None
        return self._hosted

    @types.coroutine
    def _wait(self, name: str, call: Call) -> Generator[Any, None, Any]:
        """What the call returns or raises; past the deadline, a failure that says so.

        What a call does with a cancellation is its own business, but one from outside is not lost with that, and one
        that it asked for itself reaches nobody else.
        """
        task = asyncio.current_task()
        assert task is not None
        self._start(task)
        error: BaseException | None = None
        known, own, cancelled = task.cancelling(), 0, False
        try:
            while True:
                try:
                    awaited = call.send(None) if error is None else call.throw(error)
                finally:
                    if (requests := task.cancelling()) > known:  # nothing else ran meanwhile
                        own += requests - known
                error = None
                try:
                    yield awaited
                except GeneratorExit:
                    call.close()
                    raise
                except BaseException as raised:  # noqa: BLE001 - it is the call's, which is given it above
                    if self._is_over:
                        self._give_up(name, task, call)
                    error, cancelled = raised, cancelled or isinstance(raised, asyncio.CancelledError)
                known = task.cancelling()
        except StopIteration as returned:
            if own:
                yield from _take_back(task, own)
            if cancelled and task.cancelling():
                raise asyncio.CancelledError from None
            self._hangs = False
            return returned.value
        except asyncio.CancelledError:
            if own:
                yield from _take_back(task, own)
            if cancelled and (not own or task.cancelling()):
                raise
            self._hangs = False
            raise DescribedFailure(RewardOutput.unscored(Status.ERROR, f"{name} cancelled itself")) from None
        except Exception:
            self._hangs = self._is_over
            raise
        finally:
            self._due = None

    def _start(self, task: "asyncio.Task[Any]") -> None:
        self._hangs = True
        if self._deadline_s is None:
            return
        loop = task.get_loop()
        self._due = loop.time() + self._deadline_s
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._look, task)

    def _look(self, task: "asyncio.Task[Any]") -> None:
        """The timer fired: the call it was set for may have ended long ago."""
        self._timer, loop = None, task.get_loop()
        if self._due is None:
            return
        if loop.time() < self._due:
            self._timer = loop.call_at(self._due, self._look, task)
            return
        self._is_over = True
        task.cancel()

    def _give_up(self, name: str, task: "asyncio.Task[Any]", call: Call) -> None:
        task.uncancel()  # it was this deadline that cancelled it, to wake it
        _abandon(call)
        reason = f"{name} took longer than the {self._deadline_s:g} s that it has"
        raise DescribedFailure(RewardOutput.unscored(Status.TIMEOUT, reason))


def _take_back(task: "asyncio.Task[Any]", requests: int) -> Generator[None, None, None]:
    """Undo cancellations that a call asked for itself, also one that has not been delivered yet."""
    with contextlib.suppress(asyncio.CancelledError):
        yield
    for _ in range(requests):
        task.uncancel()


def _abandon(call: Call) -> None:
    """Cancel a call, and let it end without anybody."""
    try:
        awaited = call.throw(asyncio.CancelledError())
    except BaseException:  # noqa: BLE001 - StopIteration where it has ended, or what it says of being cancelled
        return
    ending = asyncio.get_running_loop().create_task(_let_end(call, awaited))
    _abandoned.add(ending)
    ending.add_done_callback(_abandoned.discard)


async def _let_end(call: Call, awaited: Any) -> None:
    """Go on with a call that was cancelled and is not done yet, until it is or the event loop ends."""
    try:
        await _resume(call, awaited)
    except Exception:  # noqa: BLE001 - nobody waits for what it says
        pass
    finally:
        with contextlib.suppress(RuntimeError):  # it refuses even that
            call.close()


@types.coroutine
def _resume(call: Call, awaited: Any) -> Generator[Any, None, None]:
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(StopIteration, asyncio.CancelledError):
        while True:
            try:
                yield awaited
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - of what it awaited
                if task.cancelling():  # the loop ends
                    return
                awaited = call.throw(error)
            else:
                awaited = call.send(None)
