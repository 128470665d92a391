"""Reward an answer that comes close enough to a numeric truth.

The tolerance says what is right here, so the score follows it.
"""

from dataclasses import dataclass
from fractions import Fraction

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.settings import check_number
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathVerdict
from plaudit.verify.math.distance import is_within

__all__ = ["CloseMatchReward"]


@dataclass(frozen=True, repr=False)
class CloseMatchReward(RewardFunction):
    """1.0 when the final answer is within `tolerance` of the ground truth (0.1 is 10 % of it), else 0.0."""

    tolerance: float = 0.1

    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, least=0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, self._scored)

    def _scored(self, verdict: MathVerdict) -> RewardOutput:
        value = float(is_within(verdict, Fraction(str(self.tolerance))))
        near = f", but within {self.tolerance:.0%}" if value and not verdict.correct else ""
        return RewardOutput(value, score=value, reason=verdict.reason + near)
