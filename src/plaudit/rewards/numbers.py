"""Reward the numbers that were expected, each found in answer position.

The ground truth is a number or a list of numbers. Offering more final numbers than were asked for lowers the reward.
"""

from dataclasses import dataclass

from plaudit.checks.correctness import check_numbers
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.truth import with_truth
from plaudit.trajectory import Trajectory

__all__ = ["CheckNumbersReward"]

SHOWN = 20  # extracted numbers kept in the metadata


@dataclass(frozen=True, repr=False)
class CheckNumbersReward(RewardFunction):
    """The share of expected numbers that the response gives, less when it offers more than were asked for."""

    bounds = (0.0, 1.0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return with_truth(trajectory, _scored)


def _scored(trajectory: Trajectory) -> RewardOutput:
    check = check_numbers(trajectory.response, trajectory.ground_truth)
    found = [str(number)[:40] for number in check["extracted"][:SHOWN]]
    reason = f"{sum(check['matches'])} of {len(check['matches'])} expected numbers among {', '.join(found) or 'none'}"
    return RewardOutput(check["score"], score=check["score"], reason=reason, metadata={"extracted": found})
