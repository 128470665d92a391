"""A sample with its result."""

from typing import NamedTuple

from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

__all__ = ["Scored"]


class Scored(NamedTuple):
    """A trajectory and what the reward said about it."""

    trajectory: Trajectory
    output: RewardOutput
