"""The scored samples of a run as columns of numbers: what the statistics are computed from.

A row per sample, 8 bytes a number, so that a million samples fit in memory. NaN stands for a number that is not there:
the reward of a sample that was not scored, the score of a reward that does not judge correctness. Samples of one prompt
at different training steps are different groups: the policy that drew them was another one.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from plaudit.contract.output import RewardOutput
from plaudit.report.groups import GroupNumbers
from plaudit.trajectory import Trajectory

__all__ = ["NO_STEP", "RIGHT", "SampleTable", "deviations", "ratio", "total"]

NO_STEP = -(1 << 63)
MOST_COMPONENTS = 50
RIGHT = 0.5
"""From this score on a response counts as right."""


class SampleTable:
    """Columns of the samples, in the order they came; `groups` and `steps` hold numbers, `components` a column each.

    `judging` has the names of the components that give scores, so judge correctness. Components beyond the first
    `MOST_COMPONENTS` names have no column: names made up for every sample would take more memory than there is.
    """

    def __init__(self) -> None:
        self.rewards, self.scores = array("d"), array("d")
        self.lengths = array("i")
        self.groups, self.steps = array("i"), array("q")
        self.components: dict[str, array[float]] = {}
        self.judging: set[str] = set()
        self.numbers = GroupNumbers()
        self._sorted = 0  # rows that were in the table when they were put in order
        self._ordered, self._ends = array("i"), array("i")

    def __len__(self) -> int:
        return len(self.rewards)

    def add(self, trajectory: Trajectory, output: RewardOutput) -> int:
        """Take one sample; gives the number of its row."""
        row = len(self.rewards)
        self.rewards.append(_number(output.reward))
        self.scores.append(_number(output.score))
        self.lengths.append(len(trajectory.response))
        self.groups.append(self.numbers.number_of(trajectory))
        self.steps.append(NO_STEP if trajectory.training_step is None else _in_bounds(trajectory.training_step))
        for name, part in output.components.items():
            column = self.components.get(name)
            if column is None:
                if len(self.components) == MOST_COMPONENTS:
                    continue
                column = self.components[name] = array("d", [math.nan]) * row
            column.append(_number(part.reward))
            if part.score is not None:
                self.judging.add(name)
        for column in self.components.values():
            if len(column) == row:
                column.append(math.nan)
        return row

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    def is_scored(self, row: int) -> bool:
        """Whether the sample has a reward."""
        return not math.isnan(self.rewards[row])

    def is_right(self, row: int) -> bool | None:
        """Whether the response is right; None where the reward does not say."""
        score = self.scores[row]
        return None if math.isnan(score) else score >= RIGHT

    def by_group(self) -> Iterator["array[int]"]:
        """The rows of the scored samples of each group, group by group; groups without any are left out."""
        self._order()
        return (self._ordered[start:end] for start, end in pairwise(self._ends) if start < end)

    def comparable(self) -> Iterator["array[int]"]:
        """What can be compared: the groups with two scored samples or more; all of the run where there is none."""
        self._order()
        if any(end - start > 1 for start, end in pairwise(self._ends)):
            return (rows for rows in self.by_group() if len(rows) > 1)
        return iter([self._ordered] if len(self._ordered) > 1 else [])

    def _order(self) -> None:
        """Put the rows of scored samples in the order of their groups, and note where each group ends."""
        if self._sorted == len(self):
            return
        ends = array("i", [0]) * (self.group_count + 1)
        scored = array("i", (row for row in range(len(self)) if self.is_scored(row)))
        for row in scored:
            ends[self.groups[row] + 1] += 1
        for group in range(self.group_count):
            ends[group + 1] += ends[group]
        free, ordered = ends[:], array("i", [0]) * len(scored)
        for row in scored:
            ordered[free[self.groups[row]]] = row
            free[self.groups[row]] += 1
        self._ordered, self._ends, self._sorted = ordered, ends, len(self)


def deviations(values: Sequence[float], rows: Sequence[int]) -> list[float]:
    """How far each value of `rows` lies from their mean; exactly 0 where all are equal."""
    own = [values[row] for row in rows]
    mean = own[0] if min(own) == max(own) else total(own) / len(own)
    return [value - mean for value in own]


def total(values: Iterable[float]) -> float:
    """The sum; NaN where it is beyond what floats hold."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # ValueError: an infinity of either sign
        return math.nan


def ratio(part: float, whole: float) -> float | None:
    """A quotient, None where there is none: by zero, or of sums beyond what floats hold."""
    return part / whole if whole and math.isfinite(whole) and math.isfinite(part) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _in_bounds(step: int) -> int:
    """A step as a column of 64 bits can hold it."""
    return max(NO_STEP + 1, min((1 << 63) - 1, step))
