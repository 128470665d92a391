"""A sample with its result, and how a result is told of a sample."""

from typing import NamedTuple

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Trajectory

__all__ = ["Scored", "named"]


class Scored(NamedTuple):
    """A trajectory and what the reward said about it."""

    trajectory: Trajectory
    output: RewardOutput


def named(output: RewardOutput, trajectory: Trajectory, place: int) -> RewardOutput:
    """The output, its reason beginning with the sample where it was not scored."""
    if output.status is Status.OK:
        return output
    return msgspec.structs.replace(output, reason=f"{trajectory.named(place)}: {output.reason}")
