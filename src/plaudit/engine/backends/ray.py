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
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine.backends.ray_actor import Answer, ScoringActor, packed_units, unpacked_answer
from plaudit.engine.backends.ray_session import RaySession
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import WINDOW, Supply
from plaudit.engine.unit import Done, Limits, Unit
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


class RayBackend:
    """Actors that outlive single calls; `address=None` runs them on this machine.

    With an address ("auto", "host:port", "ray://host:port") they run on that cluster, `workers` actors of one CPU each.
    A Ray that this process is connected to already is used as it is, and left as it was.
    """

    def __init__(
        self, shipment: Shipment, workers: int, limits: Limits, *, by_sample: bool, address: str | None = None
    ) -> None:
        self._ray = require("ray", extra="ray", purpose="the Ray backend")
        self._errors = require("ray.exceptions", extra="ray", purpose="the Ray backend")
        self._shipment, self._limits, self._by_sample = shipment, limits, by_sample
        self._count, self._address = workers, address
        self._session: RaySession | None = None
        self._actors: list[_Actor] = []
        self._calls: dict[Any, _Call] = {}
        self._deaths = 0  # since the last result
        self._sample_s = math.inf

    def run(self, supply: Supply) -> Iterator[Done]:
        """Score units as actors become free; outputs come as calls are answered, in any order."""
        again: deque[Unit] = deque()
        self._open()
        try:
            while self._give(supply, again):
                for reference in self._ready():
                    yield from self._settled(reference, again)
        finally:
            if any(call.units for call in self._calls.values()):  # the caller stopped early: forget what is under way
                self._close()

    def shutdown(self) -> None:
        """End every actor, and Ray itself if it was started for this."""
        self._close()
        if self._session is not None:
            self._session.leave()
            self._session = None

    def _open(self) -> None:
        if self._session is None:
            self._session = RaySession(self._address, self._count)
        while len(self._actors) < self._count:
            self._start()

    def _close(self) -> None:
        closing = [actor.handle.close.remote() for actor in self._actors]
        if closing:  # an actor that is killed cannot end what its worker started
            self._ray.wait(closing, num_returns=len(closing), timeout=CLOSE_S)
        for actor in self._actors:
            self._ray.kill(actor.handle)
        self._actors.clear()
        self._calls.clear()

    def _start(self) -> None:
        assert self._session is not None
        remote = self._ray.remote(ScoringActor).options(
            num_cpus=0 if self._session.is_ours else 1,  # scorers that share our own Ray must not wait for each other
            runtime_env=self._session.runtime_env,
            scheduling_strategy="SPREAD",
        )
        actor = _Actor(remote.remote(self._shipment, self._limits, self._by_sample, os.getcwd()))
        self._actors.append(actor)
        self._call(actor, [])

    def _call(self, actor: _Actor, units: list[Unit]) -> None:
        call = _Call(actor, units)
        actor.calls.append(call)
        self._calls[actor.handle.score.remote(packed_units(units))] = call

    def _give(self, supply: Supply, again: deque[Unit]) -> bool:
        """Give work to actors that have room; False when there is none left, given or waiting."""
        for actor in sorted(self._actors, key=lambda actor: len(actor.calls)):
            while actor.room > 0 and (units := self._load(supply, again, is_idle=not actor.calls)):
                self._call(actor, units)
        if not again and (unit := supply.take()):  # while all actors are starting
            again.append(unit)
        return bool(again) or any(call.units for call in self._calls.values())

    def _load(self, supply: Supply, again: deque[Unit], *, is_idle: bool) -> list[Unit]:
        """Units for one call; one that was under way when an actor died travels alone, to an idle actor."""
        units: list[Unit] = []
        if again and again[0].tries and not is_idle:
            return units
        room = min(CALL_S / self._sample_s, WINDOW / (IN_FLIGHT * self._count))
        while room > 0 or not units:
            if units and again and again[0].tries:
                break
            unit = again.popleft() if again else supply.take()
            if unit is None:
                break
            units.append(unit)
            room -= len(unit)
            if unit.tries:
                break
        return units

    def _ready(self) -> list[Any]:
        """The calls that have ended, one at least."""
        starting = not any(actor.greeted for actor in self._actors)
        ended: list[Any]
        ended, waiting = self._ray.wait(list(self._calls), timeout=START_S if starting else None)
        if not ended:
            self._close()
            raise ScoringFailed(f"no actor could be started on the Ray cluster within {START_S:g} s: {self._free()}")
        if waiting:
            ended += self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0]
        return ended

    def _free(self) -> str:
        total, free = self._ray.cluster_resources(), self._ray.available_resources()
        return f"it has {total.get('CPU', 0):g} CPUs, {free.get('CPU', 0):g} of them free, and an actor needs one"

    def _settled(self, reference: Any, again: deque[Unit]) -> Iterator[Done]:
        call = self._calls.pop(reference)
        was_at_it = call.actor.calls[0] is call  # an actor takes its calls in order
        call.actor.calls.remove(call)
        try:
            answer = unpacked_answer(self._ray.get(reference))
        except self._errors.RayTaskError:
            raise  # a fault of ours, not of the cluster
        except self._errors.RayError as error:
            yield from self._after_death(call, error, again, at_fault=was_at_it and not call.actor.blamed)
            return
        if answer.error is not None:
            raise answer.error
        call.actor.greeted = True
        if answer.outputs:
            self._deaths = 0
            self._sample_s = _smoothed(self._sample_s, answer)
            yield Done(answer.places, answer.outputs)

    def _after_death(self, call: _Call, error: Exception, again: deque[Unit], *, at_fault: bool) -> Iterator[Done]:
        """Replace the actor and queue its units; the ones it was at, if this is not the first time, one by one."""
        if call.actor in self._actors:
            self._replace(call.actor, error)
        call.actor.blamed |= at_fault
        for unit in reversed([unit.tried_again() for unit in call.units] if at_fault else call.units):
            if unit.tries < MAX_TRIES:
                again.appendleft(unit)
            elif unit.whole or len(unit) == 1:
                yield unit.done([self._verdict(error)] * len(unit))
            else:
                again.extendleft(reversed(unit.singly()))

    def _replace(self, actor: _Actor, error: Exception) -> None:
        self._actors.remove(actor)
        self._ray.kill(actor.handle)
        self._deaths += 1
        if self._deaths > MAX_RESTARTS * self._count:
            self._close()
            raise ScoringFailed(
                f"actors on the Ray cluster die again and again ({self._deaths} times without a result): "
                f"{_words(error)}; does every node have plaudit, and what the reward imports?"
            )
        self._start()

    def _verdict(self, error: Exception) -> RewardOutput:
        status = Status.MEMORY if isinstance(error, self._errors.OutOfMemoryError) else Status.ERROR
        return RewardOutput.unscored(status, f"the Ray actor died {MAX_TRIES} times: {_words(error)}")


def _smoothed(before: float, answer: Answer) -> float:
    """Seconds a sample, as the latest calls took."""
    latest = max(answer.seconds / len(answer.outputs), 1e-6)
    return latest if math.isinf(before) else (before + latest) / 2


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
