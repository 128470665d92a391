"""Advantages of single steps of an episode, compared with other steps of the same group.

The return of a step is what it and the later steps earn, discounted per step; what no step earned, a reward of the
whole episode, is earned at the end. Steps are compared that were taken in the same state (GiGPO, arXiv:2505.10978) or
that have the same place in their episode. A step without another to compare it with has no advantage of its own.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.advantages.baseline import Advantage, Estimates, check_comparable, deviation
from plaudit.training.advantages.credit import BatchCredit, Credit, StepCredit

__all__ = ["CompareBy", "StepAdvantage", "step_returns"]

CompareBy: TypeAlias = Literal["state", "turn"]
EPSILON = 1e-6


@dataclass(frozen=True)
class StepAdvantage(Advantage):
    """The advantage of the episode in its group, plus that of the step among steps like it.

    `gamma` is per step. With `scale` both are divided by the standard deviation of what they were compared with, as in
    GRPO; without, they are differences to the mean.
    """

    gamma: float = 1.0
    by: CompareBy = "state"
    episode_weight: float = 1.0
    step_weight: float = 1.0
    scaled: bool = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.gamma <= 1.0:
            raise InvalidSettings(f"gamma must lie in [0, 1], got {self.gamma}")
        if self.by not in ("state", "turn"):
            hint = did_you_mean(str(self.by), ("state", "turn"))
            raise InvalidSettings(f"steps are compared by state or turn, not by {self.by!r}{hint}")

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        check_comparable(type(self).__name__, batch_credit)
        episodes = batch_credit.steps or [_as_one_step(credit) for credit in batch_credit.credits]
        estimates: Estimates = [None] * len(batch_credit.credits)
        for places in batch_credit.members.values():
            totals = self._compare(batch_credit.totals(places))
            of_steps = self._compare_steps([episodes[place] for place in places])
            for place, total, own in zip(places, totals, of_steps, strict=True):
                credit = batch_credit.credits[place]
                assert credit is not None
                values = [self.episode_weight * total] * len(credit.tokens)
                for step, advantage in zip(episodes[place], own, strict=True):
                    for token in range(step.start, step.end):
                        values[token] += self.step_weight * advantage
                estimates[place] = values
        return batch_credit.subtract_penalties(estimates, 1.0)

    def _compare_steps(self, episodes: Sequence[Sequence[StepCredit]]) -> list[list[float]]:
        """The advantage of every step of every episode of a group."""
        alike: dict[Hashable, list[tuple[int, int, float]]] = defaultdict(list)
        for sample, steps in enumerate(episodes):
            for turn, (step, earned) in enumerate(zip(steps, step_returns(steps, self.gamma), strict=True)):
                alike[step.state if self.by == "state" else turn].append((sample, turn, earned))
        advantages = [[0.0] * len(steps) for steps in episodes]
        for found in alike.values():
            for (sample, turn, _), value in zip(found, self._compare([each[2] for each in found]), strict=True):
                advantages[sample][turn] = value
        return advantages

    def _compare(self, values: Sequence[float]) -> list[float]:
        if len(values) < 2 or min(values) == max(values):
            return [0.0] * len(values)
        mean = sum(values) / len(values)
        scale = 1.0 / (deviation(values) + EPSILON) if self.scaled else 1.0
        return [(value - mean) * scale for value in values]


def _as_one_step(credit: Credit | None) -> list[StepCredit]:
    return [] if credit is None else [StepCredit(0, len(credit.tokens), credit.total, ())]


def step_returns(steps: Sequence[StepCredit], gamma: float) -> list[float]:
    """What each step and those after it earn, later ones discounted."""
    returns, ahead = [0.0] * len(steps), 0.0
    for place in range(len(steps) - 1, -1, -1):
        ahead = steps[place].reward + gamma * ahead
        returns[place] = ahead
    return returns
