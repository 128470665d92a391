"""The built-in tasks: sort digits, add numbers, and the word problems of GSM8K."""

import random
import re
from pathlib import Path

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.errors import DataError
from plaudit.loading.building import reward
from plaudit.training.data.levels import DIFFICULTY
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import read_prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["addition", "gsm8k", "sort_digits", "sorts_digits"]


@reward(bounds=(0.0, 1.0))
def sorts_digits(response: str, ground_truth: str) -> RewardOutput:
    """1.0 when the response is the sorted digits and nothing else, else 0.0; "123" is not "0123" sorted."""
    answer = response.strip()
    right = float(answer == ground_truth)
    return RewardOutput(right, score=right, reason=f"{answer!r:.40}, sorted is {ground_truth!r}")


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
        reward="plaudit.training.tasks.built_in:sorts_digits",
        max_new_tokens=digits + 2,
        respond=lambda row: str(row.ground_truth),
        warm_start_steps=25,
        runs_inline=True,
    )


def _row(digits: str) -> Trajectory:
    return Trajectory(prompt=f"{digits}=", response="", ground_truth="".join(sorted(digits)), id=digits)


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


MARK = "####"
SOLUTION = "worked_solution"
_NOTE = re.compile(r"<<[^<>]*>>")


def gsm8k(
    path: str, *, eval_path: str | None = None, held_out: int | None = None, limit: int | None = None, seed: int = 0
) -> Task:
    """The problems of a file; held out are those of `eval_path`, or a tenth of the file (at most 128)."""
    prompts = _read(path, limit)
    if eval_path is not None:
        unseen = _read(eval_path, held_out)
    else:
        count = min(128, len(prompts) // 10) if held_out is None else held_out
        prompts, unseen = prompts.split(count, seed)
    return Task(
        name=f"gsm8k:{Path(path).name}",
        prompts=prompts,
        held_out=unseen,
        reward="math",
        max_new_tokens=256,
        respond=lambda row: row.columns.get(SOLUTION),
    )


def _read(path: str, limit: int | None) -> Prompts:
    rows = read_prompts(path, limit=limit)
    return Prompts(tuple(_solve(row, path, index) for index, row in enumerate(rows, start=1)))


def _solve(row: Trajectory, path: str, index: int) -> Trajectory:
    solution = row.ground_truth
    if not isinstance(solution, str) or MARK not in solution:
        raise DataError(
            f"{path}: the answer of problem {index} has no {MARK} before its number ({solution!r:.60}); "
            "rows of GSM8K have a question and an answer that ends with '#### 42'. Other files are read by data.path"
        )
    worked, _, answer = solution.rpartition(MARK)
    if not answer.strip():
        raise DataError(f"{path}: the answer of problem {index} has nothing behind its last {MARK}")
    lines = [line for line in worked.splitlines() if line.strip()]
    shown = _NOTE.sub("", solution).strip()
    return msgspec.structs.replace(
        row, ground_truth=answer.strip(), columns={**row.columns, SOLUTION: shown, DIFFICULTY: max(1, len(lines))}
    )
