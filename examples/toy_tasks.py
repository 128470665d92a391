"""Two small tasks for the embedded model: state a number in given words, and write so many words."""

import random

from plaudit import RewardOutput, Trajectory, reward
from plaudit.checks import match_format_exactly
from plaudit.training import Task

TEMPLATE = "The answer is [NUM]."
WORDS = ("ab", "cd", "ef", "gh")


@reward(bounds=(0.0, 1.0))
def follows_format(response: str, ground_truth: str) -> RewardOutput:
    """0.7 for the right statement, 0.3 for the format of one: 1.0 for "The answer is 7." where 7 was asked for."""
    right = float(response.strip() == TEMPLATE.replace("[NUM]", ground_truth))
    form = match_format_exactly(response, TEMPLATE)
    return RewardOutput(0.7 * right + 0.3 * form, score=right, reason=f"{response.strip()!r:.60}, format {form:g}")


def follow_format(*, below: int = 1000, held_out: int = 128, seed: int = 0) -> Task:
    """State numbers below `below` in the words of the template."""
    rows = [{"prompt": f"say:{number}\n", "ground_truth": str(number)} for number in range(below)]
    return Task.from_rows(
        "follow_format",
        rows,
        follows_format,
        held_out=held_out,
        seed=seed,
        max_new_tokens=len(TEMPLATE) + len(str(below)),
        respond=lambda row: TEMPLATE.replace("[NUM]", str(row.ground_truth)),
        warm_start_steps=60,
    )


@reward(bounds=(0.0, 1.0))
def has_length(response: str, ground_truth: int) -> RewardOutput:
    """1.0 for exactly so many words, less by the share of words too many or too few."""
    count = len(response.split())
    value = max(0.0, 1.0 - abs(count - ground_truth) / ground_truth)
    return RewardOutput(value, score=float(count == ground_truth), reason=f"{count} words, {ground_truth} requested")


def length_control(*, longest: int = 8, held_out: int = 64, seed: int = 0) -> Task:
    """Write 1 to `longest` words; prompts differ by a letter that means nothing."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    counts = range(1, longest + 1)
    rows = [{"prompt": f"{letter} words:{n}\n", "ground_truth": n} for letter in letters for n in counts]
    return Task.from_rows(
        "length_control",
        rows,
        has_length,
        held_out=held_out,
        seed=seed,
        max_new_tokens=3 * (longest + 2),
        respond=_some_words,
        warm_start_steps=20,
    )


def _some_words(row: Trajectory) -> str:
    chance = random.Random(row.prompt_text)
    return " ".join(chance.choice(WORDS) for _ in range(int(row.ground_truth)))
