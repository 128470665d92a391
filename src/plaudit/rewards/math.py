"""Reward the right answer to a problem, as `plaudit.verify.math` decides it.

A sample whose ground truth is missing or cannot be read is not scored: that is never the model's fault. "2+2" does not
answer a problem whose answer is 4, since copying the problem would; a policy can allow it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.checks.correctness import PARTIAL_TOLERANCE, POLICY
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.rules import Bounds
from plaudit.rewards.settings import check_number, set_field
from plaudit.rewards.truth import judged
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathPolicy, MathVerdict, VerdictStatus
from plaudit.verify.math.distance import is_within
from plaudit.verify.math.switches import policy_of

__all__ = ["MathReward"]


@dataclass(frozen=True, repr=False)
class MathReward(RewardFunction):
    """1.0 for the right final answer, 0.0 for a wrong one, `no_answer` (0.0, or −0.5 as in OpenRLHF) for none.

    `partial` is earned within 10 % of a numeric truth, without a score (0.5 as in Agent-Tunix). `policy` is a
    MathPolicy or some of its switches, such as {"units": "ignore"}.
    """

    no_answer: float = 0.0
    partial: float = 0.0
    policy: MathPolicy | Mapping[str, Any] = POLICY
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_number("no_answer", self.no_answer)
        check_number("partial", self.partial, least=0)
        values = (0.0, 1.0, float(self.no_answer), float(self.partial))
        set_field(self, "bounds", (min(values), max(values)))
        if not isinstance(self.policy, MathPolicy):
            set_field(self, "policy", policy_of(self.policy, POLICY))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        policy = self.policy
        return judged(trajectory, self._scored, policy if isinstance(policy, MathPolicy) else POLICY)

    def _scored(self, verdict: MathVerdict) -> RewardOutput:
        if verdict.status is VerdictStatus.NO_ANSWER:
            return RewardOutput(float(self.no_answer), score=0.0, reason=verdict.reason)
        if self.partial and not verdict.correct and is_within(verdict, PARTIAL_TOLERANCE):
            return RewardOutput(float(self.partial), score=0.0, reason=f"{verdict.reason}, but within 10 %")
        return RewardOutput(float(verdict.correct), score=float(verdict.correct), reason=verdict.reason)
