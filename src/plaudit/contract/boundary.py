"""The scoring boundary: the one place where an exception becomes a status.

Every way a reward can be written (one sample, a batch, trajectories with ground truths, sync or async) is called from
here, and whatever it returns or raises leaves as one checked `RewardOutput` per sample. When a batch call raises, its
samples are tried one by one, so that a bad sample stops nobody else.
"""

import asyncio
import enum
import inspect
import time
import traceback
from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec

from plaudit.contract.alignment import check_lengths
from plaudit.contract.output import RewardOutput, Status, as_number
from plaudit.errors import InvalidOutput, PlauditError
from plaudit.normalize import Scope
from plaudit.trajectory import Trajectory

__all__ = ["Evaluable", "Style", "as_output", "complete", "evaluate", "evaluate_async"]

MAX_REASON = 500
T = TypeVar("T")


class Style(enum.Enum):
    """What a reward wants to be called with."""

    SAMPLE = "compute_reward(trajectory)"
    BATCH = "compute_rewards(trajectories)"
    PAIRED = "__call__(trajectories, ground_truths)"


class Evaluable(Protocol):
    """What the boundary needs to know of a reward."""

    name: str
    scope: Scope
    style: Style
    concurrency: int

    def compute_reward(self, trajectory: Trajectory) -> Any: ...
    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any: ...
    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any: ...


Pending: TypeAlias = Coroutine[Any, Any, list[RewardOutput]]


def evaluate(reward: Evaluable, trajectories: Sequence[Trajectory], *, first: int | None = None) -> list[RewardOutput]:
    """One output per trajectory, in order; never raises because of a reward.

    With `first`, the place of the first trajectory in the run, the reason of what was not scored names its sample.
    """
    parts = _start(reward, trajectories)
    if any(not isinstance(part, list) for _, part in parts):
        parts = complete(_finish(parts, reward.concurrency))
    return _in_order(parts, trajectories, first)


async def evaluate_async(
    reward: Evaluable, trajectories: Sequence[Trajectory], *, first: int | None = None
) -> list[RewardOutput]:
    """`evaluate` for callers that already run an event loop."""
    parts = await _finish(_start(reward, trajectories), reward.concurrency)
    return _in_order(parts, trajectories, first)


def complete(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end from synchronous code, even where an event loop is already running."""

    async def awaited() -> T:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(awaited())
    with ThreadPoolExecutor(1, "plaudit-async") as pool:
        return pool.submit(asyncio.run, awaited()).result()


def as_output(value: Any, trajectory: Trajectory) -> RewardOutput:
    """What a reward returned for one sample, as a checked output."""
    if type(value) is float:
        return RewardOutput(value)
    if value is None:
        return RewardOutput.unscored(Status.SKIPPED, "the reward returned None")
    if isinstance(value, RewardOutput):
        check_lengths(value, trajectory)
        return value
    return RewardOutput(as_number("reward", value))


Part: TypeAlias = tuple[list[int], list[RewardOutput] | Pending]


def _start(reward: Evaluable, trajectories: Sequence[Trajectory]) -> list[Part]:
    if reward.style is Style.SAMPLE:
        return [([place], _sample(reward, trajectory)) for place, trajectory in enumerate(trajectories)]
    if reward.scope == "group":
        groups: dict[str | int, list[int]] = {}
        for place, trajectory in enumerate(trajectories):
            groups.setdefault(trajectory.group_key, []).append(place)
        return [(places, _batch(reward, [trajectories[place] for place in places])) for places in groups.values()]
    return [(list(range(len(trajectories))), _batch(reward, trajectories))] if trajectories else []


async def _finish(parts: list[Part], concurrency: int) -> list[Part]:
    free = asyncio.Semaphore(concurrency)

    async def finished(part: list[RewardOutput] | Pending) -> list[RewardOutput]:
        if isinstance(part, list):
            return part
        async with free:
            return await part

    outputs = await asyncio.gather(*(finished(part) for _, part in parts))
    return [(places, output) for (places, _), output in zip(parts, outputs, strict=True)]


def _in_order(parts: list[Part], trajectories: Sequence[Trajectory], first: int | None) -> list[RewardOutput]:
    ordered: list[Any] = [None] * len(trajectories)
    for places, outputs in parts:
        assert isinstance(outputs, list)
        for place, output in zip(places, outputs, strict=True):
            ordered[place] = output
            if first is not None and output.status is not Status.OK:
                reason = f"{trajectories[place].named(first + place)}: {output.reason}"
                ordered[place] = msgspec.structs.replace(output, reason=reason)
    return ordered


def _sample(reward: Evaluable, trajectory: Trajectory) -> list[RewardOutput] | Pending:
    began = time.perf_counter()
    try:
        value = reward.compute_reward(trajectory)
        if type(value) is not float and inspect.isawaitable(value):
            return _awaited_sample(reward, value, trajectory)
        output = as_output(value, trajectory)
    except (Exception, SystemExit) as error:
        output = _failed(reward, error)
    return [_timed(output, time.perf_counter() - began)]


async def _awaited_sample(reward: Evaluable, value: Awaitable[Any], trajectory: Trajectory) -> list[RewardOutput]:
    began = time.perf_counter()
    try:
        output = as_output(await value, trajectory)
    except (Exception, SystemExit) as error:
        output = _failed(reward, error)
    return [_timed(output, time.perf_counter() - began)]


def _batch(reward: Evaluable, batch: Sequence[Trajectory]) -> list[RewardOutput] | Pending:
    began = time.perf_counter()
    try:
        values = _call(reward, batch)
        if inspect.isawaitable(values):
            return _awaited_batch(reward, values, batch)
    except (Exception, SystemExit) as error:
        if len(batch) > 1 and reward.scope == "sample":
            return _one_by_one(reward, batch)
        return [_failed(reward, error)] * len(batch)
    return _spread(reward, values, batch, time.perf_counter() - began)


def _one_by_one(reward: Evaluable, batch: Sequence[Trajectory]) -> list[RewardOutput]:
    outputs: list[RewardOutput] = []
    for trajectory in batch:
        part = _batch(reward, [trajectory])
        outputs += part if isinstance(part, list) else complete(part)
    return outputs


async def _awaited_batch(reward: Evaluable, values: Awaitable[Any], batch: Sequence[Trajectory]) -> list[RewardOutput]:
    began = time.perf_counter()
    try:
        settled = await values
    except (Exception, SystemExit) as error:
        if len(batch) > 1 and reward.scope == "sample":
            singly = [_awaited_batch(reward, _call(reward, [trajectory]), [trajectory]) for trajectory in batch]
            return [output for outputs in await asyncio.gather(*singly) for output in outputs]
        return [_failed(reward, error)] * len(batch)
    return _spread(reward, settled, batch, time.perf_counter() - began)


def _call(reward: Evaluable, batch: Sequence[Trajectory]) -> Any:
    if reward.style is Style.PAIRED:
        return reward(batch, [trajectory.ground_truth for trajectory in batch])
    return reward.compute_rewards(batch)


def _spread(reward: Evaluable, values: Any, batch: Sequence[Trajectory], elapsed: float) -> list[RewardOutput]:
    """The values of a batch call, each checked on its own."""
    try:
        listed = list(values)
        if len(listed) != len(batch):
            raise InvalidOutput(f"it returned {len(listed)} values for {len(batch)} samples; give one per sample")
    except Exception as error:
        return [_failed(reward, error)] * len(batch)
    outputs = []
    for value, trajectory in zip(listed, batch, strict=True):
        try:
            output = as_output(value, trajectory)
        except InvalidOutput as error:
            output = _failed(reward, error)
        outputs.append(_timed(output, elapsed / len(batch)))
    return outputs


def _timed(output: RewardOutput, seconds: float) -> RewardOutput:
    return output if output.latency_s is not None else msgspec.structs.replace(output, latency_s=seconds)


def _failed(reward: Evaluable, error: BaseException) -> RewardOutput:
    if isinstance(error, PlauditError):  # says already what is wrong and what to do
        return RewardOutput.unscored(Status.ERROR, f"{reward.name}: {error}"[:MAX_REASON])
    frames = traceback.extract_tb(error.__traceback__)
    where = f" (at {PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    reason = f"{reward.name} raised {type(error).__name__}: {_words(error)}"
    return RewardOutput.unscored(Status.ERROR, reason[: MAX_REASON - len(where)] + where)


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception may fail even at saying what it is
        return "(no message)"
