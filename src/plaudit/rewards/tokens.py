"""Reward single words: every good one earns its amount at the place where it stands.

Pays for every use, as documented, so it is for shaping, not for judging; `once=True` pays the first use only, and a
response of ten words or more that consists mostly of good words earns nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.rewards.keyword import is_flood
from plaudit.rewards.settings import check_number, set_field, texts
from plaudit.trajectory import Trajectory

__all__ = ["WordReward"]


@dataclass(frozen=True, repr=False)
class WordReward(RewardFunction):
    """`amount` for every word of `response.split()` that is in `good_tokens`; the rewards of the words are kept."""

    good_tokens: Sequence[str]
    amount: float = 0.1
    once: bool = False

    def __post_init__(self) -> None:
        set_field(self, "good_tokens", texts("good_tokens", self.good_tokens))
        check_number("amount", self.amount)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        spoken = trajectory.response.split()
        good = [word in self.good_tokens for word in spoken]
        if is_flood(sum(good), len(spoken)):
            return RewardOutput(0.0, token_rewards=[0.0] * len(spoken), reason="mostly good words")
        if self.once:
            first = {word: place for place, word in reversed(list(enumerate(spoken)))}
            good = [is_good and first[spoken[place]] == place for place, is_good in enumerate(good)]
        values = [self.amount if is_good else 0.0 for is_good in good]
        return RewardOutput(sum(values), token_rewards=values, reason=f"{sum(good)} of {len(spoken)} words are good")
