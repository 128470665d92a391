"""How hard prompts are: the value of their column `difficulty`, cut into a few levels from easy to hard.

Numbers are ordered by size, words such as easy and hard by what they mean, other text in natural order (level 2
before level 10). More than ten different numbers are binned into five levels of about equally many prompts.
"""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plaudit.errors import DataError
from plaudit.trajectory import Trajectory

__all__ = ["DIFFICULTY", "Levels", "difficulty_of"]

DIFFICULTY = "difficulty"
"""The column that says how hard a prompt is."""
MOST_LEVELS = 10
BANDS = 5
WORDS = ("trivial", "very easy", "easy", "medium", "moderate", "normal", "hard", "difficult", "very hard", "expert")

Difficulty: TypeAlias = str | int | float


def difficulty_of(row: Trajectory) -> Difficulty | None:
    """How hard the prompt of a row is; None if nothing says so."""
    value = row.columns.get(DIFFICULTY)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value != value:
        raise DataError(f"a difficulty is a number or a word, got {value!r:.60} for the prompt {row.prompt_text!r:.60}")
    return value


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a set of prompts, from easy to hard; those of several tasks are told apart.

    `names` has the levels of each task in order. A prompt without a difficulty is on no level.
    """

    names: dict[str, tuple[str, ...]]
    _scales: dict[str, "_Scale"] = field(repr=False)
    _several: bool = False

    @classmethod
    def of_usable(cls, rows: Iterable[Trajectory]) -> "Levels":
        """The levels, or none where the difficulties make none: for those who only tell of them."""
        try:
            return cls.of(rows)
        except DataError:
            return cls({}, {})

    @classmethod
    def of(cls, rows: Iterable[Trajectory], order: Sequence[str] = ()) -> "Levels":
        """The levels of the rows' difficulties; `order`, if set, lists all of them from easy to hard."""
        by_task: dict[str, list[Difficulty]] = defaultdict(list)
        for row in rows:
            values = by_task[row.task or ""]
            value = difficulty_of(row)
            values += [] if value is None else [value]
        scales = {task: _scale(task, values, order) for task, values in by_task.items() if values}
        several = len(by_task) > 1
        names = {task: tuple(_label(task, name, several) for name in scale.names) for task, scale in scales.items()}
        return cls(names, scales, several)

    def label(self, row: Trajectory) -> str | None:
        """The level of a row by its name, with its task where there are several; None if it has no difficulty."""
        scale = self._scales.get(row.task or "")
        value = None if scale is None else difficulty_of(row)
        if scale is None or value is None:
            return None
        return _label(row.task or "", scale.name(value), self._several)

    @property
    def all(self) -> list[str]:
        """Every level of every task."""
        return [name for names in self.names.values() for name in names]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The levels of one task: values that are levels themselves, or bands up to each of `edges`."""

    names: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def name(self, value: Difficulty) -> str:
        if not self.edges:
            return _text(value)
        return self.names[min(bisect_left(self.edges, float(value)), len(self.names) - 1)]


def _scale(task: str, values: Sequence[Difficulty], order: Sequence[str]) -> _Scale:
    distinct = set(map(_text, values))
    if order:
        if unknown := sorted(distinct - set(order)):
            raise DataError(
                f"curriculum.order names {', '.join(order)}, but {_of(task)} has the difficulty {unknown[0]!r} too"
            )
        return _Scale(tuple(name for name in order if name in distinct))
    numbers = [value for value in values if not isinstance(value, str)]
    if len(distinct) <= MOST_LEVELS:
        return _Scale(tuple(sorted(distinct, key=_rank)))
    if len(numbers) < len(values):
        raise DataError(
            f"{_of(task)} has {len(distinct)} different difficulties, such as {next(iter(sorted(distinct)))!r}; "
            f"a column of at most {MOST_LEVELS} words, or numbers, can be trained by"
        )
    return _bands(sorted(map(float, numbers)))


def _bands(numbers: Sequence[float]) -> _Scale:
    """Bands with about as many prompts each; equal numbers are in one band."""
    cuts = [numbers[math.ceil(len(numbers) * part / BANDS) - 1] for part in range(1, BANDS + 1)]
    edges = tuple(sorted(set(cuts)))
    lows = [numbers[0], *(next(number for number in numbers if number > edge) for edge in edges[:-1])]
    return _Scale(tuple(f"{low:g}–{high:g}" for low, high in zip(lows, edges, strict=True)), edges)


def _rank(name: str) -> tuple[Any, ...]:
    """Where a level stands: numbers by their size, known words by what they mean, other text with its numbers."""
    try:
        return (0, float(name), "")
    except ValueError:
        pass
    word = re.sub(r"[\s_-]+", " ", name.strip().lower())
    if word in WORDS:
        return (1, float(WORDS.index(word)), "")
    parts = re.split(r"(\d+)", word)
    return (2, 0.0, [f"{int(part):020d}" if part.isdigit() else part for part in parts])


def _text(value: Difficulty) -> str:
    return value.strip() if isinstance(value, str) else f"{value:g}"


def _label(task: str, name: str, several: bool) -> str:
    return f"{task}/{name}" if several else name


def _of(task: str) -> str:
    return f"the task {task}" if task else "the data"
