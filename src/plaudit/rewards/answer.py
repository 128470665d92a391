"""Reward the right answer, and a near miss by half."""

from dataclasses import dataclass

from plaudit.checks.correctness import PARTIAL_TOLERANCE
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.comparison import Judgement

__all__ = ["CheckAnswerReward"]


@dataclass(frozen=True, repr=False)
class CheckAnswerReward(RewardFunction):
    """1.0 for the right final answer, 0.5 within 10 % of a numeric truth, else 0.0.

    The score is 1.0 only when the answer is right.
    """

    bounds = (0.0, 1.0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, _scored)


def _scored(judgement: Judgement) -> RewardOutput:
    if not judgement.is_right and judgement.is_within(PARTIAL_TOLERANCE):
        return RewardOutput(0.5, score=0.0, reason=f"{judgement.reason}, but within 10 %")
    return RewardOutput(float(judgement.is_right), score=float(judgement.is_right), reason=judgement.reason)
