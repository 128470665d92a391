"""Score on a Ray cluster: a pool of actors, each with a worker process of its own.

Several units travel in one call, about 50 ms of work, and each actor has a call waiting behind the one it is at. What
an actor has not answered when it or its node dies goes to the others, and a new actor takes its place; an answer counts
once it is here, so no sample is lost or delivered twice.

A node needs the same Python and Ray as the driver, plaudit, and whatever the reward imports. A reward given as
`file.py:name` must lie at the same path there; a reward object travels by value as far as it was written in a script, a
notebook or a file loaded by path, and by name if it comes from an importable module.
"""

import math
import os
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.backend import BackendSettings
from plaudit.engine.backends.ray_actor import Answer, ScoringActor, decode_answer, encode_units
from plaudit.engine.backends.ray_session import RaySession
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import WINDOW, OrderedStream, Unit, UnitResult
from plaudit.errors import ScoringFailed, require

__all__ = ["RayBackend"]

CALL_S = 0.05  # of work a call, which costs about a millisecond itself
IN_FLIGHT = 2
START_S = 300.0  # a cluster may have to start a node first
CLOSE_S = 2.0
MAX_TRIES = 3  # deaths of actors at the same unit, before it is held to be the cause
MAX_RESTARTS = 4  # of each actor, with no result from any of them in between


@dataclass(eq=False, slots=True)
class _Actor:
    handle: Any
    calls: list["_Call"] = field(default_factory=list)
    greeted: bool = False
    blamed: bool = False  # whether the call it died at is known

    @property
    def room(self) -> int:
        """How many calls it can take: none before it has answered the first, empty one, or behind a suspect."""
        if not self.greeted or any(call.is_suspect for call in self.calls):
            return 0
        return IN_FLIGHT - len(self.calls)


@dataclass(eq=False, slots=True)
class _Call:
    actor: _Actor
    units: list[Unit]

    @property
    def is_suspect(self) -> bool:
        """An actor died at it before: it has an actor to itself, as a death would take answers on their way with it."""
        return any(unit.tries for unit in self.units)

    def results(self, answer: Answer) -> list[UnitResult]:
        """The outputs of an answer, given back to the units they belong to."""
        outputs = dict(zip(answer.places, answer.outputs, strict=True))
        results = []
        first = 0
        for unit in self.units:
            results.append(unit.result([outputs[place] for place in range(first, first + len(unit))]))
            first += len(unit)
        return results


class RayBackend:
    """Actors that outlive single calls; `address=None` runs them on this machine.

    With an address ("auto", "host:port", "ray://host:port") they run on that cluster, `workers` actors of one CPU each.
    A Ray that this process is connected to already is used as it is, and left as it was.
    """

    survives_fork = False

    def __init__(self, shipment: Shipment, settings: BackendSettings) -> None:
        self._ray = require("ray", extra="ray", purpose="the Ray backend")
        self._errors = require("ray.exceptions", extra="ray", purpose="the Ray backend")
        self._shipment, self._limits, self._by_sample = shipment, settings.limits, settings.by_sample
        self._count, self._address = settings.workers, settings.address
        self._session: RaySession | None = None
        self._actors: list[_Actor] = []
        self._calls: dict[Any, _Call] = {}
        self._queue: deque[Unit] = deque()
        self._deaths = 0  # since the last result
        self._started_at = 0.0
        self._sample_s = math.inf

    def wants_more(self, units: int, samples: int) -> bool:
        room = sum(max(0, actor.room) for actor in self._actors) if self._actors else IN_FLIGHT * self._count
        ready = samples + sum(map(len, self._queue))
        return ready < room * self._call_size() or not (units or self._queue or self._has_work())

    def submit(self, unit: Unit) -> None:
        self._queue.append(unit)

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Give units to actors that have room, wait, and take the calls that have ended."""
        if self._queue:
            self._open()
        self._give()
        if not self._queue and not self._has_work():
            return []
        return [result for reference in self._ready(timeout_s) for result in self._take(reference)]

    def discard(self, stream: OrderedStream) -> None:
        self._queue = deque(unit for unit in self._queue if unit.stream is not stream)
        concerned = {call.actor for call in self._calls.values() if any(unit.stream is stream for unit in call.units)}
        for actor in concerned:
            for call in reversed(actor.calls):
                self._queue.extendleft(unit for unit in reversed(call.units) if unit.stream is not stream)
        self._stop(concerned)

    def shutdown(self) -> None:
        """End every actor, and Ray itself if it was started for this."""
        self._stop(set(self._actors))
        if self._session is not None:
            self._session.leave()
            self._session = None

    def _has_work(self) -> bool:
        return any(call.units for call in self._calls.values())

    def _call_size(self) -> float:
        """How many samples a call should hold."""
        return max(1.0, min(CALL_S / self._sample_s, WINDOW / (IN_FLIGHT * self._count)))

    def _open(self) -> None:
        if self._session is None:
            self._session = RaySession(self._address, self._count)
        while len(self._actors) < self._count:
            self._start()

    def _stop(self, actors: set["_Actor"]) -> None:
        closing = [actor.handle.close.remote() for actor in actors]
        if closing:  # an actor that is killed cannot end what its worker started
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for actor in actors:
            self._ray.kill(actor.handle)
            self._actors.remove(actor)
        self._calls = {reference: call for reference, call in self._calls.items() if call.actor not in actors}

    def _start(self) -> None:
        assert self._session is not None
        remote = self._ray.remote(ScoringActor).options(
            num_cpus=0 if self._session.is_ours else 1,  # scorers that share our own Ray must not wait for each other
            runtime_env=self._session.runtime_env,
            scheduling_strategy="SPREAD",
        )
        actor = _Actor(remote.remote(self._shipment, self._limits, self._by_sample, os.getcwd()))
        self._actors.append(actor)
        self._started_at = time.monotonic()
        self._call(actor, [])

    def _call(self, actor: _Actor, units: list[Unit]) -> None:
        call = _Call(actor, units)
        actor.calls.append(call)
        self._calls[actor.handle.score.remote(encode_units(units))] = call

    def _give(self) -> None:
        """Give queued units to actors that have room."""
        for actor in sorted(self._actors, key=lambda actor: len(actor.calls)):
            while actor.room > 0 and (units := self._load(is_idle=not actor.calls)):
                self._call(actor, units)

    def _load(self, *, is_idle: bool) -> list[Unit]:
        """Units for one call; one that was under way when an actor died travels alone, to an idle actor."""
        units: list[Unit] = []
        if self._queue and self._queue[0].tries and not is_idle:
            return units
        room = self._call_size()
        while self._queue and (room > 0 or not units):
            if units and self._queue[0].tries:
                break
            unit = self._queue.popleft()
            units.append(unit)
            room -= len(unit)
            if unit.tries:
                break
        return units

    def _ready(self, timeout_s: float) -> list[Any]:
        """The calls that have ended."""
        ended: list[Any]
        ended, waiting = self._ray.wait(list(self._calls), timeout=timeout_s)
        if ended and waiting:
            ended += self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0]
        starting = not any(actor.greeted for actor in self._actors)
        if not ended and starting and time.monotonic() - self._started_at > START_S:
            words = self._free()
            self._stop(set(self._actors))
            raise ScoringFailed(f"no actor could be started on the Ray cluster within {START_S:g} s: {words}")
        return ended

    def _free(self) -> str:
        total, free = self._ray.cluster_resources(), self._ray.available_resources()
        return f"it has {total.get('CPU', 0):g} CPUs, {free.get('CPU', 0):g} of them free, and an actor needs one"

    def _take(self, reference: Any) -> list[UnitResult]:
        """The results of a call that has ended, or what follows from the death of its actor."""
        call = self._calls.pop(reference)
        was_at_it = call.actor.calls[0] is call  # an actor takes its calls in order
        call.actor.calls.remove(call)
        try:
            answer = decode_answer(self._ray.get(reference))
        except self._errors.RayTaskError:
            raise  # a fault of ours, not of the cluster
        except self._errors.RayError as error:
            return self._after_death(call, error, at_fault=was_at_it and not call.actor.blamed)
        if answer.error is not None:
            raise answer.error
        call.actor.greeted = True
        if not answer.outputs:
            return []
        self._deaths = 0
        self._sample_s = _smooth(self._sample_s, answer)
        return call.results(answer)

    def _after_death(self, call: _Call, error: Exception, *, at_fault: bool) -> list[UnitResult]:
        """Replace the actor and queue its units; the ones it was at, if this is not the first time, one by one."""
        if call.actor in self._actors:
            self._replace(call.actor, error)
        call.actor.blamed |= at_fault
        results: list[UnitResult] = []
        for unit in reversed([unit.retry() for unit in call.units] if at_fault else call.units):
            if unit.tries < MAX_TRIES:
                self._queue.appendleft(unit)
            elif unit.whole or len(unit) == 1:
                results.append(unit.result([self._verdict(error)] * len(unit)))
            else:
                self._queue.extendleft(reversed(unit.split()))
        return results

    def _replace(self, actor: _Actor, error: Exception) -> None:
        self._actors.remove(actor)
        self._ray.kill(actor.handle)
        self._deaths += 1
        if self._deaths > MAX_RESTARTS * self._count:
            self._stop(set(self._actors))
            raise ScoringFailed(
                f"actors on the Ray cluster die again and again ({self._deaths} times without a result): "
                f"{_words(error)}; does every node have plaudit, and what the reward imports?"
            )
        self._start()

    def _verdict(self, error: Exception) -> RewardOutput:
        status = Status.MEMORY if isinstance(error, self._errors.OutOfMemoryError) else Status.ERROR
        return RewardOutput.unscored(status, f"the Ray actor died {MAX_TRIES} times: {_words(error)}")


def _smooth(before: float, answer: Answer) -> float:
    """Seconds a sample, as the latest calls took."""
    latest = max(answer.seconds / len(answer.outputs), 1e-6)
    return latest if math.isinf(before) else (before + latest) / 2


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
