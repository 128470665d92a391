"""Follow a format: "say:7" is answered "The answer is 7.", whatever the number.

The template reward gives half a mark for a partial match, so the format is learned step by step; the score is 1.0 only
when the statement is whole and names the right number.
"""

from plaudit.checks.quality import match_format_exactly
from plaudit.contract.output import RewardOutput
from plaudit.loading.building import reward
from plaudit.training.data.prompts import Prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["follow_format", "follows_format"]

TEMPLATE = "The answer is [NUM]."


@reward(bounds=(0.0, 1.0))
def follows_format(response: str, ground_truth: str) -> RewardOutput:
    """0.7 for the right statement, 0.3 for the format of one: 1.0 for "The answer is 7." where 7 was asked for."""
    right = float(response.strip() == TEMPLATE.replace("[NUM]", ground_truth))
    form = match_format_exactly(response, TEMPLATE)
    return RewardOutput(0.7 * right + 0.3 * form, score=right, reason=f"{response.strip()!r:.60}, format {form:g}")


def follow_format(*, below: int = 1000, held_out: int = 128, seed: int = 0) -> Task:
    """State numbers below `below` in the words of the template."""
    rows = [Trajectory(prompt=f"say:{number}\n", response="", ground_truth=str(number)) for number in range(below)]
    prompts, unseen = Prompts(tuple(rows)).split(held_out, seed)
    return Task(
        name="follow_format",
        prompts=prompts,
        held_out=unseen,
        reward="plaudit.training.tasks.follow_format:follows_format",
        max_new_tokens=len(TEMPLATE) + len(str(below)),
        respond=lambda row: TEMPLATE.replace("[NUM]", str(row.ground_truth)),
        warm_start_steps=60,
        runs_inline=True,
    )
