"""Reward the right answer to a problem, as `plaudit.verify.math` decides it.

A sample whose ground truth is missing or cannot be read is not scored: that is never the model's fault. "2+2" does not
answer a problem whose answer is 4, since copying the problem would; a policy can allow it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from plaudit.checks.correctness import PARTIAL_TOLERANCE, POLICY, check_numbers
from plaudit.contract.failures import describe_unusable
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Bounds
from plaudit.errors import InvalidTrajectory
from plaudit.settings import check_number, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify import MathPolicy, MathVerdict, VerdictStatus, verify_math
from plaudit.verify.math.numeric import is_within
from plaudit.verify.math.policy import policy_from_switches
from plaudit.verify.rows import need_truth

MAX_LISTED = 20  # extracted numbers kept in the metadata
MAX_NUMBER = 2**53  # larger ones are kept as text: JSON readers lose their last digits


@dataclass(frozen=True, repr=False)
class MathReward(RewardFunction):
    """1.0 for the right final answer, 0.0 for a wrong one, `no_answer` (0.0, or −0.5 as in OpenRLHF) for none.

    `partial` is earned within `tolerance` of a numeric truth (0.1 is 10 % of it), without a score; with `partial=1.0`
    such an answer counts as right. `policy` is a MathPolicy or some of its switches, such as {"units": "ignore"}.
    """

    deterministic = True
    pure = True
    needs_ground_truth = True

    no_answer: float = 0.0
    partial: float = 0.0
    policy: MathPolicy | Mapping[str, Any] = POLICY
    tolerance: float = float(PARTIAL_TOLERANCE)
    bounds: Bounds | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_number("no_answer", self.no_answer)
        check_number("partial", self.partial, least=0)
        check_number("tolerance", self.tolerance, least=0)
        values = (0.0, 1.0, float(self.no_answer), float(self.partial))
        set_field(self, "bounds", (min(values), max(values)))
        if not isinstance(self.policy, MathPolicy):
            set_field(self, "policy", policy_from_switches(self.policy, POLICY))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        policy = self.policy
        return verify_response(trajectory, self._score, policy if isinstance(policy, MathPolicy) else POLICY)

    def _score(self, verdict: MathVerdict) -> RewardOutput:
        if verdict.status is VerdictStatus.NO_ANSWER:
            return RewardOutput(float(self.no_answer), score=0.0, reason=verdict.reason)
        if self.partial and not verdict.correct and is_within(verdict, Fraction(str(self.tolerance))):
            reason = f"{verdict.reason}, but within {100 * self.tolerance:g} %"
            return RewardOutput(float(self.partial), score=float(self.partial >= 1.0), reason=reason)
        return RewardOutput(float(verdict.correct), score=float(verdict.correct), reason=verdict.reason)


@dataclass(frozen=True, repr=False)
class CheckNumbersReward(RewardFunction):
    """The share of expected numbers given in answer position, less when more are offered than were asked for.

    The ground truth is a number or a list of numbers. The metadata has `extracted` and `matches`, as `check_numbers`
    returns them.
    """

    bounds = (0.0, 1.0)
    deterministic = True
    pure = True
    needs_ground_truth = True

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return require_truth(trajectory, self._score)

    def _score(self, trajectory: Trajectory) -> RewardOutput:
        check = check_numbers(trajectory.response, trajectory.ground_truth)
        numbers = check["extracted"][:MAX_LISTED]
        matches = f"{sum(check['matches'])} of {len(check['matches'])} expected numbers"
        reason = f"{matches} among {', '.join(str(number)[:40] for number in numbers) or 'none'}"
        metadata = {
            "extracted": [number if abs(number) < MAX_NUMBER else str(number)[:40] for number in numbers],
            "matches": check["matches"],
        }
        return RewardOutput(check["score"], score=check["score"], reason=reason, metadata=metadata)


def verify_response(
    trajectory: Trajectory, score: Callable[[MathVerdict], RewardOutput], policy: MathPolicy = POLICY
) -> RewardOutput:
    """The output for the verdict on the response, or an unscored one with the fault of the ground truth."""

    def verify(sample: Trajectory) -> RewardOutput:
        verdict = verify_math(sample.ground_truth, sample.response, policy, prompt=sample.prompt_text)
        if verdict.status is VerdictStatus.UNPARSED_TRUTH:
            return RewardOutput.unscored(Status.UNPARSED, verdict.reason)
        return score(verdict)

    return require_truth(trajectory, verify)


def require_truth(trajectory: Trajectory, score: Callable[[Trajectory], RewardOutput]) -> RewardOutput:
    """The output for a trajectory that has a ground truth, or an unscored one where it has none that can be used."""
    try:
        need_truth(trajectory)
        return score(trajectory)
    except InvalidTrajectory as error:  # the checks say so when they cannot use the truth
        return describe_unusable(error)
