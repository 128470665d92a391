"""Give trajectories the ground truths that a caller passes beside them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit.trajectory import Trajectory

__all__ = ["with_truths"]


def with_truths(
    trajectories: Sequence[Trajectory], ground_truths: Sequence[Any] | None, *, unwrap: bool = True
) -> list[Trajectory]:
    """The trajectories with these ground truths; those that are trajectories `unwrap` to what they say.

    One each, or one per group in the order of the groups, as a sampler's several responses to each prompt come.
    """
    if ground_truths is None:
        return list(trajectories)
    truths = _one_each(trajectories, ground_truths)
    return [
        msgspec.structs.replace(trajectory, ground_truth=_truth(truth) if unwrap else truth)
        for trajectory, truth in zip(trajectories, truths, strict=True)
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
    if not isinstance(truth, Trajectory):
        return truth
    return truth.response if truth.ground_truth is None else truth.ground_truth
