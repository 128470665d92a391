"""A price on words, and how every shaping term counts length.

Lengths count everything the model wrote, padding included: in a penalty that is the safe side.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidReward, InvalidTrajectory
from plaudit.trajectory import Trajectory

__all__ = ["LengthPenalty", "LengthUnit", "length_of"]

LengthUnit: TypeAlias = Literal["word", "token"]


def length_of(trajectory: Trajectory, unit: LengthUnit) -> int:
    """How long the response is, in words (`response.split()`) or in tokenizer tokens."""
    if unit == "word":
        return len(trajectory.response.split())
    if unit != "token":
        raise InvalidReward(f"length is counted by 'word' or by 'token', got {unit!r}")
    if trajectory.tokens is None:
        raise InvalidTrajectory("lengths in tokens need the trajectory's tokens; give them, or say unit='word'")
    return len(trajectory.tokens)


@dataclass(frozen=True, repr=False)
class LengthPenalty(RewardFunction):
    """−amount for every `per` words: −0.1 per 100 words unless told otherwise."""

    amount: float = 0.1
    per: int = 100
    unit: LengthUnit = "word"

    def __post_init__(self) -> None:
        if self.amount < 0 or self.per < 1:
            raise InvalidReward(f"need amount >= 0 and per >= 1, got amount={self.amount}, per={self.per}")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        return RewardOutput(-self.amount * length / self.per, reason=f"{length} {self.unit}s")
