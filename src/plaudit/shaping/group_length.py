"""Prefer the shorter of the right answers to one prompt (Kimi k1.5, arXiv 2501.12599, section 2.3.3).

λ = ½ − (length − shortest) / (longest − shortest) within the group; a right answer earns λ, a wrong one min(0, λ), so
that being short never pays for being wrong.
"""

from collections.abc import Sequence

from plaudit.contract.boundary import evaluate
from plaudit.contract.function import RewardFunction, Rewarding, as_reward
from plaudit.contract.output import RewardOutput
from plaudit.shaping.length import LengthUnit, length_of
from plaudit.trajectory import Trajectory

__all__ = ["GroupLength"]


class GroupLength(RewardFunction):
    """+½ for the shortest to −½ for the longest response of a group; wrong answers never above 0."""

    scope = "group"
    bounds = (-0.5, 0.5)

    def __init__(self, correct: Rewarding, *, at: float = 1.0, unit: LengthUnit = "word") -> None:
        self.correct = as_reward(correct)
        self.at = at
        self.unit: LengthUnit = unit
        self.deterministic = self.correct.deterministic

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        judged = evaluate(self.correct, trajectories)
        lengths = [length_of(trajectory, self.unit) for trajectory in trajectories]
        scored = [length for length, output in zip(lengths, judged, strict=True) if output.ok]
        shortest, spread = (min(scored), max(scored) - min(scored)) if scored else (0, 0)
        return [self._of_one(length, output, shortest, spread) for length, output in zip(lengths, judged, strict=True)]

    def _of_one(self, length: int, judged: RewardOutput, shortest: int, spread: int) -> RewardOutput:
        components = {self.correct.name: judged}
        if judged.reward is None:
            return RewardOutput.unscored(judged.status, judged.reason, components=components)
        share = 0.5 - (length - shortest) / spread if spread else 0.0
        right = judged.reward >= self.at
        return RewardOutput(
            share if right else min(0.0, share),
            components=components,
            reason=f"{length} {self.unit}s, shortest in the group {shortest}, {'right' if right else 'not right'}",
        )

    def __repr__(self) -> str:
        return f"GroupLength({self.correct!r})"
