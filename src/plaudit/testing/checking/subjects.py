"""The reward that is checked: called in this process, or in a worker process with a deadline.

Scoring converts every failure to an output; a check has to distinguish them, and to see whether the reward changed its
samples. It observes the calls that scoring makes. The state of a reward between calls (attributes, closure variables,
module globals, default arguments) is compared by fingerprints.
"""

import contextlib
import functools
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.results import RETURNED_NONE, NotOnePerSample
from plaudit.contract.scoring import EndedCall, Progress, calls_one_sample, needs_loop, scope_of, score_samples
from plaudit.engine.reward_service import RewardService
from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidOutput, InvalidTrajectory
from plaudit.findings import Rule
from plaudit.processes.messages import pack_outputs, pack_sample, unpack_outputs, unpack_sample
from plaudit.processes.pool import Limits, Pool, PoolUnit
from plaudit.processes.worker import Service, UnitProgress
from plaudit.trajectory import Trajectory

_LOST = {Status.TIMEOUT: Rule.DEADLINE, Status.MEMORY: Rule.TOTAL}


class Observation(NamedTuple):
    """A sample, its output, and the effects of the call on the sample."""

    trajectory: Trajectory
    output: RewardOutput
    fault: Rule | None = None
    """The rule that a failure to score this sample breaks."""
    changed: bool = False
    """Whether the reward changed the sample that it was given."""

    @property
    def returned_none(self) -> bool:
        """Whether the reward returned a bare None, as a function without `return` does."""
        return self.output.status is Status.SKIPPED and self.output.reason == RETURNED_NONE


def observe_calls(reward: Any, samples: Sequence[Trajectory], progress: Progress) -> list[Observation]:
    """Score the samples and record what the reward does."""
    calls = _Calls(samples)
    progress.observer = calls.note
    outputs = score_samples(reward, samples, progress)
    return [
        Observation(sample, output, calls.fault(index, output), index in calls.changed)
        for index, (sample, output) in enumerate(zip(samples, outputs, strict=True))
    ]


class _Calls:
    """Faults and changes by the calls of a reward, by the indices of the samples."""

    def __init__(self, samples: Sequence[Trajectory]) -> None:
        self._samples = samples
        self._faults: dict[int, Rule] = {}
        self._unscored: set[int] = set()  # samples whose output, as the reward returned it, has no number
        self.changed: set[int] = set()

    def note(self, call: EndedCall) -> None:
        """Record a call; parts of a reward are called one after the other for the same sample."""
        shortened = len(call.copies) != len(call.samples)
        for number, (sample, output) in enumerate(zip(call.samples, call.outputs, strict=True)):
            indices = self._indices(sample)
            if call.error is not None or output.status is Status.ERROR:
                rule = _broken_rule(call, number)
                self._faults.update((index, rule) for index in indices if index not in self._faults)
            elif not output.ok:
                self._unscored.update(indices)
            if shortened or _is_changed(sample, call.copies[number]):
                self.changed.update(indices)

    def fault(self, index: int, output: RewardOutput) -> Rule | None:
        """The rule that a sample's output breaks."""
        if output.status is Status.ERROR:
            return self._faults.get(index, Rule.TOTAL)
        if output.status in _LOST and index not in self._unscored:
            return self._faults.get(index, _LOST[output.status])
        return None

    def _indices(self, sample: Trajectory) -> list[int]:
        """The indices of a sample; a part may have received the sample with another prompt."""
        same = [index for index, each in enumerate(self._samples) if each is sample]
        return same or [index for index, each in enumerate(self._samples) if each.response == sample.response]


def _broken_rule(call: EndedCall, number: int) -> Rule:
    if isinstance(call.error, NotOnePerSample):
        return Rule.ARITY
    if call.error is not None:
        return Rule.FINITE if isinstance(call.error, InvalidOutput) else Rule.TOTAL
    value = call.values[number]
    return Rule.TOTAL if isinstance(value, RewardOutput) and value.status is Status.ERROR else Rule.FINITE


def _is_changed(before: Trajectory, after: Trajectory) -> bool:
    """Whether a sample differs from what it was: 1 differs from 1.0 and a tuple from a list; NaN equals NaN.

    `repr` alone would do, but takes most of the time of a check.
    """
    with contextlib.suppress(TypeError, ValueError, OverflowError, RecursionError):  # no plain data, or lone surrogates
        if msgspec.msgpack.encode(before) == msgspec.msgpack.encode(after) and before == after:
            return False
    return repr(before.to_dict()) != repr(after.to_dict())


MAX_OVERRUNS = 3
TURN_S = 1.0
COMPANY = 3
NOT_TRIED = RewardOutput.unscored(Status.SKIPPED, f"the check stops after {MAX_OVERRUNS} calls that do not end")


class Subject(ABC):
    """A reward that is called and observed."""

    def __init__(self, reward: RewardFunction) -> None:
        self.reward, self._scope = reward, scope_of(reward)
        self.company: Sequence[Trajectory] = ()
        """Samples scored together with a single sample if the reward compares a batch or a group."""

    @abstractmethod
    def observe(self, samples: Sequence[Trajectory]) -> list[Observation]:
        """Score samples together."""

    @abstractmethod
    def capture_state(self) -> dict[str, bytes]:
        """The state of the reward by name; see `capture_state`."""

    def observe_one(self, sample: Trajectory) -> Observation:
        """Score one sample, together with a few others if the reward compares a batch or a group."""
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


_FOREIGN_TO_STATE = (ModuleType, type, staticmethod, classmethod, property)
_UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError, NotImplementedError)


def capture_state(reward: RewardFunction) -> dict[str, bytes]:
    """A fingerprint of everything the reward can remember with, by name."""
    if isinstance(reward, CompoundReward):
        return {f"{part.name}: {name}": mark for part in reward.parts for name, mark in capture_state(part).items()}
    held = dict(_attributes(reward))
    for function in _functions(reward):
        held.update(_variables(function))
    return {name: _fingerprint(value) for name, value in held.items()}


def find_changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """The names that are new or have another value."""
    return sorted(name for name, mark in after.items() if before.get(name) != mark)


def _attributes(reward: RewardFunction) -> Iterator[tuple[str, Any]]:
    for owner in (*_own_classes(reward), reward):
        for name, value in getattr(owner, "__dict__", {}).items():
            if not name.startswith("__") and not callable(value) and not isinstance(value, _FOREIGN_TO_STATE):
                yield name, value


def _functions(reward: RewardFunction) -> Iterator[Callable[..., Any]]:
    if isinstance(reward, FunctionReward):
        plain = reward.function.func if isinstance(reward.function, functools.partial) else reward.function
        yield from filter(inspect.isfunction, [inspect.unwrap(plain)])
    for owner in _own_classes(reward):
        yield from filter(inspect.isfunction, vars(owner).values())


def _own_classes(reward: RewardFunction) -> list[type]:
    return [
        owner for owner in type(reward).__mro__ if not owner.__module__.startswith(("plaudit.contract", "builtins"))
    ]


def _variables(function: Callable[..., Any]) -> dict[str, Any]:
    closed = inspect.getclosurevars(function)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty
    }
    return {
        name: value
        for name, value in {**closed.globals, **closed.nonlocals, **defaults}.items()
        if not inspect.isroutine(value) and not isinstance(value, _FOREIGN_TO_STATE)
    }


def _fingerprint(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except _UNPICKLABLE:
        return repr(value).encode(errors="surrogatepass")
