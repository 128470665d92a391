"""Keep to a length: "words:4" is answered with four words, whichever they are.

Any words will do, so there are many right responses; the demonstrations show one of them.
"""

import random

from plaudit.contract.output import RewardOutput
from plaudit.loading.building import reward
from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["length_control", "has_length"]

WORDS = ("ab", "cd", "ef", "gh")


@reward(bounds=(0.0, 1.0))
def has_length(response: str, ground_truth: int) -> RewardOutput:
    """1.0 for exactly so many words, less by the share of words too many or too few."""
    count = len(response.split())
    value = max(0.0, 1.0 - abs(count - ground_truth) / ground_truth)
    return RewardOutput(value, score=float(count == ground_truth), reason=f"{count} words, {ground_truth} asked for")


def length_control(*, longest: int = 8, held_out: int = 64, seed: int = 0) -> Task:
    """Write 1 to `longest` words; prompts differ by a letter that means nothing."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rows = [
        Trajectory(prompt=f"{letter} words:{count}\n", response="", ground_truth=count)
        for letter in letters
        for count in range(1, longest + 1)
    ]
    prompts, unseen = Prompts(tuple(rows)).split(held_out, seed)
    return Task(
        name="length_control",
        prompts=prompts,
        held_out=unseen,
        reward="plaudit.training.tasks.length_control:has_length",
        max_new_tokens=3 * (longest + 2),
        respond=_words,
        warm_start_steps=20,
        runs_inline=True,
    )


def _words(row: Trajectory) -> str:
    chance = random.Random(row.prompt_text)
    return " ".join(chance.choice(WORDS) for _ in range(int(row.ground_truth)))
