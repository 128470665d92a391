"""Word problems as GSM8K has them: a question, and a solution that ends with `#### 42`.

The ground truth is what stands behind the last mark, the solution without its calculator notes (`<<2*3=6>>`) is shown
as the right response, and a problem is as hard as its solution has lines.
"""

import re
from pathlib import Path

import msgspec

from plaudit.errors import DataError
from plaudit.training.data.levels import DIFFICULTY
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.sources import read_prompts
from plaudit.training.tasks.task import Task
from plaudit.trajectory import Trajectory

__all__ = ["gsm8k"]

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
    return Prompts(tuple(_solve(row, path, place) for place, row in enumerate(rows, start=1)))


def _solve(row: Trajectory, path: str, place: int) -> Trajectory:
    solution = row.ground_truth
    if not isinstance(solution, str) or MARK not in solution:
        raise DataError(
            f"{path}: the answer of problem {place} has no {MARK} before its number ({solution!r:.60}); "
            "rows of GSM8K have a question and an answer that ends with '#### 42'. Other files are read by data.path"
        )
    worked, _, answer = solution.rpartition(MARK)
    if not answer.strip():
        raise DataError(f"{path}: the answer of problem {place} has nothing behind its last {MARK}")
    lines = [line for line in worked.splitlines() if line.strip()]
    shown = _NOTE.sub("", solution).strip()
    return msgspec.structs.replace(
        row, ground_truth=answer.strip(), columns={**row.columns, SOLUTION: shown, DIFFICULTY: max(1, len(lines))}
    )
