"""Reward the right answer, and a near miss by half."""

from dataclasses import dataclass

from plaudit.checks.correctness import PARTIAL_TOLERANCE
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathVerdict
from plaudit.verify.math.distance import is_within

__all__ = ["CheckAnswerReward"]


@dataclass(frozen=True, repr=False)
class CheckAnswerReward(RewardFunction):
    """1.0 for the right final answer, 0.5 within 10 % of a numeric truth, else 0.0.

    The score is 1.0 only when the answer is right.
    """

    bounds = (0.0, 1.0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, _scored)


def _scored(verdict: MathVerdict) -> RewardOutput:
    if not verdict.correct and is_within(verdict, PARTIAL_TOLERANCE):
        return RewardOutput(0.5, score=0.0, reason=f"{verdict.reason}, but within 10 %")
    return RewardOutput(float(verdict.correct), score=float(verdict.correct), reason=verdict.reason)
