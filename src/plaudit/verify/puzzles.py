"""Puzzles: countdown and the game of 24, sudoku, knights and knaves."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.clauses import NEGATION
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, need_column, need_truth, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

MOST_NUMBERS = 50
LONGEST_EXPRESSION = 1_000
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")", "{": "(", "}": ")"})
_LATEX = {r"\times": "*", r"\cdot": "*", r"\div": "/", r"\left": "", r"\right": "", "$": "", "`": "", "**": "^"}
_TOKEN = compile_late(r"\s*(?:(\d{1,12})(?![\d.])|([-+*/()]))")
_NUMBERS = compile_late(r"[\s,;]+")
_LEADING_WORDS = compile_late(r"[^\d()\[\]{}$\\`?-]*\b(?:is|are|be|:|=)[\s:*$]*(?=[\d(\[{$\\`])", re.IGNORECASE)
_EMPHASIS = compile_late(r"\A\*\*(.*)\*\*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NumberPuzzle:
    """The numbers to use, and the number to make of them."""

    numbers: tuple[int, ...]
    target: Fraction


@dataclass(frozen=True, repr=False)
class Countdown(Verifier[NumberPuzzle]):
    """1.0 for an expression that makes the target from the given numbers, each used exactly once, else 0.0.

    `target=24` is the game of 24. `use_all=False` lets numbers be left out.
    """

    kind: ClassVar[str] = "countdown"

    target: int | None = None
    use_all: bool = True

    def __post_init__(self) -> None:
        if self.target is not None and (isinstance(self.target, bool) or not isinstance(self.target, int)):
            raise InvalidSettings(f"target is a whole number, got {self.target!r}")

    def read(self, sample: Trajectory) -> NumberPuzzle:
        listed = need_column(sample, "nums", "numbers")
        numbers = _NUMBERS.split(listed.strip("[] ")) if isinstance(listed, str) else listed
        if not isinstance(numbers, list | tuple) or not 0 < len(numbers) <= MOST_NUMBERS:
            raise InvalidTrajectory(f"the numbers are a list of 1 to {MOST_NUMBERS} whole numbers, got {listed!r:.60}")
        target = self.target if self.target is not None else find_column(sample, "target")
        target = sample.ground_truth if target is None else target
        return NumberPuzzle(tuple(map(_whole_number, numbers)), Fraction(_whole_number(target)))

    def judge(self, task: NumberPuzzle, answer: Answer) -> Verdict:
        written = _find_expression(answer.text)
        if written is None:
            return Verdict(0.0, "no single expression as the answer")
        expression, equals, stated = written.partition("=")
        if equals and expression.strip().isdigit():  # the target may be on either side
            expression, stated = stated, expression
        try:
            value, used = evaluate(expression)
            if equals and (evaluate(stated)[0] != value or "=" in stated):
                return Verdict(0.0, f"{written!r:.80} is a false equation")
        except ValueError as error:
            return Verdict(0.0, f"{written!r:.80}: {error}")
        details = {"expression": expression.strip()[:200]}
        if value != task.target:
            return Verdict(0.0, f"{expression.strip()!r:.80} is {value}, not {task.target}", details=details)
        available, needed = Counter(task.numbers), Counter(used)
        if needed - available or (self.use_all and available - needed):
            return Verdict(
                0.0, f"the numbers used are {sorted(used)}, given are {sorted(task.numbers)}", details=details
            )
        return Verdict(1.0, f"{expression.strip()} = {task.target}"[:200], details=details)


def _whole_number(value: Any) -> int:
    plain = read_literal(value)
    number = int(plain) if isinstance(plain, float) and plain.is_integer() else plain
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > 10**12:
        raise InvalidTrajectory(f"{value!r:.40} is not a whole number")
    return number


def _find_expression(text: str) -> str | None:
    final = find_final_answer(text)
    if not final.readings:
        return None
    last = final.readings[0].strip().rpartition("\n")[2] if final.source == "whole answer" else final.readings[0]
    plain = _EMPHASIS.sub(r"\1", last.strip())
    words = _LEADING_WORDS.match(plain)
    if words and not NEGATION.search(words[0].casefold()):
        plain = plain[words.end() :]
    for latex, sign in _LATEX.items():
        plain = plain.replace(latex, sign)
    plain = plain.translate(_SIGNS).strip().removesuffix(".")
    return plain if plain and len(plain) <= LONGEST_EXPRESSION and "\n" not in plain.strip() else None


def evaluate(expression: str) -> tuple[Fraction, list[int]]:
    """The exact value of an expression of whole numbers, and the numbers in it; raises ValueError for other texts."""
    tokens = list(_tokens(expression))
    position = 0
    used: list[int] = []

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1] if position <= len(tokens) else ""

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def factor(depth: int) -> Fraction:
        token = take()
        if token.isdigit():
            used.append(int(token))
            return Fraction(int(token))
        if token != "(" or depth > MOST_NUMBERS:
            raise ValueError("not an expression of whole numbers, + - * / and brackets")
        value = total(depth + 1)
        if take() != ")":
            raise ValueError("a bracket is not closed")
        return value

    def product(depth: int) -> Fraction:
        value = factor(depth)
        while peek() in ("*", "/"):
            operator, other = take(), factor(depth)
            if operator == "/" and not other:
                raise ValueError("a division by zero")
            value = value * other if operator == "*" else value / other
        return value

    def total(depth: int) -> Fraction:
        value = product(depth)
        while peek() in ("+", "-"):
            value = value + product(depth) if take() == "+" else value - product(depth)
        return value

    result = total(0)
    if position < len(tokens):
        raise ValueError("more than one expression")
    return result, used


def _tokens(expression: str) -> Iterator[str]:
    position, text = 0, expression.strip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError(f"{text[position : position + 10]!r} is neither a whole number nor one of + - * / ( )")
        yield token[1] or token[2]
        position = token.end()


Grid: TypeAlias = tuple[tuple[int, ...], ...]
SIZES = {16: 4, 81: 9}
LONGEST_ANSWER = 20_000  # characters
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
        grid = _find_grid(final.text, len(task)) if final.readings else None
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
    """The repeated or out-of-range value of a grid; zeros are empty cells of a puzzle. Empty if there is none."""
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


_NAME = r"\b[^\W\d_][\w'’-]{0,60}+(?:[ \t][A-Z][\w'’-]{0,60}+){0,3}"
_STATEMENT = compile_late(
    rf"(?P<name>{_NAME})(?i:[ \t]+is[ \t]+(?:an?|the)[ \t]+|[ \t]*(?:[:=→|]|->|[ \t][-–—])[ \t]*(?:an?[ \t]+)?)"
    r"(?P<role>(?i:knight|knave))\b"
    rf"|(?P<names>{_NAME}(?:(?:,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+){_NAME}){{1,20}})"
    r"[ \t]+(?i:are[ \t]+(?:both[ \t]+|all[ \t]+)?(?P<roles>knight|knave)s)\b"
)
"""Somebody is a knight, in a sentence, after a colon or in a table; or several are knights."""
_BETWEEN_NAMES = compile_late(r",[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+")
_MARKUP = compile_late(r"[*_`]+")
_DOUBT = compile_late(r"\bor\b|\bnot\b|n['’]t\b|\?|(?<!are )\bboth\b|\bif\b|\beither\b", re.IGNORECASE)
_JOINING = compile_late(r"\A(?:and|so|then|while|but|thus|therefore|hence)[ \t]+", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class KnightsKnaves(Verifier[Mapping[str, str]]):
    """1.0 when the answer says of every person rightly that they are a knight or a knave, else 0.0."""

    kind: ClassVar[str] = "knights_knaves"

    def read(self, sample: Trajectory) -> Mapping[str, str]:
        names = read_literal(find_column(sample, "names"))
        if isinstance(names, list):
            flags = read_literal(find_column(sample, "solution"))
            flags = read_literal(sample.ground_truth) if flags is None else flags
            if not isinstance(flags, list) or len(flags) != len(names) or not all(isinstance(f, bool) for f in flags):
                raise InvalidTrajectory(f"solution is a list of {len(names)} booleans, got {flags!r:.60}")
            roles = ["knight" if flag else "knave" for flag in flags]
            return dict(zip((str(name).casefold() for name in names), roles, strict=True))
        written = need_truth(sample, "solution_text_format")
        solution = _roles(written) if isinstance(written, str) else None
        if not solution:
            raise InvalidTrajectory(f"the solution must state the role of each person once, got {written!r:.60}")
        return solution

    def judge(self, task: Mapping[str, str], answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        if not final.readings or len(final.text) > LONGEST_ANSWER:
            return Verdict(0.0, "no single answer")
        text = _MARKUP.sub("", final.text)
        if _DOUBT.search(text):
            return Verdict(0.0, "the answer leaves something open or denies it")
        roles = _roles(text)
        if roles is None:
            return Verdict(0.0, "somebody is said to be both")
        wrong = [name for name in {**task, **roles} if task.get(name) != roles.get(name)]
        if wrong:
            return Verdict(0.0, f"wrong or missing: {', '.join(sorted(wrong))}"[:200])
        return Verdict(1.0, f"right about all {len(task)}")


def _roles(text: str) -> dict[str, str] | None:
    """The roles that a text assigns to people; None if it assigns two to one person."""
    roles: dict[str, str] = {}
    for statement in _STATEMENT.finditer(text):
        names = [statement["name"]] if statement["name"] else _BETWEEN_NAMES.split(statement["names"])
        role = (statement["role"] or statement["roles"]).casefold()
        for name in names:
            if roles.setdefault(_JOINING.sub("", name).casefold(), role) != role:
                return None
    return roles
