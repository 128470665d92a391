"""Add two numbers and say the sum in tags: "3+4=" is answered "<answer>7</answer>".

The tags are most of the response and are learned first; the sum is the hard part for a small model.
"""

from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["addition"]


def addition(*, below: int = 20, held_out: int = 64, seed: int = 0) -> Task:
    """Add two numbers below `below`; each pair is either trained on or held out."""
    pairs = [(first, second) for first in range(below) for second in range(below)]
    rows = [
        Trajectory(prompt=f"{first}+{second}=", response="", ground_truth=str(first + second), id=f"{first}+{second}")
        for first, second in pairs
    ]
    prompts, unseen = Prompts(tuple(rows)).split(held_out, seed)
    return Task(
        name="addition",
        prompts=prompts,
        held_out=unseen,
        reward="exact_match",
        max_new_tokens=len("<answer></answer>") + len(str(2 * below)) + 2,
        respond=lambda row: f"<answer>{row.ground_truth}</answer>",
        warm_start_steps=150,
        runs_inline=True,
    )
