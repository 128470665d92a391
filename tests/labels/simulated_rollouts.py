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


POLICIES = {"weak": (0.6, 1.8), "medium": (1.2, 1.0), "strong": (4.0, 0.7), "all or nothing": (0.25, 0.25)}
"""Pass rates as Beta distributions."""
POPULAR = {"rare": (0.5, 4.0), "some": (1.0, 2.0), "frequent": (2.0, 1.5)}
"""The share of a prompt's wrong answers that are its popular mistake."""
UNLABELLED = 0.05


class Policy(NamedTuple):
    """A policy, how often its wrong answers are a popular mistake, and which wrong labels are planted."""

    strength: str
    popular: str
    errors: str = "mixed"
    """`random`: another value; `popular`: the popular mistake of the prompt; `mixed`: both, and other mistakes."""


def simulate_policy(policy: Policy, groups: int, size: int, rate: float, seed: int) -> Planted:
    """Rollouts with rational answers in several notations; some rows have no label, and the reward misses fractions."""
    rng = random.Random(f"{policy} {size} {rate} {seed}")
    wrong = {f"g{number}" for number in rng.sample(range(groups), round(rate * groups))}
    rollouts = []
    for number in range(groups):
        name, truth, popular = f"g{number}", *rng.sample(range(8, 4_000), 2)
        others = rng.sample(range(4_000, 8_000), rng.randint(3, 30))
        pass_rate = rng.betavariate(*POLICIES[policy.strength])
        share = rng.betavariate(*POPULAR[policy.popular])
        errors = {"random": rng.randrange(8_000, 9_000), "popular": popular, "other": rng.choice(others)}
        kind = rng.choice(list(errors)) if policy.errors == "mixed" else policy.errors
        label = errors[kind] if name in wrong else truth
        for _ in range(size):
            mistake = popular if rng.random() < share else rng.choice(others)
            answer = truth if rng.random() < pass_rate else mistake
            text = write_quarters(answer, rng)
            ground_truth = None if rng.random() < UNLABELLED else write_quarters(label, random.Random(number))
            trajectory = Trajectory(
                f"question {number}", f"The answer is {text}.", ground_truth=ground_truth, group=name
            )
            rollouts.append(Rollout(trajectory, RewardOutput(float(answer == label and "/" not in text))))
    return Planted(rollouts, wrong)


def write_quarters(quarters: int, rng: random.Random) -> str:
    """A number of quarters as a decimal number, or as a fraction."""
    return rng.choice((f"{quarters / 4:g}", f"{quarters}/4", f"\\boxed{{\\frac{{{quarters}}}{{4}}}}"))
