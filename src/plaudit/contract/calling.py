"""Direct calls of rewards: ground truths beside trajectories, async methods from sync code, failures that raise."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from plaudit.columns import is_sample
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory, ScoringFailed
from plaudit.trajectory import Trajectory

_FAILURES = (Status.ERROR, Status.MEMORY, Status.TIMEOUT)


def await_value(value: Any) -> Any:
    """The return value of a method, awaited if it is async."""
    if not hasattr(type(value), "__await__"):
        return value
    from plaudit.contract.event_loop import run_awaitable  # noqa: PLC0415 - asyncio takes long to import

    return run_awaitable(value)


def are_samples(value: Any) -> bool:
    """Whether a value is a trajectory or a list of them, which may be dicts; an empty list is one of none."""
    if not isinstance(value, list | tuple):
        return isinstance(value, Trajectory)
    first = value[0] if value else None
    return not value or isinstance(first, Trajectory) or (isinstance(first, Mapping) and is_sample(first))


def raise_failures(trajectories: Sequence[Trajectory], outputs: Sequence[RewardOutput]) -> None:
    """Raise ScoringFailed for the first sample that failed, if any did."""
    failed = [index for index, output in enumerate(outputs) if output.status in _FAILURES]
    if failed:
        first, more = failed[0], f" (and {len(failed) - 1} more samples)" if len(failed) > 1 else ""
        raise ScoringFailed(
            f"{trajectories[first].label(first)}: {outputs[first].reason}{more}; "
            "plaudit.score(...) returns failures as data instead"
        )


def several(samples: Any) -> Iterable[Any]:
    """The samples unchanged; InvalidTrajectory with the remedy if this is a single one, or no collection at all."""
    if isinstance(samples, Mapping | str) or not isinstance(samples, Iterable):
        raise InvalidTrajectory(
            f"the samples must be a list of trajectories or dicts, got {type(samples).__name__}; "
            "put a single sample into a list"
        )
    return samples


def read_sample(sample: Any, index: int) -> Trajectory:
    """The trajectory in a dict with our column names or the usual ones of other systems; a trajectory unchanged."""
    if isinstance(sample, Trajectory):
        return sample
    if not isinstance(sample, Mapping):
        raise InvalidTrajectory(f"sample {index} must be a Trajectory or a dict, got {type(sample).__name__}")
    try:
        return Trajectory.from_dict(sample)
    except InvalidTrajectory as error:
        raise InvalidTrajectory(f"sample {index}: {error}") from None


def with_truths(
    trajectories: Sequence[Trajectory | Mapping[str, Any]], ground_truths: Sequence[Any] | None, *, unwrap: bool = True
) -> list[Trajectory]:
    """The trajectories with these ground truths; those that are trajectories `unwrap` to the truth they carry.

    Both may be dicts, as `Trajectory.from_dict` takes them. One each, or one per group in the order of the groups, as a
    sampler's several responses to each prompt come.
    """
    samples = [read_sample(each, index) for index, each in enumerate(several(trajectories))]
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
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    if None in numbers or len(numbers) != len(ground_truths):
        raise ValueError(f"{len(trajectories)} trajectories but {len(ground_truths)} ground truths; give one each")
    return [ground_truths[numbers[group]] for group in groups]


def _truth(truth: Any) -> Any:
    """A ground truth given as a trajectory is the truth it carries, or else its response."""
    if isinstance(truth, Mapping) and ("messages" in truth or {"prompt", "response"} <= truth.keys()):
        truth = Trajectory.from_dict(truth)
    if not isinstance(truth, Trajectory):
        return truth
    return truth.response if truth.ground_truth is None else truth.ground_truth
