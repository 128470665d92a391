"""Sort digits: "3142=" is answered "1234".

Compared as text, not as a number: "123" is not "0123" sorted.
"""

import random

from plaudit.contract.output import RewardOutput
from plaudit.loading.building import reward
from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["sort_digits", "sorts_digits"]


@reward(bounds=(0.0, 1.0))
def sorts_digits(response: str, ground_truth: str) -> RewardOutput:
    """1.0 when the response is the sorted digits and nothing else, else 0.0."""
    said = response.strip()
    right = float(said == ground_truth)
    return RewardOutput(right, score=right, reason=f"{said!r:.40}, sorted is {ground_truth!r}")


def sort_digits(*, digits: int = 4, held_out: int = 256, seed: int = 0, size: int = 10_000) -> Task:
    """Sort `digits` digits; a prompt that is held out never occurs in training, not even by chance."""
    chance = random.Random(seed)
    count = min(size, 10**digits)
    rows = [_row(f"{number:0{digits}d}") for number in sorted(chance.sample(range(10**digits), count))]
    prompts, unseen = Prompts(tuple(rows)).split(held_out, seed)
    return Task(
        name="sort_digits",
        prompts=prompts,
        held_out=unseen,
        reward="plaudit.training.tasks.sort_digits:sorts_digits",
        max_new_tokens=digits + 2,
        respond=lambda row: str(row.ground_truth),
        warm_start_steps=25,
        runs_inline=True,
    )


def _row(digits: str) -> Trajectory:
    return Trajectory(prompt=f"{digits}=", response="", ground_truth="".join(sorted(digits)), id=digits)
