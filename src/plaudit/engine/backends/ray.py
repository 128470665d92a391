"""Score on a Ray cluster: actors, each with a supervised worker process of its own.

A call scores one unit. The calls of an actor that dies, or whose node does, go to other actors, and a new actor is
started. Outputs count when they arrive here, so no sample is lost or delivered twice.

A node needs the same Python and Ray as the driver, plaudit, and what the reward imports. A reward given as
`file.py:name` must be at the same path there.
"""

import os
import sys
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.backend import BackendSettings, Limits
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.backends.ray_session import RaySession
from plaudit.engine.reward_service import pack_samples
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.errors import PlauditError, ScoringFailed, require
from plaudit.processes.messages import unpack_outputs

IN_FLIGHT = 4  # calls of an actor, so that it does not wait for the driver
START_S = 300.0  # a cluster may have to start a node first
CLOSE_S = 2.0
MAX_TRIES = 3  # of a call whose actor dies
MAX_DEATHS = 4  # of each actor, without a result in between


@dataclass(frozen=True, slots=True)
class _Call:
    unit: Unit | None  # None: the actor's first call, which returns when it runs
    tries: int = 0


@dataclass(eq=False, slots=True)
class _Actor:
    handle: Any
    calls: dict[Any, _Call] = field(default_factory=dict)
    """By reference, in the order in which the actor runs them."""

    @property
    def is_starting(self) -> bool:
        return any(call.unit is None for call in self.calls.values())

    def works_for(self, stream: OrderedStream) -> bool:
        return any(call.unit is not None and call.unit.stream is stream for call in self.calls.values())


class RayBackend:
    """A pool of actors that outlives single runs; `address=None` runs them on this machine.

    With an address ("auto", "host:port", "ray://host:port") they run on that cluster, `workers` actors of one CPU each.
    If this process is connected to Ray already, that connection is used and left open.
    """

    survives_fork = False

    def __init__(self, shipment: Shipment, settings: BackendSettings) -> None:
        self._ray = require("ray", extra="ray", purpose="the Ray backend")
        self._errors = require("ray.exceptions", extra="ray", purpose="the Ray backend")
        self._shipment, self._settings = shipment, settings
        self._session: RaySession | None = None
        self._actors: list[_Actor] = []
        self._queue: deque[_Call] = deque()
        self._deaths = 0  # since the last result
        self._started_at = 0.0

    def wants_more(self, units: int) -> bool:
        return units + len(self._queue) + self._running() < IN_FLIGHT * self._settings.workers

    def submit(self, unit: Unit) -> None:
        self._queue.append(_Call(unit))

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Give calls to actors, wait, and take the results of calls that have ended."""
        self._give()
        if not self._queue and not self._running():
            return []
        ended = self._wait(timeout_s)
        results: list[UnitResult] = []
        for actor in list(self._actors):
            for reference in [reference for reference in actor.calls if reference in ended]:
                if reference in actor.calls:  # else the actor was found dead at an earlier call
                    results += self._take(actor, reference)
        return results

    def discard(self, stream: OrderedStream) -> None:
        concerned = [actor for actor in self._actors if actor.works_for(stream)]
        calls = [*(call for actor in concerned for call in actor.calls.values()), *self._queue]
        self._queue = deque(call for call in calls if call.unit is not None and call.unit.stream is not stream)
        self._stop(concerned)

    def shutdown(self) -> None:
        """End every actor, and Ray itself if it was started for this."""
        self._stop(self._actors)
        if self._session is not None:
            self._session.leave()
            self._session = None

    def _running(self) -> int:
        return sum(len(actor.calls) for actor in self._actors if not actor.is_starting)

    def _give(self) -> None:
        """Start the actors that are missing, and give queued calls to those that have the fewest."""
        if self._queue and self._session is None:
            self._session = RaySession(self._settings.address, self._settings.workers)
        while self._queue and len(self._actors) < self._settings.workers:
            self._start()
        ready = [actor for actor in self._actors if not actor.is_starting]
        while self._queue and ready:
            actor = min(ready, key=lambda actor: len(actor.calls))
            if len(actor.calls) >= IN_FLIGHT:
                return
            call = self._queue.popleft()
            assert call.unit is not None
            samples = call.unit.trajectories
            actor.calls[actor.handle.score.remote(pack_samples(samples), len(samples))] = call

    def _start(self) -> None:
        assert self._session is not None
        kind = self._ray.remote(ScoringActor).options(
            num_cpus=0 if self._session.is_ours else 1,  # scorers that share our Ray must not wait for each other
            runtime_env=self._session.runtime_env,
            scheduling_strategy="SPREAD",
        )
        settings = self._settings
        actor = _Actor(kind.remote(self._shipment, settings.limits, os.getcwd()))
        actor.calls[actor.handle.ready.remote()] = _Call(None)
        self._actors.append(actor)
        self._started_at = time.monotonic()

    def _stop(self, actors: list[_Actor]) -> None:
        closing = [actor.handle.close.remote() for actor in actors]
        if closing:  # killing an actor does not end the processes that its worker started
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for actor in list(actors):
            self._ray.kill(actor.handle)
            self._actors.remove(actor)

    def _wait(self, timeout_s: float) -> set[Any]:
        """The references of the calls that have ended."""
        references = [reference for actor in self._actors for reference in actor.calls]
        if self._ray.wait(references, timeout=timeout_s)[0]:
            return set(self._ray.wait(references, num_returns=len(references), timeout=0)[0])
        if all(actor.is_starting for actor in self._actors) and time.monotonic() - self._started_at > START_S:
            total, free = self._ray.cluster_resources(), self._ray.available_resources()
            self._stop(self._actors)
            raise ScoringFailed(
                f"no actor could be started on the Ray cluster within {START_S:g} s: it has {total.get('CPU', 0):g} "
                f"CPUs, {free.get('CPU', 0):g} of them free, and an actor needs one"
            )
        return set()

    def _take(self, actor: _Actor, reference: Any) -> list[UnitResult]:
        """The result of a call that has ended, or what follows from the death of its actor."""
        try:
            answer = self._ray.get(reference)
        except self._errors.RayTaskError as error:  # raised in the actor
            raise error.cause if isinstance(error.cause, PlauditError) else error from None
        except self._errors.RayError as error:
            return self._replace(actor, error)
        call = actor.calls.pop(reference)
        if call.unit is None:
            return []
        self._deaths = 0
        return [call.unit.result(unpack_outputs(answer))]

    def _replace(self, actor: _Actor, error: Exception) -> list[UnitResult]:
        """Queue the calls of an actor that died again; a new actor is started for them.

        The call that it was running counts a try, and fails if that was the last one.
        """
        self._actors.remove(actor)
        self._ray.kill(actor.handle)
        self._settings.stats.lose("Ray actor died")
        self._deaths += 1
        reason = " ".join(str(error).split())[:300]
        if self._deaths > MAX_DEATHS * self._settings.workers:
            self._stop(self._actors)
            raise ScoringFailed(
                f"actors on the Ray cluster died {self._deaths} times without a result: {reason}; does every node have "
                "plaudit, and what the reward imports?"
            )
        (running, *waiting), actor.calls = actor.calls.values(), {}
        self._queue.extendleft(reversed(waiting))
        if running.unit is None:
            return []
        if running.tries + 1 < MAX_TRIES:
            self._queue.appendleft(_Call(running.unit, running.tries + 1))
            return []
        status = Status.MEMORY if isinstance(error, self._errors.OutOfMemoryError) else Status.ERROR
        output = RewardOutput.unscored(status, f"the Ray actor died {MAX_TRIES} times: {reason}")
        return [running.unit.result([output] * len(running.unit))]


def use_driver_paths(shipment: Shipment, folder: str) -> Shipment:
    """Use the driver's working folder and import path in this process, as far as this node has them."""
    if os.path.isdir(folder):
        os.chdir(folder)
    shared = [os.path.abspath(entry) for entry in shipment.search_path]
    sys.path[:] = dict.fromkeys([*filter(os.path.exists, shared), *sys.path])
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for worker processes
    return replace(shipment, search_path=list(sys.path))


class ScoringActor:
    """Scores units, one call after the other. Samples and outputs are packed, since Ray's pickling takes longer."""

    def __init__(self, shipment: Shipment, limits: Limits, folder: str) -> None:
        self._backend = ProcessBackend(use_driver_paths(shipment, folder), BackendSettings(1, limits))

    def ready(self) -> None:
        """Returns once the actor runs."""

    def score(self, body: bytes, count: int) -> bytes:
        """The packed outputs of packed samples."""
        return self._backend.score_packed(body, count)

    def close(self) -> None:
        """End the worker process and what it started."""
        self._backend.shutdown()
