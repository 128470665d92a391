"""One reward per task, for runs that mix tasks.

Tasks differ in scale: `TaskReward({...}).normalized("running")` puts each on its own.
"""

from collections.abc import Mapping, Sequence

from plaudit.contract.boundary import evaluate
from plaudit.contract.function import RewardFunction, Rewarding, as_reward
from plaudit.contract.merging import widest_scope
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidReward, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["TaskReward"]


class TaskReward(RewardFunction):
    """Scores each sample with the reward of its `task`; a task without a reward is skipped, not zero."""

    def __init__(self, rewards: Mapping[str, Rewarding], *, default: Rewarding | None = None) -> None:
        if not rewards:
            raise InvalidReward("TaskReward needs a reward for at least one task: TaskReward({'math': MathReward()})")
        self.rewards = {task: as_reward(reward) for task, reward in rewards.items()}
        self.default = None if default is None else as_reward(default)
        every = [*self.rewards.values(), *([self.default] if self.default else [])]
        self.scope = widest_scope(reward.scope for reward in every)
        self.deterministic = all(reward.deterministic for reward in every)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        places: dict[str | None, list[int]] = {}
        for place, trajectory in enumerate(trajectories):
            places.setdefault(trajectory.task, []).append(place)
        outputs: dict[int, RewardOutput] = {}
        for task, members in places.items():
            batch = [trajectories[place] for place in members]
            outputs.update(zip(members, self._of_task(task, batch), strict=True))
        return [outputs[place] for place in range(len(trajectories))]

    def _of_task(self, task: str | None, batch: Sequence[Trajectory]) -> list[RewardOutput]:
        reward = self.rewards.get(task or "", self.default)
        if reward is not None:
            return evaluate(reward, batch)
        hint = did_you_mean(task or "", self.rewards)
        reason = f"no reward for task {task!r}{hint} (there are {', '.join(self.rewards)})"
        return [RewardOutput.unscored(Status.SKIPPED, reason)] * len(batch)

    def __repr__(self) -> str:
        tasks = ", ".join(f"{task!r}: {reward!r}" for task, reward in self.rewards.items())
        default = f", default={self.default!r}" if self.default else ""
        return f"TaskReward({{{tasks}}}{default})"
