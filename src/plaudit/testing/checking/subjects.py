"""The reward that is checked: called in this process, or in a worker process with a deadline."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import Progress, calls_one_sample, needs_loop, scope_of
from plaudit.engine.reward_service import RewardService
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidTrajectory
from plaudit.findings import Rule
from plaudit.processes.messages import pack_outputs, pack_sample, unpack_outputs, unpack_sample
from plaudit.processes.pool import Limits, Pool, PoolUnit
from plaudit.processes.worker import Service, UnitProgress
from plaudit.testing.checking.observation import Observation, observe_calls
from plaudit.testing.checking.reward_state import capture_state
from plaudit.trajectory import Trajectory

__all__ = ["NOT_TRIED", "LocalSubject", "Subject", "WorkerSubject"]

MAX_OVERRUNS = 3
TURN_S = 1.0
COMPANY = 3
NOT_TRIED = RewardOutput.unscored(Status.SKIPPED, f"the check stops after {MAX_OVERRUNS} calls that do not end")


class Subject(ABC):
    """A reward that is called and observed."""

    def __init__(self, reward: RewardFunction) -> None:
        self.reward, self._scope = reward, scope_of(reward)
        self.company: Sequence[Trajectory] = ()
        """Samples beside which a single sample is scored if the reward sees a batch or a group."""

    @abstractmethod
    def observe(self, samples: Sequence[Trajectory]) -> list[Observation]:
        """Score samples together."""

    @abstractmethod
    def capture_state(self) -> dict[str, bytes]:
        """The state of the reward by name; see `reward_state`."""

    def observe_one(self, sample: Trajectory) -> Observation:
        """Score one sample, beside a few others where the reward sees a batch or a group."""
        if self._scope == "sample":
            return self.observe([sample])[0]
        beside = [each for each in self.company if self._scope == "batch" or each.group_key == sample.group_key]
        return self.observe([*beside[:COMPANY], sample])[-1]

    def close(self) -> None:  # noqa: B027 - only a worker has to be ended
        """End what was started."""


class LocalSubject(Subject):
    """A reward in this process: a call that does not return holds up the check."""

    def observe(self, samples: Sequence[Trajectory]) -> list[Observation]:
        return observe_calls(self.reward, samples, Progress())

    def capture_state(self) -> dict[str, bytes]:
        return capture_state(self.reward)


class WorkerSubject(Subject):
    """A reward in a worker process, which is replaced when a call overruns the deadline or ends the process."""

    def __init__(self, reward: RewardFunction, shipment: Shipment, deadline_s: float | None) -> None:
        super().__init__(reward)
        self._one_by_one = calls_one_sample(reward) and not needs_loop(reward)
        self._losses: list[str] = []
        self._overruns = 0
        self._pool = Pool(_ObservingService(shipment), 1, Limits(deadline_s), lost=self._losses.append)

    def observe(self, samples: Sequence[Trajectory]) -> list[Observation]:
        units = [[sample] for sample in samples] if self._one_by_one else [samples]
        return [observation for unit in units for observation in self._observe(unit)]

    def capture_state(self) -> dict[str, bytes]:
        unit = self._run(PoolUnit(pickle.dumps(None), 0))
        return {} if unit.result is None else dict(pickle.loads(unit.result))

    def close(self) -> None:
        self._pool.close()

    def _observe(self, samples: Sequence[Trajectory]) -> list[Observation]:
        if self._overruns >= MAX_OVERRUNS:
            return [Observation(sample, NOT_TRIED) for sample in samples]
        losses = len(self._losses)
        unit = self._run(PoolUnit(_pack(samples), len(samples)))
        if unit.result is None:
            outputs = [unit.failure or NOT_TRIED] * len(samples)
            facts: list[tuple[Rule | None, bool]] = [(Rule.TOTAL, False)] * len(samples)
        else:
            packed, facts = pickle.loads(unit.result)
            outputs = unpack_outputs(packed)
        self._overruns += len(self._losses) > losses or any(fault is Rule.DEADLINE for fault, _ in facts)
        return [
            Observation(*known, *fact) for known, fact in zip(zip(samples, outputs, strict=True), facts, strict=True)
        ]

    def _run(self, unit: PoolUnit) -> PoolUnit:
        """Give a unit to the worker and wait for it."""
        self._pool.submit(unit)
        while not self._pool.finished:
            self._pool.turn(TURN_S)
        return self._pool.finished.popleft()


def _pack(samples: Sequence[Trajectory]) -> bytes:
    try:
        return pickle.dumps([pack_sample(sample) for sample in samples])
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        raise InvalidTrajectory(
            f"a sample cannot be sent to another process: {reason}; put plain data into it, or check without a deadline"
        ) from error


@dataclass(frozen=True, slots=True)
class _ObservingService(Service):
    """A reward on its way to a worker that observes its calls."""

    shipment: Shipment

    def open(self) -> "_ObservingHandler":
        return _ObservingHandler(RewardService(self.shipment).open().reward)


class _ObservingHandler:
    """Scores packed samples in a worker; the result has outputs and what was observed. For None it has the state."""

    in_order = False

    def __init__(self, reward: Any) -> None:
        self._reward = reward

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        packed = pickle.loads(body)
        if packed is None:
            return pickle.dumps(capture_state(self._reward))
        seen = observe_calls(self._reward, [unpack_sample(each) for each in packed], progress)
        outputs = pack_outputs([observation.output for observation in seen])
        return pickle.dumps((outputs, [(observation.fault, observation.changed) for observation in seen]))
