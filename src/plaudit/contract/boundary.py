"""The scoring boundary: the one place where an exception becomes a status.

Every way a reward can be written (one sample, a batch, trajectories with ground truths, sync or async) is called from
here, and whatever it returns or raises leaves as one checked `RewardOutput` per sample. When a batch call raises, its
samples are tried one by one, so that a bad sample stops nobody else.
"""

import enum
import inspect
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from math import inf, isfinite
from pathlib import PurePath
from typing import Any, Protocol

import msgspec

from plaudit.contract.alignment import check_lengths
from plaudit.contract.calling import PendingCall, await_calls, run_awaitable
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.contract.plain_samples import PlainSamples
from plaudit.errors import InvalidOutput, PlauditError
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = [
    "DescribedFailure",
    "Scorable",
    "Style",
    "as_output",
    "attempt",
    "score_each",
    "score_plainly",
    "score_samples",
]

MAX_REASON = 500


class Style(enum.Enum):
    """What a reward wants to be called with."""

    SAMPLE = "compute_reward(trajectory)"
    BATCH = "compute_rewards(trajectories)"
    PAIRED = "__call__(trajectories, ground_truths)"


class Scorable(Protocol):
    """What the boundary needs to know of a reward."""

    name: str
    scope: Scope
    style: Style
    concurrency: int

    def compute_reward(self, trajectory: Trajectory) -> Any: ...
    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any: ...
    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any: ...


class PlainlyScorable(Scorable, Protocol):
    """A reward that may be able to do without trajectories."""

    def call_plainly(self, samples: PlainSamples) -> Iterator[Any] | None: ...


class DescribedFailure(Exception):
    """A failure that became an output where it happened, in another process."""

    def __init__(self, output: RewardOutput) -> None:
        super().__init__(output.reason)
        self.output = output


def score_samples(reward: Scorable, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
    """One output per trajectory, in order; never raises because of a reward."""
    results = _call_reward(reward, trajectories)
    if any(isinstance(result, PendingCall) for result in results):
        results = run_awaitable(await_calls(results, reward.concurrency))
    return results if reward.style is Style.SAMPLE else _in_order(reward, results, trajectories)


def score_each(reward: Scorable, trajectories: Iterable[Trajectory]) -> Iterator[RewardOutput]:
    """`score_samples` of a reward that takes samples one by one: each output as soon as it is there."""
    return _call_each(reward, trajectories, lambda pending: run_awaitable(pending.finish()))


def score_plainly(
    reward: PlainlyScorable,
    trajectories: Sequence[Trajectory],
    done: "list[int] | memoryview[int]",
    due: float = inf,
) -> list[RewardOutput | float]:
    """`score_each` for those who want no more than numbers: where a reward says no more, they get its number.

    `done[0]` is how many samples are done, at any moment: who finds this process lost knows which sample it was at.
    Ends early, with at least one output, behind the sample that ends later than `due` (of `time.monotonic`).
    """
    values = reward.call_plainly(trajectories) if isinstance(trajectories, PlainSamples) else None
    if values is None:
        trajectories = list(trajectories)
        values = map(reward.compute_reward, trajectories)
    outputs: list[RewardOutput | float] = []
    add, take, clock, first = outputs.append, values.__next__, time.monotonic, done[0]
    for done[0] in range(first, first + len(trajectories)):
        try:  # around what is the sample's: what a timer raises between two samples is neither's, and moves no number
            value = take()
            if type(value) is not float or not isfinite(value):
                value = _checked(value, trajectories[len(outputs)])
        except (Exception, SystemExit) as error:
            value = _describe_failure(reward.name, error)
        add(value)
        if clock() > due:
            break
    done[0] = first + len(outputs)
    return outputs


def _checked(value: Any, trajectory: Trajectory) -> RewardOutput:
    return as_output(run_awaitable(value) if inspect.isawaitable(value) else value, trajectory)


async def attempt(name: str, call: Callable[[], Any]) -> Any:
    """What a call gives, awaited where it must be; where it raises, an output with a status and the reason."""
    began = time.perf_counter()
    try:
        given = call()
        return await given if inspect.isawaitable(given) else given
    except DescribedFailure as failure:
        return failure.output
    except (Exception, SystemExit) as error:
        return _describe_failure(name, error, time.perf_counter() - began)


def as_output(value: Any, trajectory: Trajectory, seconds: float | None = None) -> RewardOutput:
    """What a reward returned for one sample after so many seconds, as a checked output."""
    if type(value) is float:
        return RewardOutput(value, latency_s=seconds)
    if value is None:
        return RewardOutput(None, status=Status.SKIPPED, reason="the reward returned None", latency_s=seconds)
    if isinstance(value, RewardOutput):
        check_lengths(value, trajectory)
        unchanged = seconds is None or value.latency_s is not None
        return value if unchanged else msgspec.structs.replace(value, latency_s=seconds)
    return RewardOutput(as_number("reward", value), latency_s=seconds)


def _call_reward(reward: Scorable, trajectories: Sequence[Trajectory]) -> list[Any]:
    """Call the reward: an output per sample, or a list of outputs per batch; a pending call where it is async."""
    if reward.style is Style.SAMPLE:
        return list(_call_each(reward, trajectories, lambda pending: pending))
    return [_batch(reward, [trajectories[place] for place in places]) for places in _batches(reward, trajectories)]


def _batches(reward: Scorable, trajectories: Sequence[Trajectory]) -> list[list[int]]:
    """The places that are scored together."""
    if reward.scope != "group":
        return [list(range(len(trajectories)))] if trajectories else []
    groups: dict[str | int, list[int]] = {}
    for place, trajectory in enumerate(trajectories):
        groups.setdefault(trajectory.group_key, []).append(place)
    return list(groups.values())


def _in_order(reward: Scorable, batches: list[Any], trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
    """The outputs of batches in the order of the samples."""
    by_place: dict[int, RewardOutput] = {}
    for places, outputs in zip(_batches(reward, trajectories), batches, strict=True):
        by_place.update(zip(places, outputs, strict=True))
    return [by_place[place] for place in range(len(trajectories))]


def _call_each(
    reward: Scorable, trajectories: Iterable[Trajectory], take: Callable[[PendingCall], Any]
) -> Iterator[Any]:
    """The output of each sample, one after the other; of an async reward, what `take` makes of the pending call.

    Every sample passes here, so that a quick reward costs little more than itself: no call that can be spared.
    """
    compute, clock = reward.compute_reward, time.perf_counter
    for trajectory in trajectories:
        pending, began = None, clock()
        try:
            value = compute(trajectory)
            if type(value) is float:
                output = RewardOutput(value, latency_s=clock() - began)
            elif inspect.isawaitable(value):
                pending = PendingCall(value, partial(_await_sample, reward, value, trajectory))
            else:
                output = as_output(value, trajectory, clock() - began)
        except (Exception, SystemExit) as error:
            output = _describe_failure(reward.name, error, clock() - began)
        yield output if pending is None else take(pending)


async def _await_sample(reward: Scorable, value: Awaitable[Any], trajectory: Trajectory) -> RewardOutput:
    began = time.perf_counter()
    try:
        return as_output(await value, trajectory, time.perf_counter() - began)
    except (Exception, SystemExit) as error:
        return _describe_failure(reward.name, error, time.perf_counter() - began)


def _batch(reward: Scorable, batch: Sequence[Trajectory]) -> list[RewardOutput] | PendingCall:
    began = time.perf_counter()
    try:
        values = _call(reward, batch)
        if inspect.isawaitable(values):
            return PendingCall(values, partial(_await_batch, reward, values, batch))
    except (Exception, SystemExit) as error:
        if len(batch) > 1 and reward.scope == "sample":
            return _one_by_one(reward, batch)
        return [_describe_failure(reward.name, error, time.perf_counter() - began)] * len(batch)
    return _spread(reward, values, batch, time.perf_counter() - began)


def _one_by_one(reward: Scorable, batch: Sequence[Trajectory]) -> list[RewardOutput]:
    outputs: list[RewardOutput] = []
    for trajectory in batch:
        part = _batch(reward, [trajectory])
        outputs += part if isinstance(part, list) else run_awaitable(part.finish())
    return outputs


async def _await_batch(reward: Scorable, values: Awaitable[Any], batch: Sequence[Trajectory]) -> list[RewardOutput]:
    began = time.perf_counter()
    try:
        returned = await values
    except (Exception, SystemExit) as error:
        if len(batch) > 1 and reward.scope == "sample":
            singly = [_batch(reward, [trajectory]) for trajectory in batch]
            return [output for outputs in await await_calls(singly, reward.concurrency) for output in outputs]
        return [_describe_failure(reward.name, error, time.perf_counter() - began)] * len(batch)
    return _spread(reward, returned, batch, time.perf_counter() - began)


def _call(reward: Scorable, batch: Sequence[Trajectory]) -> Any:
    if reward.style is Style.PAIRED:
        return reward(batch, [trajectory.ground_truth for trajectory in batch])
    return reward.compute_rewards(batch)


def _spread(reward: Scorable, values: Any, batch: Sequence[Trajectory], elapsed: float) -> list[RewardOutput]:
    """The values of a batch call, each checked on its own."""
    try:
        listed = list(values)
        if len(listed) != len(batch):
            raise InvalidOutput(f"it returned {len(listed)} values for {len(batch)} samples; give one per sample")
    except Exception as error:
        return [_describe_failure(reward.name, error, elapsed)] * len(batch)
    seconds = elapsed / len(batch)
    outputs = []
    for value, trajectory in zip(listed, batch, strict=True):
        try:
            outputs.append(as_output(value, trajectory, seconds))
        except InvalidOutput as error:
            outputs.append(_describe_failure(reward.name, error, seconds))
    return outputs


def _describe_failure(name: str, error: BaseException, seconds: float | None = None) -> RewardOutput:
    where = ""
    if isinstance(error, PlauditError):  # says already what is wrong and what to do
        reason = f"{name}: {error}"
    else:
        reason = f"{name} raised {type(error).__name__}: {_words(error)}"
        if frames := traceback.extract_tb(error.__traceback__):
            where = f" (at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}){_remedy(error)}"
    reason = reason[: MAX_REASON - len(where)] + where
    status = Status.MEMORY if isinstance(error, MemoryError) else Status.ERROR
    return RewardOutput(None, status=status, reason=reason, latency_s=seconds)


def _remedy(error: BaseException) -> str:
    """What to do about a path of the author's own machine."""
    folder = os.path.dirname(str(error.filename)) if isinstance(error, FileNotFoundError) and error.filename else ""
    if not folder or os.path.isdir(folder):
        return ""
    return f"; there is no folder {folder} on this machine: make it, or change the path in the reward's file"


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception may fail even at saying what it is
        return "(no message)"
