"""Reward the right answer to a problem.

Numbers are compared exactly, anything else as normalised text; nothing is calculated yet. A sample whose ground truth
is missing or unusable is not scored: that is never the model's fault.
"""

from dataclasses import dataclass, field

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.rules import Bounds
from plaudit.rewards.settings import check_number, set_field
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.comparison import Judgement, Verdict

__all__ = ["MathReward"]


@dataclass(frozen=True, repr=False)
class MathReward(RewardFunction):
    """1.0 for the right final answer, 0.0 for a wrong one, `no_answer` (0.0, or −0.5 as in OpenRLHF) for none."""

    no_answer: float = 0.0
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_number("no_answer", self.no_answer)
        set_field(self, "bounds", (min(0.0, float(self.no_answer)), max(1.0, float(self.no_answer))))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return judged(trajectory, self._scored)

    def _scored(self, judgement: Judgement) -> RewardOutput:
        value = {Verdict.RIGHT: 1.0, Verdict.WRONG: 0.0, Verdict.NO_ANSWER: float(self.no_answer)}[judgement.verdict]
        return RewardOutput(value, score=float(judgement.is_right), reason=judgement.reason)
