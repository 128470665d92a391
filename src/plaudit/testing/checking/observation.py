"""Score samples and keep what the reward itself did: returned, raised, or returned the wrong number of values.

The scoring boundary turns all three into an output; a checker has to tell them apart. The samples are copied first, so
that a reward that changes them spoils no later check.
"""

import contextlib
import copy
import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from types import TracebackType
from typing import Any, TypeAlias

import msgspec

from plaudit.contract.boundary import score_samples
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidOutput
from plaudit.testing.checking.findings import Rule
from plaudit.trajectory import Trajectory

__all__ = ["Announce", "Observation", "Scoring", "announce_call", "announce_calls", "observe"]

Announce: TypeAlias = Callable[[Sequence[Trajectory], float], None]
"""Told before each call of the reward: the samples of the call, and the seconds it may take beyond their deadlines."""
_announce: ContextVar[Announce] = ContextVar("announce", default=lambda trajectories, extra_s: None)


@contextmanager
def announce_calls(announce: Announce) -> Iterator[None]:
    """Report every call of a reward while the block runs."""
    token = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(token)


def announce_call(trajectories: Sequence[Trajectory], extra_s: float = 0.0) -> None:
    """Report that a reward is about to be called with some samples."""
    _announce.get()(trajectories, extra_s)


@dataclass(frozen=True, slots=True)
class Returned:
    """The reward gave this for the sample."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The call that the sample was part of raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Miscounted:
    """The call that the sample was part of did not give one value per sample."""


Act: TypeAlias = Returned | Raised | Miscounted


@dataclass(frozen=True, slots=True)
class Observation:
    """A sample, its output, and what the reward did to bring that about."""

    trajectory: Trajectory
    output: RewardOutput
    act: Act

    @property
    def fault(self) -> Rule | None:
        """The rule that a failure to score this sample breaks."""
        if self.output.status is not Status.ERROR:
            return None
        match self.act:
            case Miscounted():
                return Rule.ARITY
            case Raised(error) if not isinstance(error, InvalidOutput):
                return Rule.TOTAL
            case Returned(RewardOutput(status=Status.ERROR)):  # the reward itself says that it failed
                return Rule.TOTAL
        return Rule.FINITE

    @property
    def returned_none(self) -> bool:
        """True when the reward gave a bare None, as a function without `return` does."""
        return isinstance(self.act, Returned) and self.act.value is None


@dataclass(frozen=True, slots=True)
class Scoring:
    """What came of scoring some samples together."""

    observations: list[Observation]
    changed: list[Trajectory]
    """The samples that are not what they were before."""

    @property
    def outputs(self) -> list[RewardOutput]:
        return [observation.output for observation in self.observations]


def observe(reward: RewardFunction, samples: Sequence[Trajectory]) -> Scoring:
    """Score copies of the samples and record what the reward does."""
    batch = copy.deepcopy(list(samples))
    observer = _Observer(reward)
    announce_call(batch)
    outputs = score_samples(observer, batch)
    observations = [
        Observation(sample, output, observer.acts[id(scored)])
        for sample, output, scored in zip(samples, outputs, batch, strict=True)
    ]
    changed = [
        sample
        for sample, scored in zip(samples, batch, strict=True)
        if id(scored) in observer.rearranged or _is_changed(sample, scored)
    ]
    return Scoring(observations, changed)


def _is_changed(before: Trajectory, after: Trajectory) -> bool:
    """Whether a sample looks other than it did: 1 is not 1.0, a tuple no list, and NaN what it was.

    Looking at the texts of all values alone would tell, too, but takes most of the time of a check.
    """
    with contextlib.suppress(
        TypeError, ValueError, OverflowError, RecursionError
    ):  # not plain data, or half a character
        if msgspec.msgpack.encode(before) == msgspec.msgpack.encode(after) and before == after:
            return False
    return repr(before.to_dict()) != repr(after.to_dict())


class _Observer:
    """Stands in for a reward and records what it does for each sample."""

    def __init__(self, reward: RewardFunction) -> None:
        self.reward = reward
        self.name, self.scope = reward.name, reward.scope
        self.style, self.concurrency = reward.style, reward.concurrency
        self.acts: dict[int, Act] = {}
        self.rearranged: set[int] = set()

    def compute_reward(self, trajectory: Trajectory) -> Any:
        if not self.reward.is_async:  # async calls wait together: their deadlines are counted together
            announce_call([trajectory])
        with _RaisedRecorder(self, [trajectory]):
            value = self.reward.compute_reward(trajectory)
        return self._one_later(value, trajectory) if inspect.isawaitable(value) else self._one(value, trajectory)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        batch = _Batch(list(trajectories), trajectories)
        with _RaisedRecorder(self, batch.samples):
            values = self.reward.compute_rewards(trajectories)
        return self._many_later(values, batch) if inspect.isawaitable(values) else self._many(values, batch)

    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        batch = _Batch(list(trajectories), trajectories)
        with _RaisedRecorder(self, batch.samples):
            values: Any = self.reward(trajectories, ground_truths)
        return self._many_later(values, batch) if inspect.isawaitable(values) else self._many(values, batch)

    def _one(self, value: Any, trajectory: Trajectory) -> Any:
        self.acts[id(trajectory)] = Returned(value)
        return value

    async def _one_later(self, value: Awaitable[Any], trajectory: Trajectory) -> Any:
        with _RaisedRecorder(self, [trajectory]):
            awaited = await value
        return self._one(awaited, trajectory)

    def _many(self, values: Any, batch: "_Batch") -> Any:
        samples = batch.samples
        if batch.was_rearranged:
            self.rearranged.update(map(id, samples))
        try:
            each = iter(values)
        except TypeError:  # a single number: the boundary says so in words
            self.record(samples, Miscounted())
            return values
        with _RaisedRecorder(self, samples):
            values_list = list(each)
        if len(values_list) != len(samples):
            self.record(samples, Miscounted())
            return values_list
        return [self._one(value, trajectory) for value, trajectory in zip(values_list, samples, strict=True)]

    async def _many_later(self, values: Awaitable[Any], batch: "_Batch") -> Any:
        with _RaisedRecorder(self, batch.samples):
            awaited = await values
        return self._many(awaited, batch)

    def record(self, batch: Sequence[Trajectory], act: Act) -> None:
        self.acts.update((id(trajectory), act) for trajectory in batch)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The samples of one call, and the list that the reward was given, which it may have sorted or emptied."""

    samples: Sequence[Trajectory]
    given: Sequence[Trajectory]

    @property
    def was_rearranged(self) -> bool:
        return any(now is not before for now, before in zip_longest(self.given, self.samples))


@dataclass(frozen=True, slots=True)
class _RaisedRecorder:
    """Records what is raised inside, and lets it pass."""

    observer: _Observer
    batch: Sequence[Trajectory]

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None:
            self.observer.record(self.batch, Raised(error))
