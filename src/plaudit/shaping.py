"""Small terms that guide learning beside the main reward; keep their weight well below it.

Lengths count the whole response, padding included, so a penalty cannot be avoided with padding.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plaudit.checks import has_hallucination, has_reasoning_steps
from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction, RewardLike, as_reward
from plaudit.contract.output import RewardOutput, as_number
from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.trajectory import Trajectory

__all__ = [
    "CosineLength",
    "GroupLength",
    "HallucinationPenalty",
    "LengthPenalty",
    "PotentialShaping",
    "ReasoningBonus",
    "SoftOverlong",
]

LengthUnit: TypeAlias = Literal["word", "token"]


def length_of(trajectory: Trajectory, unit: LengthUnit) -> int:
    """The length of the response, in words (`response.split()`) or in tokenizer tokens."""
    if unit == "word":
        return len(trajectory.response.split())
    if unit != "token":
        raise InvalidSettings(f"length is counted by 'word' or by 'token', got {unit!r}")
    if trajectory.tokens is None:
        raise InvalidTrajectory("lengths in tokens need the trajectory's tokens; give them, or say unit='word'")
    return len(trajectory.tokens)


@dataclass(frozen=True, repr=False)
class LengthPenalty(RewardFunction):
    """−amount for every `per` words: −0.1 per 100 words by default."""

    deterministic = True

    amount: float = 0.1
    per: int = 100
    unit: LengthUnit = "word"

    def __post_init__(self) -> None:
        if self.amount < 0 or self.per < 1:
            raise InvalidSettings(f"need amount >= 0 and per >= 1, got amount={self.amount}, per={self.per}")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        return RewardOutput(-self.amount * length / self.per, reason=f"{length} {self.unit}s")


@dataclass(frozen=True, repr=False)
class SoftOverlong(RewardFunction):
    """0 up to limit − buffer, a straight line down to −1 at `limit`, −1 beyond (DAPO, arXiv 2503.14476, 3.4)."""

    limit: int
    buffer: int
    unit: LengthUnit = "token"

    bounds = (-1.0, 0.0)
    deterministic = True

    def __post_init__(self) -> None:
        if not 0 < self.buffer <= self.limit:
            raise InvalidSettings(f"need 0 < buffer <= limit, got buffer={self.buffer}, limit={self.limit}")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        over = (length - (self.limit - self.buffer)) / self.buffer
        return RewardOutput(-min(1.0, max(0.0, over)), reason=f"{length} of at most {self.limit} {self.unit}s")


@dataclass(frozen=True, repr=False)
class CosineLength(RewardFunction):
    """`high` for the shortest responses, falling along half a cosine to `low` at `limit` and beyond.

    Without the clamp at the limit the cosine comes back: a response of twice the limit would be paid in full again. An
    empty response is the shortest of all and earns `low`, or silence would be the best answer.
    """

    deterministic = True

    limit: int
    low: float = 0.0
    high: float = 1.0
    unit: LengthUnit = "word"

    def __post_init__(self) -> None:
        if self.limit < 1 or self.low > self.high:
            raise InvalidSettings(
                f"need limit >= 1 and low <= high, got limit={self.limit}, low={self.low}, high={self.high}"
            )
        object.__setattr__(self, "bounds", (self.low, self.high))

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        length = length_of(trajectory, self.unit)
        if not trajectory.response.strip():
            return RewardOutput(self.low, reason="empty response")
        done = min(length / self.limit, 1.0)
        value = self.low + 0.5 * (self.high - self.low) * (1.0 + math.cos(math.pi * done))
        return RewardOutput(value, reason=f"{length} of {self.limit} {self.unit}s")


class GroupLength(CompoundReward):
    """+½ for the shortest to −½ for the longest response of a group; wrong answers never above 0.

    λ = ½ − (length − shortest) / (longest − shortest) within the group; a right answer earns λ, a wrong one min(0, λ):
    being short never pays for being wrong (Kimi k1.5, arXiv 2501.12599, section 2.3.3).
    """

    merge_scope = "group"
    bounds = (-0.5, 0.5)

    def __init__(self, correct: RewardLike, *, at: float = 1.0, unit: LengthUnit = "word") -> None:
        self.correct = as_reward(correct)
        self.at = at
        self.unit: LengthUnit = unit
        self.set_parts([self.correct])

    def merge(self, trajectories: Sequence[Trajectory], rows: Sequence[Sequence[RewardOutput]]) -> list[RewardOutput]:
        judged = [row[0] for row in rows]
        lengths = [length_of(trajectory, self.unit) for trajectory in trajectories]
        scored = [length for length, output in zip(lengths, judged, strict=True) if output.ok]
        shortest, length_range = (min(scored), max(scored) - min(scored)) if scored else (0, 0)
        return [
            self._of_one(length, output, shortest, length_range) for length, output in zip(lengths, judged, strict=True)
        ]

    def _of_one(self, length: int, judged: RewardOutput, shortest: int, length_range: int) -> RewardOutput:
        components = {self.correct.name: judged}
        if judged.reward is None:
            return RewardOutput.unscored(judged.status, judged.reason, components=components)
        share = 0.5 - (length - shortest) / length_range if length_range else 0.0
        right = judged.reward >= self.at
        return RewardOutput(
            share if right else min(0.0, share),
            components=components,
            reason=f"{length} {self.unit}s, shortest in the group {shortest}, {'right' if right else 'not right'}",
        )

    def __repr__(self) -> str:
        return f"GroupLength({self.correct!r}, at={self.at!r}, unit={self.unit!r})"


class PotentialShaping(RewardFunction):
    """Σ of γΦ(s′) − Φ(s) over the steps; each step's share is in `metadata["step_rewards"]`.

    `potential` maps the transcript so far (prompt, then responses and observations) to a number. A trajectory without
    steps is one step from prompt to end. With Φ = 0 at the end of the episode, such hints leave the best policy
    unchanged, provably (Ng, Harada, Russell 1999): walking in a circle earns nothing.
    """

    def __init__(self, potential: Callable[[str], float], *, gamma: float = 1.0) -> None:
        if not 0.0 < gamma <= 1.0:
            raise InvalidSettings(f"need 0 < gamma <= 1, got {gamma}")
        self.potential = potential
        self.gamma = gamma

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        potentials = [as_number("potential", self.potential(state)) for state in _states(trajectory)]
        after = [*potentials[1:], 0.0]
        step_rewards = [self.gamma * new - old for old, new in zip(potentials, after, strict=True)]
        return RewardOutput(sum(step_rewards), metadata={"step_rewards": step_rewards})

    def __repr__(self) -> str:
        return f"PotentialShaping({getattr(self.potential, '__name__', 'potential')}, gamma={self.gamma:g})"


def _states(trajectory: Trajectory) -> list[str]:
    """The transcript before each step."""
    states = [trajectory.prompt_text]
    for step, following in zip(trajectory.steps, trajectory.steps[1:], strict=False):
        states.append("\n".join((states[-1], step.response, following.observation)))
    return states


@dataclass(frozen=True, repr=False)
class ReasoningBonus(RewardFunction):
    """`amount` when the response reasons in steps, which are known by their form (`plaudit.checks`), else 0."""

    deterministic = True

    amount: float = 0.1

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        reasons = has_reasoning_steps(trajectory.response)
        return RewardOutput(
            self.amount if reasons else 0.0, reason="reasons in steps" if reasons else "no reasoning steps"
        )


@dataclass(frozen=True, repr=False)
class HallucinationPenalty(RewardFunction):
    """−`amount` when the response shows signs of made-up content, which is false arithmetic, else 0."""

    deterministic = True

    amount: float = 0.2

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        suspect = has_hallucination(trajectory.response)
        return RewardOutput(
            -self.amount if suspect else 0.0,
            reason="signs of made-up content" if suspect else "no signs of made-up content",
        )
