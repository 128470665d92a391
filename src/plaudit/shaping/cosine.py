"""Pay for brevity along half a cosine, clamped at the limit.

Without the clamp the cosine comes back: a response of twice the limit would be paid in full again. An empty response
is the shortest of all and earns the low end, or silence would be the best answer.
"""

import math
from dataclasses import dataclass

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidReward
from plaudit.shaping.length import LengthUnit, length_of
from plaudit.trajectory import Trajectory

__all__ = ["CosineLength"]


@dataclass(frozen=True, repr=False)
class CosineLength(RewardFunction):
    """`high` for the shortest responses, falling along a cosine to `low` at `limit` and beyond."""

    limit: int
    low: float = 0.0
    high: float = 1.0
    unit: LengthUnit = "word"

    def __post_init__(self) -> None:
        if self.limit < 1 or self.low > self.high:
            raise InvalidReward(
                f"need limit >= 1 and low <= high, got limit={self.limit}, low={self.low}, high={self.high}"
            )
        object.__setattr__(self, "bounds", (self.low, self.high))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        if not trajectory.response.strip():
            return RewardOutput(self.low, reason="empty response")
        done = min(length / self.limit, 1.0)
        value = self.low + 0.5 * (self.high - self.low) * (1.0 + math.cos(math.pi * done))
        return RewardOutput(value, reason=f"{length} of {self.limit} {self.unit}s")
