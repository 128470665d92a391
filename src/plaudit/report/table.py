"""The scored samples of a run as columns of numbers: what every statistic of a report is computed from.

`SampleTable` takes samples one by one, 8 bytes a number, so that a run of millions can be summed up while it streams.
`SampleTable.samples()` is a snapshot of it as numpy columns. NaN means that there is no number: the reward of a sample
that was not scored, the score of a reward that does not judge correctness. Samples of one prompt at different training
steps are different groups, because different policies drew them.
"""

import hashlib
import heapq
import math
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from plaudit.contract.output import RewardOutput
from plaudit.report.coverage import FailureCounts
from plaudit.report.figures import SlowSample
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.trajectory import Trajectory

NO_STEP = -(1 << 63)
MAX_COMPONENTS = 200
MAX_CHARACTERS, MAX_ROLLOUTS = 20_000_000, 10_000
SLOWEST = 5
"""The number of the slowest samples that are kept."""
DIGEST_BITS = 64
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def group_digest(trajectory: Trajectory) -> int:
    """A number of 64 bits that samples of one prompt and one training step have in common."""
    group: str | int | None = trajectory.group
    named = trajectory.prompt_text if group is None else repr(group)
    name = f"{group is None}{trajectory.training_step}:{named}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=DIGEST_BITS // 8).digest())


class SampleTable:
    """Collects samples in their order: numbers, counts and, with `keep_texts`, the texts of some groups.

    Components at any depth are named `outer/inner`; names after the first 200 have no column, so that names made up
    for every sample cannot fill the memory. `top_level` are the components directly below the total, `judging` those
    of them that give scores.
    """

    def __init__(self, *, keep_texts: bool = False) -> None:
        self.statuses: Counter[str] = Counter()
        self.failures = FailureCounts()
        self.groups = array("q")
        self.texts = KeptTexts() if keep_texts else None
        self.top_level: dict[str, None] = {}
        self.judging: set[str] = set()
        self.without_number: Counter[str] = Counter()  # by component: scored samples that list it without a number
        self._rewards, self._scores, self._seconds = array("d"), array("d"), array("d")
        self._lengths, self._steps = array("q"), array("q")
        self._components: dict[str, array[float]] = {}
        self._component_seconds: dict[str, array[float]] = {}
        self._group_numbers: dict[int, int] = {}
        self._slowest: list[tuple[float, int, SlowSample]] = []
        self._snapshot: Samples | None = None

    def __len__(self) -> int:
        return len(self._rewards)

    def add(self, trajectory: Trajectory, output: RewardOutput) -> int:
        """Take one sample; returns the number of its row."""
        row, digest = len(self), group_digest(trajectory)
        self.statuses[output.status.value] += 1
        if not output.ok:
            self.failures.add(output, trajectory.label(row))
        self._rewards.append(_number(output.reward))
        self._scores.append(_number(output.score))
        self._seconds.append(_number(output.latency_s))
        self._lengths.append(len(trajectory.response))
        self._steps.append(NO_STEP if trajectory.training_step is None else _in_bounds(trajectory.training_step))
        self.groups.append(self._group_numbers.setdefault(digest, len(self._group_numbers)))
        if output.latency_s is not None:
            slow = (output.latency_s, -row, SlowSample(row, trajectory.id, output.latency_s))
            (heapq.heappush if len(self._slowest) < SLOWEST else heapq.heappushpop)(self._slowest, slow)
        if output.components:
            self._add_components(row, output)
        if self.texts is not None:
            self.texts.add(row, digest, Rollout(trajectory, output))
        return row

    def _add_components(self, row: int, output: RewardOutput) -> None:
        for name, part in output.components.items():
            self.top_level[name] = None
            if part.score is not None:
                self.judging.add(name)
        for name, part in output.flat_components().items():
            if name not in self._components and len(self._components) == MAX_COMPONENTS:
                continue
            _put(self._components.setdefault(name, array("d")), row, part.reward)
            if part.reward is None and output.ok:
                self.without_number[name] += 1
            if part.latency_s is not None:
                _put(self._component_seconds.setdefault(name, array("d")), row, part.latency_s)

    @property
    def slowest(self) -> tuple[SlowSample, ...]:
        """The samples that took longest, the slowest first."""
        return tuple(sample for _, _, sample in sorted(self._slowest, reverse=True))

    def samples(self) -> "Samples":
        """The samples so far as numpy columns."""
        if self._snapshot is None or len(self._snapshot.rewards) != len(self):
            self._snapshot = Samples(
                rewards=np.array(self._rewards),
                scores=np.array(self._scores),
                seconds=np.array(self._seconds),
                lengths=np.array(self._lengths, dtype=np.float64),
                steps=np.array(self._steps),
                groups=np.array(self.groups),
                group_count=len(self._group_numbers),
                components={name: _padded(column, len(self)) for name, column in self._components.items()},
                component_seconds={name: np.array(column) for name, column in self._component_seconds.items()},
                top_level=tuple(name for name in self.top_level if name in self._components),
                judging=frozenset(self.judging),
            )
        return self._snapshot


@dataclass(frozen=True)
class Samples:
    """The columns of a table: a row per sample, NaN where there is no number."""

    rewards: Floats
    scores: Floats
    seconds: Floats
    lengths: Floats
    steps: Integers
    groups: Integers
    group_count: int
    components: dict[str, Floats]
    component_seconds: dict[str, Floats]
    top_level: tuple[str, ...]
    judging: frozenset[str]

    @cached_property
    def scored(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.rewards)

    @cached_property
    def middle(self) -> float:
        """The middle of the range of all rewards: a response without a score is right above it, and fails below it."""
        rewards = self.rewards[self.scored]
        return float(rewards.min() / 2 + rewards.max() / 2) if len(rewards) else 0.0

    @cached_property
    def compared_groups(self) -> "Groups":
        """The groups with two scored samples or more."""
        return Groups.of(self, self.scored)

    @cached_property
    def comparable(self) -> "Groups":
        """The groups with two scored samples or more; if there are none, the whole run as one group."""
        return self.comparable_among(self.scored)

    def comparable_among(self, chosen: npt.NDArray[np.bool_]) -> "Groups":
        """The chosen rows of groups with two or more of them; all rows together if the run has no such groups."""
        if len(self.compared_groups.starts):
            return Groups.of(self, chosen)
        rows = np.flatnonzero(chosen)
        return Groups(rows, np.zeros(1, dtype=np.int64)) if len(rows) > 1 else Groups.none()


class Groups:
    """Rows ordered by group; `starts` has the index at which each group begins in `rows`."""

    def __init__(self, rows: Integers, starts: Integers) -> None:
        self.rows, self.starts = rows, starts
        self.sizes = np.diff(np.append(starts, len(rows)))

    @classmethod
    def none(cls) -> "Groups":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, samples: Samples, chosen: npt.NDArray[np.bool_], least: int = 2) -> "Groups":
        """The groups with at least `least` of the chosen rows."""
        rows = np.flatnonzero(chosen)
        rows = rows[np.bincount(samples.groups[rows], minlength=samples.group_count)[samples.groups[rows]] >= least]
        rows = rows[np.argsort(samples.groups[rows], kind="stable")]
        if not len(rows):
            return cls.none()
        return cls(rows, np.flatnonzero(np.diff(samples.groups[rows], prepend=-1)))

    def sums(self, values: Floats) -> Floats:
        """The sum of each group, of values in the order of `rows`."""
        return np.add.reduceat(values, self.starts) if len(self.starts) else np.zeros(0)

    def ends(self, column: Floats) -> tuple[Floats, Floats]:
        """The lowest and the highest value of each group; NaN for a group that lacks a value."""
        if not len(self.starts):
            return np.zeros(0), np.zeros(0)
        values = column[self.rows]
        return np.minimum.reduceat(values, self.starts), np.maximum.reduceat(values, self.starts)

    def deviations(self, column: Floats) -> Floats:
        """The difference of each value from the mean of its group, in the order of `rows`; exactly 0 if all are equal.

        Infinite or NaN where sums exceed what floats hold.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = self.ends(column)
            means = np.where(low == high, low, self.sums(column[self.rows]) / self.sizes)
            return np.asarray(column[self.rows] - np.repeat(means, self.sizes))


class KeptTexts:
    """Rollouts of some groups, by row, for the statistics that read responses.

    Which groups are kept depends on their names alone, so the same run keeps the same groups. When they exceed the
    budget, half of the groups are dropped.
    """

    def __init__(self, characters: int = MAX_CHARACTERS, rollouts: int = MAX_ROLLOUTS) -> None:
        self._characters, self._rollouts = characters, rollouts
        self._size, self._limit = 0, 1 << DIGEST_BITS
        self._kept: dict[int, tuple[int, int, ScoredRollout]] = {}  # by row: digest of the group, characters, rollout

    def add(self, row: int, digest: int, rollout: ScoredRollout) -> None:
        """Take one rollout; it is kept if its group is."""
        if digest >= self._limit:
            return
        trajectory = rollout.trajectory
        size = len(trajectory.response) + len(trajectory.prompt_text) + 500
        self._kept[row] = (digest, size, Rollout(msgspec.structs.replace(trajectory, tokens=None), rollout.output))
        self._size += size
        while (self._size > self._characters or len(self._kept) > self._rollouts) and self._limit > 1:
            self._limit //= 2
            self._kept = {row: entry for row, entry in self._kept.items() if entry[0] < self._limit}
            self._size = sum(size for _, size, _ in self._kept.values())

    def __iter__(self) -> Iterator[tuple[int, ScoredRollout]]:
        """The kept rows with their rollouts."""
        return ((row, rollout) for row, (_, _, rollout) in self._kept.items())


def ratio(part: float, whole: float) -> float | None:
    """A quotient; None when dividing by zero, or if a sum exceeds what floats hold."""
    return float(part / whole) if whole and math.isfinite(whole) and math.isfinite(part) else None


def without_nan(values: Floats) -> Floats:
    """The numbers of a column."""
    return values[~np.isnan(values)]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _in_bounds(step: int) -> int:
    """A step as a column of 64 bits can hold it."""
    return max(NO_STEP + 1, min((1 << 63) - 1, step))


def _put(column: "array[float]", row: int, value: float | None) -> None:
    """Set the value of a row; rows before it that have none get NaN."""
    column.extend([math.nan] * (row - len(column)))
    column.append(_number(value))


def _padded(column: "array[float]", rows: int) -> Floats:
    return np.append(np.array(column), np.full(rows - len(column), math.nan))
