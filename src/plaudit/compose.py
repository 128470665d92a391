"""Combinations of rewards beyond `+ - *`, `.clip`, `.gate` and `.normalized`.

Everything here returns an ordinary reward whose components keep their own values, statuses and reasons. Those that make
an ensemble (`cautious`, `minimum`, `maximum`, `median`) say in the metadata how far its members disagree.
"""

from collections.abc import Mapping, Sequence

from plaudit.contract import rules
from plaudit.contract.combination import Combination, CompositeReward, CompoundReward, NormalizedReward
from plaudit.contract.function import RewardFunction, RewardLike, as_reward
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.rules import Weight
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["TaskReward", "bonus", "cautious", "gdpo", "lexicographic", "maximum", "median", "minimum", "product"]


def product(*rewards: RewardLike) -> Combination:
    """The product of rewards: one zero makes it zero."""
    return Combination(rewards, rules.Product())


def minimum(*rewards: RewardLike) -> Combination:
    """The smallest of the rewards: as good as the worst part."""
    return Combination(rewards, rules.Minimum())


def maximum(*rewards: RewardLike) -> Combination:
    """The largest of the rewards: as good as the best part."""
    return Combination(rewards, rules.Maximum())


def median(*rewards: RewardLike) -> Combination:
    """The middle one of the rewards: one outlier among several judges does not count."""
    return Combination(rewards, rules.Median())


def cautious(*rewards: RewardLike, penalty: float = 1.0) -> Combination:
    """mean − penalty · standard deviation of an ensemble: disagreement costs."""
    return Combination(rewards, rules.Cautious(penalty))


def lexicographic(*rewards: RewardLike, resolution: float = 0.1) -> Combination:
    """Earlier rewards decide, later ones only break ties within `resolution`; all lie in [0, 1]."""
    return Combination(rewards, rules.Lexicographic(resolution))


def bonus(reward: RewardLike, extras: Sequence[tuple[RewardLike, float]]) -> Combination:
    """reward · (1 + Σ weight · extra): style counts only in proportion to being right."""
    weights = tuple(weight for _, weight in extras)
    return Combination([reward, *(extra for extra, _ in extras)], rules.Bonus(weights))


def gdpo(parts: Sequence[tuple[RewardLike, Weight]]) -> NormalizedReward:
    """A weighted sum whose parts are first normalised in their groups, then whitened over the batch (GDPO).

    Normalising each part keeps a reward of small spread from drowning beside one of large spread.
    """
    composite = CompositeReward(parts)
    normalized = [(part.normalized("group"), weight) for part, (_, weight) in zip(composite.parts, parts, strict=True)]
    return CompositeReward(normalized).normalized("zscore")


class TaskReward(CompoundReward):
    """Scores each sample with the reward of its `task`, or of what `column` says; one without a reward is skipped, not
    zero.

    A reward of groups or batches sees the samples of one task at a time, also where several tasks have the same reward.
    Tasks differ in scale: `TaskReward({...}).normalized("running")` puts each on its own.
    """

    def __init__(
        self, rewards: Mapping[str, RewardLike], *, default: RewardLike | None = None, column: str | None = None
    ) -> None:
        if not rewards:
            raise InvalidSettings("TaskReward needs a reward for at least one task: TaskReward({'math': MathReward()})")
        self.rewards = {task: as_reward(reward) for task, reward in rewards.items()}
        self.default = None if default is None else as_reward(default)
        self.column = column
        self.set_parts([*self.rewards.values(), *([self.default] if self.default else [])])
        self._indices = {task: index for index, task in enumerate(self.rewards)}

    def samples_for(self, trajectory: Trajectory) -> list[tuple[RewardFunction, Trajectory | None]]:
        chosen = self._indices.get(self._task_of(trajectory) or "", len(self.rewards))
        return [(part, trajectory if index == chosen else None) for index, part in enumerate(self.parts)]

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput | None]) -> RewardOutput:
        scored = next((output for output in outputs if output is not None), None)
        return self._unknown_task(trajectory) if scored is None else scored

    def _task_of(self, trajectory: Trajectory) -> str | None:
        if self.column is None:
            return trajectory.task
        value = {**trajectory.metadata, **trajectory.columns}.get(self.column)
        return None if value is None else str(value)

    def _unknown_task(self, trajectory: Trajectory) -> RewardOutput:
        task = self._task_of(trajectory)
        what = f"no reward for task {task!r}{did_you_mean(task or '', self.rewards)}"
        if task is None:
            what = f"the sample has no column {self.column!r}" if self.column else "the sample does not say its task"
        return RewardOutput.unscored(Status.SKIPPED, f"{what} (there are rewards for {', '.join(self.rewards)})")

    def __repr__(self) -> str:
        tasks = ", ".join(f"{task!r}: {reward!r}" for task, reward in self.rewards.items())
        default = f", default={self.default!r}" if self.default else ""
        column = f", column={self.column!r}" if self.column else ""
        return f"TaskReward({{{tasks}}}{default}{column})"
