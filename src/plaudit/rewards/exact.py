"""Reward an answer that is the truth: equal as a number, or the same text but for case and punctuation."""

from dataclasses import dataclass

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathVerdict

__all__ = ["ExactMatchReward"]


@dataclass(frozen=True, repr=False)
class ExactMatchReward(RewardFunction):
    """1.0 when the final answer is the ground truth, else 0.0."""

    bounds = (0.0, 1.0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, _scored)


def _scored(verdict: MathVerdict) -> RewardOutput:
    return RewardOutput(float(verdict.correct), score=float(verdict.correct), reason=verdict.reason)
