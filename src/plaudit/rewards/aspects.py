"""Reward several qualities at once: correctness, relevance, clarity, conciseness.

Style can outweigh a wrong answer here, as 0.6 of the weight is style; gate it on correctness where that must not be.
"""

from dataclasses import dataclass, field

from plaudit.checks.quality import evaluate_clarity, evaluate_conciseness, evaluate_relevance
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidReward
from plaudit.rewards.answer import CheckAnswerReward
from plaudit.rewards.settings import check_number, set_field
from plaudit.trajectory import Trajectory

__all__ = ["MultiAspectReward"]

ASPECTS = ("correctness", "relevance", "clarity", "conciseness")


@dataclass(frozen=True, repr=False)
class MultiAspectReward(RewardFunction):
    """0.4 · correctness + 0.3 · relevance + 0.2 · clarity + 0.1 · conciseness, or with weights of your own."""

    correctness: float = 0.4
    relevance: float = 0.3
    clarity: float = 0.2
    conciseness: float = 0.1
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ASPECTS:
            check_number(f"the weight of {name}", getattr(self, name), least=0)
        total = sum(getattr(self, name) for name in ASPECTS)
        if not total:
            raise InvalidReward("MultiAspectReward needs a weight above 0")
        set_field(self, "bounds", (0.0, float(total)))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        correctness = CheckAnswerReward().compute_reward(trajectory)
        if not correctness.ok:
            return correctness
        response = trajectory.response
        components = {
            "correctness": correctness,
            "relevance": RewardOutput(evaluate_relevance(response, trajectory.prompt_text)),
            "clarity": RewardOutput(evaluate_clarity(response)),
            "conciseness": RewardOutput(evaluate_conciseness(response)),
        }
        value = sum(getattr(self, name) * (part.reward or 0.0) for name, part in components.items())
        reason = ", ".join(f"{name} {part.reward:.2f}" for name, part in components.items())
        return RewardOutput(value, score=correctness.score, reason=reason, components=components)
