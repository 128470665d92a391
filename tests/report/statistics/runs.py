"""Runs made of numbers, for the statistics."""

import random
from collections.abc import Iterable

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report.table import Samples, SampleTable
from plaudit.rollouts import Rollout, ScoredRollout


def rollout(
    reward: float | None,
    /,
    *,
    score: float | None = None,
    group: str | int | None = "g",
    response: str = "",
    step: int | None = None,
    **components: float,
) -> ScoredRollout:
    trajectory = Trajectory("p", response, group=group, training_step=step)
    if reward is None:
        return Rollout(trajectory, RewardOutput.unscored(Status.TIMEOUT, "too slow"))
    parts = {name: RewardOutput(value, score=value if name == "right" else None) for name, value in components.items()}
    return Rollout(trajectory, RewardOutput(reward, score=score, components=parts))


def table_of(rollouts: Iterable[ScoredRollout]) -> SampleTable:
    table = SampleTable(keep_texts=True)
    for one in rollouts:
        table.add(one.trajectory, one.output)
    return table


def samples_of(rollouts: Iterable[ScoredRollout]) -> Samples:
    return table_of(rollouts).samples()


def random_run(groups: int = 40, size: int = 6, seed: int = 1) -> list[ScoredRollout]:
    """A sum of two components, with lengths that go with the reward and prompts that differ in both."""
    draw = random.Random(seed)
    rollouts = []
    for group in range(groups):
        level = draw.random()
        for _ in range(size):
            right, form = float(draw.random() < level), draw.random()
            words = int(20 + 40 * level + 30 * right + draw.random() * 20)
            rollouts.append(
                rollout(
                    0.7 * right + 0.3 * form, score=right, group=group, response="w" * words, right=right, form=form
                )
            )
    return rollouts
