"""Call rewards directly: ground truths beside trajectories, async methods from synchronous code, failures that raise.

asyncio is imported when something is first awaited: it would be a third of the time that `import plaudit` takes, and
most rewards are not async.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidOutput, ScoringFailed
from plaudit.trajectory import Trajectory

__all__ = [
    "PendingCall", "await_calls", "await_value", "raise_failures", "run_awaitable", "single_value", "with_truths",
]  # fmt: skip

T = TypeVar("T")
_SAMPLE_KEYS = frozenset({"response", "messages"})


@dataclass(frozen=True)
class PendingCall:
    """An async call that was made; `finish()` awaits what it returned and checks it."""

    returned: Awaitable[Any]
    finish: Callable[[], Awaitable[Any]]


def run_awaitable(awaitable: Awaitable[T]) -> T:
    """Run an awaitable to its end from synchronous code, even where an event loop is already running."""
    import asyncio  # noqa: PLC0415 - see the module's docstring
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - asyncio brings it along

    async def wait() -> T:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1, "plaudit-async") as pool:
        return pool.submit(asyncio.run, wait()).result()


async def await_calls(calls: list[Any], concurrency: int) -> list[Any]:
    """The results of pending calls, at most `concurrency` awaited at once; what is a result already stays."""
    import asyncio  # noqa: PLC0415 - see the module's docstring

    free = asyncio.Semaphore(concurrency)

    async def result(call: Any) -> Any:
        if not isinstance(call, PendingCall):
            return call
        async with free:
            return await call.finish()

    try:
        return await asyncio.gather(*map(result, calls))
    finally:
        for call in calls:  # an interrupt leaves some that were never awaited, and Python would warn of each
            if isinstance(call, PendingCall) and inspect.iscoroutine(call.returned):
                call.returned.close()


def await_value(value: Any) -> Any:
    """What a method returned, awaited where it is async."""
    return run_awaitable(value) if hasattr(value, "__await__") else value


def single_value(values: Any) -> Any:
    """The one value of a batch of one sample."""
    listed = list(values)
    if len(listed) != 1:
        raise InvalidOutput(f"it returned {len(listed)} values for 1 sample; give one per sample")
    return listed[0]


def are_samples(value: Any) -> bool:
    """Whether a value is a trajectory or a list of them, which may be dicts; an empty list is one of none."""
    if not isinstance(value, list | tuple):
        return isinstance(value, Trajectory)
    first = value[0] if value else None
    return (
        not value
        or isinstance(first, Trajectory)
        or (isinstance(first, Mapping) and not _SAMPLE_KEYS.isdisjoint(first))
    )


def raise_failures(trajectories: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> None:
    """Raise ScoringFailed for the first sample that failed, if any did."""
    failed = [place for place, output in enumerate(outputs) if output.status is Status.ERROR]
    if failed:
        first, more = failed[0], f" (and {len(failed) - 1} more samples)" if len(failed) > 1 else ""
        raise ScoringFailed(
            f"{trajectories[first].label(first)}: {outputs[first].reason}{more}; "
            "plaudit.score(...) returns failures as data instead"
        )


def with_truths(
    trajectories: Sequence[Trajectory | Mapping[str, Any]], ground_truths: Sequence[Any] | None, *, unwrap: bool = True
) -> list[Trajectory]:
    """The trajectories with these ground truths; those that are trajectories `unwrap` to the truth they carry.

    Both may be dicts, as `Trajectory.from_dict` takes them. One each, or one per group in the order of the groups, as a
    sampler's several responses to each prompt come.
    """
    samples = [Trajectory.from_dict(each) if isinstance(each, Mapping) else each for each in trajectories]
    if ground_truths is None:
        return samples
    truths = _one_each(samples, ground_truths)
    return [
        msgspec.structs.replace(sample, ground_truth=_truth(truth) if unwrap else truth)
        for sample, truth in zip(samples, truths, strict=True)
    ]


def _one_each(trajectories: Sequence[Trajectory], ground_truths: Sequence[Any]) -> Sequence[Any]:
    if len(trajectories) == len(ground_truths):
        return ground_truths
    groups = [trajectory.group for trajectory in trajectories]
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    if None in places or len(places) != len(ground_truths):
        raise ValueError(f"{len(trajectories)} trajectories but {len(ground_truths)} ground truths; give one each")
    return [ground_truths[places[group]] for group in groups]


def _truth(truth: Any) -> Any:
    """A ground truth given as a trajectory is the truth it carries, or else its response."""
    if isinstance(truth, Mapping) and ("messages" in truth or {"prompt", "response"} <= truth.keys()):
        truth = Trajectory.from_dict(truth)
    if not isinstance(truth, Trajectory):
        return truth
    return truth.response if truth.ground_truth is None else truth.ground_truth
