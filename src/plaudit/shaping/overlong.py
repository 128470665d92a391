"""Punish responses that run into the length limit, softly before it (DAPO, arXiv 2503.14476, section 3.4)."""

from dataclasses import dataclass

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidReward
from plaudit.shaping.length import LengthUnit, length_of
from plaudit.trajectory import Trajectory

__all__ = ["SoftOverlong"]


@dataclass(frozen=True, repr=False)
class SoftOverlong(RewardFunction):
    """0 up to limit − buffer, a straight line down to −1 at `limit`, −1 beyond."""

    limit: int
    buffer: int
    unit: LengthUnit = "token"

    bounds = (-1.0, 0.0)

    def __post_init__(self) -> None:
        if not 0 < self.buffer <= self.limit:
            raise InvalidReward(f"need 0 < buffer <= limit, got buffer={self.buffer}, limit={self.limit}")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        over = (length - (self.limit - self.buffer)) / self.buffer
        return RewardOutput(-min(1.0, max(0.0, over)), reason=f"{length} of at most {self.limit} {self.unit}s")
