"""A bonus for reasoning in steps and a price on made-up content, as far as a response alone shows either.

Both rest on heuristics (`plaudit.checks`): steps are known by their form, made-up content by false arithmetic alone.
Keep the amounts small.
"""

from dataclasses import dataclass

from plaudit.checks import has_hallucination, has_reasoning_steps
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

__all__ = ["HallucinationPenalty", "ReasoningBonus"]


@dataclass(frozen=True, repr=False)
class ReasoningBonus(RewardFunction):
    """`amount` when the response reasons in steps, else 0."""

    amount: float = 0.1

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        reasons = has_reasoning_steps(trajectory.response)
        return RewardOutput(
            self.amount if reasons else 0.0, reason="reasons in steps" if reasons else "no reasoning steps"
        )


@dataclass(frozen=True, repr=False)
class HallucinationPenalty(RewardFunction):
    """−`amount` when the response shows signs of made-up content, which is false arithmetic, else 0."""

    amount: float = 0.2

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        suspect = has_hallucination(trajectory.response)
        return RewardOutput(
            -self.amount if suspect else 0.0,
            reason="signs of made-up content" if suspect else "no signs of made-up content",
        )
