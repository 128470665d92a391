"""Does a grid solve a sudoku?"""

import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import need_column, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

__all__ = ["Sudoku"]

Grid: TypeAlias = tuple[tuple[int, ...], ...]
SIZES = {16: 4, 81: 9}
LONGEST_ANSWER = 50_000
_BETWEEN = compile_late(r"[\s|,;+\[\](){}&*$─│┃-]+")
_ROW_NUMBER = compile_late(r"^\W*row\s*\d{1,2}\s*:", re.IGNORECASE)
_LATEX_ROWS = compile_late(r"\\\\|\\(?:begin|end)\{\w+\}(?:\{[\w|@]*\})?|\\hline")
_FENCE = compile_late(r"```\w*")
_LIST_OF_ROWS = compile_late(r"\]\s*,\s*\[")


@dataclass(frozen=True, repr=False)
class Sudoku(Verifier[Grid]):
    """1.0 for a grid that keeps the digits of the puzzle and has each digit once per row, column and box, else 0.0.

    Puzzles of 9 by 9 and 4 by 4 cells.
    """

    kind: ClassVar[str] = "sudoku"

    def read(self, sample: Trajectory) -> Grid:
        grid = _read_puzzle(need_column(sample, "puzzle", "quizzes", "grid"))
        if fault := _find_fault(grid):
            raise InvalidTrajectory(f"the puzzle contradicts itself: {fault}")
        return grid

    def judge(self, task: Grid, answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        grid = _find_grid(final.readings[0], len(task)) if final.readings else None
        if grid is None:
            return Verdict(0.0, f"no grid of {len(task)} by {len(task)} digits")
        for row, cells in enumerate(task):
            for column, digit in enumerate(cells):
                if digit and grid[row][column] != digit:
                    return Verdict(0.0, f"row {row + 1}, column {column + 1} was {digit} in the puzzle")
        if any(0 in cells for cells in grid):
            return Verdict(0.0, "cells are empty")
        if fault := _find_fault(grid):
            return Verdict(0.0, fault)
        return Verdict(1.0, "each digit once in every row, column and box")


def _read_puzzle(value: Any) -> Grid:
    plain = read_literal(value) if isinstance(value, str) and value.lstrip()[:1] == "[" else value
    if isinstance(plain, str):
        text = "".join(_BETWEEN.split(plain))
        cells = [0 if cell in "._0" else int(cell) if cell.isascii() and cell.isdigit() else -1 for cell in text]
    elif isinstance(plain, list) and all(isinstance(row, list) and len(row) == len(plain) for row in plain):
        cells = [cell if type(cell) is int else -1 for row in plain for cell in row]
    else:
        cells = []
    size = SIZES.get(len(cells), 0)
    if not size or not all(0 <= cell <= size for cell in cells):
        raise InvalidTrajectory(f"a puzzle has 81 or 16 cells with digits, 0 or ., got {value!r:.60}")
    return tuple(tuple(cells[size * row : size * (row + 1)]) for row in range(size))


def _find_grid(text: str, size: int) -> Grid | None:
    """The last grid of a text: lines of as many digits as it has columns, or all digits in one line."""
    plain = _LIST_OF_ROWS.sub("]\n[", _LATEX_ROWS.sub("\n", _FENCE.sub("", text[-LONGEST_ANSWER:])))
    rows: list[str] = []
    grid: list[str] | None = None
    for line in plain.split("\n"):
        cells = "".join(_BETWEEN.split(_ROW_NUMBER.sub("", line)))
        if not cells:
            continue
        is_row = cells.isascii() and cells.isdigit()
        if is_row and len(cells) == size * size:
            rows, grid = [], [cells[size * row : size * (row + 1)] for row in range(size)]
        elif is_row and len(cells) == size:
            rows.append(cells)
            grid = rows if len(rows) == size else grid
            rows = [] if len(rows) == size else rows
        else:
            rows = []
    if grid is None or rows:
        return None
    return tuple(tuple(map(int, row)) for row in grid)


def _find_fault(grid: Grid) -> str:
    """What is repeated or out of range in a grid; zeros are empty cells of a puzzle. Empty if nothing is."""
    size, side = len(grid), math.isqrt(len(grid))
    units = {f"row {row + 1}": list(cells) for row, cells in enumerate(grid)}
    units |= {f"column {column + 1}": [cells[column] for cells in grid] for column in range(size)}
    units |= {
        f"box {box + 1}": [
            grid[box // side * side + row][box % side * side + column] for row in range(side) for column in range(side)
        ]
        for box in range(size)
    }
    for name, cells in units.items():
        digits = [cell for cell in cells if cell]
        if len(set(digits)) != len(digits) or not all(1 <= digit <= size for digit in digits):
            return f"{name} is {' '.join(map(str, cells))}"
    return ""
