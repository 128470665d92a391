"""The scored samples of a run as columns of numbers: what the statistics are computed from.

A row per sample, 8 bytes a number, so that a million samples fit in memory. NaN stands for a number that is not there:
the reward of a sample that was not scored, the score of a reward that does not judge correctness. Samples of one prompt
at different training steps are different groups: the policy that drew them was another one.
"""

import hashlib
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Trajectory

__all__ = ["NO_STEP", "RIGHT", "GroupName", "SampleTable", "deviations", "group_name", "ratio", "total"]

NO_STEP = -1
RIGHT = 0.5
"""From this score on a response counts as right."""
GroupName: TypeAlias = str | int | bytes | tuple[str | int | bytes, int]
_STATUSES = tuple(Status)
_CODES = {status: code for code, status in enumerate(_STATUSES)}


class SampleTable:
    """Columns of the samples, in the order they came; `groups` and `steps` hold numbers, `components` a column each.

    `judging` has the names of the components that give scores, so judge correctness.
    """

    def __init__(self) -> None:
        self.rewards, self.scores = array("d"), array("d")
        self.lengths, self.latencies = array("d"), array("d")
        self.groups, self.steps = array("q"), array("q")
        self.components: dict[str, array[float]] = {}
        self.judging: set[str] = set()
        self._statuses = bytearray()
        self._names: dict[GroupName, int] = {}

    def __len__(self) -> int:
        return len(self.rewards)

    def add(self, trajectory: Trajectory, output: RewardOutput) -> int:
        """Take one sample; gives the number of its row."""
        row = len(self.rewards)
        self.rewards.append(_number(output.reward))
        self.scores.append(_number(output.score))
        self.lengths.append(float(len(trajectory.response)))
        self.latencies.append(_number(output.latency_s))
        self.groups.append(self._names.setdefault(group_name(trajectory), len(self._names)))
        self.steps.append(NO_STEP if trajectory.training_step is None else trajectory.training_step)
        self._statuses.append(_CODES[output.status])
        for name, part in output.components.items():
            column = self.components.get(name)
            if column is None:
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
        return len(self._names)

    def status(self, row: int) -> Status:
        """Whether the sample was scored, and if not, why."""
        return _STATUSES[self._statuses[row]]

    def is_scored(self, row: int) -> bool:
        """Whether the sample has a reward."""
        return not math.isnan(self.rewards[row])

    def is_right(self, row: int) -> bool | None:
        """Whether the response is right; None where the reward does not say."""
        score = self.scores[row]
        return None if math.isnan(score) else score >= RIGHT

    def by_group(self) -> Iterator["array[int]"]:
        """The rows of the scored samples of each group, group by group; groups without any are left out."""
        sizes = array("q", [0]) * (self.group_count + 1)
        scored = array("q", (row for row in range(len(self)) if self.is_scored(row)))
        for row in scored:
            sizes[self.groups[row] + 1] += 1
        for group in range(self.group_count):
            sizes[group + 1] += sizes[group]
        free, ordered = array("q", sizes), array("q", [0]) * len(scored)
        for row in scored:
            ordered[free[self.groups[row]]] = row
            free[self.groups[row]] += 1
        for group in range(self.group_count):
            if sizes[group] < sizes[group + 1]:
                yield ordered[sizes[group] : sizes[group + 1]]

    def comparable(self) -> list["array[int]"]:
        """What can be compared: the groups with two scored samples or more; all of the run where there is none."""
        groups = list(self.by_group())
        compared = [rows for rows in groups if len(rows) > 1]
        together = array("q", (row for rows in groups for row in rows))
        return compared or ([together] if len(together) > 1 else [])


def group_name(trajectory: Trajectory) -> GroupName:
    """What samples of one prompt and one step have in common; of a prompt without a group, a digest only."""
    group: str | int | bytes | None = trajectory.group
    if group is None:
        prompt = trajectory.prompt_text.encode(errors="surrogatepass")
        group = hashlib.blake2b(prompt, digest_size=16).digest()
    return group if trajectory.training_step is None else (group, trajectory.training_step)


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
