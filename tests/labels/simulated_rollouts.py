"""Rollouts with planted label errors: a policy with a pass rate per prompt, whose wrong answers repeat each other."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from plaudit import RewardOutput, Trajectory
from plaudit.rollouts import Rollout

CONCENTRATIONS = (1.0, 3.0, 10.0, 30.0)
WEIGHTS = (5, 20, 25, 50)
"""How often wrong answers to one prompt repeat each other: as estimated from the rollouts of GSM8K models."""


class Planted(NamedTuple):
    """Rollouts, and the groups whose label is wrong."""

    rollouts: Sequence[Rollout]
    wrong: set[str]


def simulate(groups: int, size: int, rate: float, seed: int, shape: tuple[float, float] = (1.5, 0.8)) -> Planted:
    """Groups whose labels are wrong at `rate`; a response is paid when it equals the label."""
    rng = random.Random(seed)
    wrong = {f"g{number}" for number in rng.sample(range(groups), round(rate * groups))}
    rollouts = []
    for number in range(groups):
        name, truth = f"g{number}", rng.randrange(10, 10_000)
        label = corrupt(truth, rng) if name in wrong else truth
        pass_rate = rng.betavariate(*shape)
        [concentration] = rng.choices(CONCENTRATIONS, WEIGHTS)
        mistakes: list[int] = []
        for _ in range(size):
            answer = truth
            if rng.random() >= pass_rate:
                is_new = rng.random() < concentration / (concentration + len(mistakes))
                answer = mistake(truth, rng) if is_new else rng.choice(mistakes)
                mistakes.append(answer)
            response = rng.choice(("The answer is {}.", "so we get \\boxed{{{}}}", "#### {}")).format(answer)
            trajectory = Trajectory(prompt=f"question {number}", response=response, ground_truth=str(label), group=name)
            rollouts.append(Rollout(trajectory, RewardOutput(float(answer == label))))
    return Planted(rollouts, wrong)


def corrupt(truth: int, rng: random.Random) -> int:
    """A label as it goes wrong: off by a little, a digit changed, a factor of ten, or something else."""
    digit: int = truth + rng.choice((-1, 1)) * 10 ** rng.randrange(len(str(truth)))
    choices = [truth + 1, truth - 1, digit, truth * 10, truth // 10, rng.randrange(10, 10_000)]
    return rng.choice([each for each in choices if each != truth])


def mistake(truth: int, rng: random.Random) -> int:
    """A wrong answer that no other response has given, almost always."""
    return truth + rng.choice((-1, 1)) * rng.randrange(1, 100_000)
