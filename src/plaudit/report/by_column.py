"""Rewards by a column of the data: means by its values (which tasks, models or levels do well), and agreement with
labels (does the reward call right what people called right?).
"""

import math
from array import array
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.diff.difference import RIGHT
from plaudit.errors import RolloutsError
from plaudit.report.coverage import CoveredMean
from plaudit.report.selection import ABSENT, column_of, known_columns, no_such_column
from plaudit.trajectory import Trajectory

MAX_SLICES = 10_000
NO_VALUE = "(none)"
_LABELS = {
    **dict.fromkeys(("true", "yes", "1", "right", "correct", "pass", "passed", "good", "positive"), True),
    **dict.fromkeys(("false", "no", "0", "wrong", "incorrect", "fail", "failed", "bad", "negative"), False),
}


@dataclass(frozen=True, slots=True)
class Slice:
    """The samples of one value: how many, how many of them were scored, and their means.

    `reward` and `score` are means over scored samples, `reward_all` and `score_all` over all (unscored count as 0).
    """

    value: str
    count: int
    scored: int
    reward: float | None
    reward_all: float | None
    score: float | None
    score_all: float | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The slices of a column, largest first."""

    column: str
    slices: tuple[Slice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the slices by value."""
        return {
            one.value: {name: value for name, value in asdict(one).items() if name != "value"} for one in self.slices
        }


class _ColumnReader:
    """Reads a column of one sample after the other; if no sample has it, the error lists the columns that exist."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._has_column, self._columns = False, dict[str, None]()

    def _read(self, trajectory: Trajectory) -> Any:
        value = column_of(trajectory, self.column)
        self._has_column = self._has_column or value is not ABSENT
        if value is ABSENT and not self._has_column:
            self._columns.update(dict.fromkeys(known_columns(trajectory)))
        return value

    def _require(self, what: str) -> None:
        if not self._has_column and self._columns:
            raise no_such_column(self.column, self._columns, what)


class BreakdownBuilder(_ColumnReader):
    """Sums up outputs by the values of a column, sample by sample."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self._sums: dict[str, array[float]] = {}  # count, scored, sum of rewards, samples with a score, sum of scores

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        value = self._read(trajectory)
        sums = self._sums.setdefault(NO_VALUE if value is ABSENT else str(value), array("d", [0.0] * 5))
        if len(self._sums) > MAX_SLICES:
            raise RolloutsError(f"{self.column!r} has more than {MAX_SLICES:,} values; break down by a coarser column")
        sums[0] += 1
        for index, number in ((1, output.reward), (3, output.score)):
            if number is not None:
                sums[index] += 1
                sums[index + 1] += number

    def breakdown(self) -> Breakdown:
        """The slices so far; raises RolloutsError if no sample had the column."""
        self._require("column")
        slices = [_slice(value, *sums) for value, sums in self._sums.items()]
        return Breakdown(self.column, tuple(sorted(slices, key=lambda one: -one.count)))


def _slice(value: str, count: float, scored: float, rewards: float, with_score: float, scores: float) -> Slice:
    unscored = int(count - scored)
    reward = CoveredMean.of_scored(rewards / scored if scored else None, int(scored), unscored)
    score = CoveredMean(None, None)
    if with_score:
        score = CoveredMean.of_scored(scores / with_score, int(with_score), unscored)
    return Slice(value, int(count), int(scored), reward.scored, reward.overall, score.scored, score.overall)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts by (reward, label), and how many samples were left out because they were not scored or had no label."""

    right_right: int
    right_wrong: int
    wrong_right: int
    wrong_wrong: int
    unscored: int
    unlabelled: int

    @property
    def count(self) -> int:
        """The number of samples that were compared."""
        return self.right_right + self.right_wrong + self.wrong_right + self.wrong_wrong

    @property
    def accuracy(self) -> float | None:
        return _share(self.right_right + self.wrong_wrong, self.count)

    @property
    def precision(self) -> float | None:
        """Of what the reward calls right, the share that is labelled right."""
        return _share(self.right_right, self.right_right + self.right_wrong)

    @property
    def recall(self) -> float | None:
        """Of what is labelled right, the share that the reward calls right."""
        return _share(self.right_right, self.right_right + self.wrong_right)

    @property
    def kappa(self) -> float | None:
        """Cohen's κ: agreement beyond what two independent raters with the same habits would reach by chance."""
        if not self.count or self.accuracy is None:
            return None
        by_reward = (self.right_right + self.right_wrong) / self.count
        by_label = (self.right_right + self.wrong_right) / self.count
        chance = by_reward * by_label + (1 - by_reward) * (1 - by_label)
        return None if math.isclose(chance, 1.0) else (self.accuracy - chance) / (1 - chance)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        names = ("count", "accuracy", "precision", "recall", "kappa")
        return {**asdict(self), **{name: getattr(self, name) for name in names}}


class AgreementBuilder(_ColumnReader):
    """Compares outputs with the labels in a column, sample by sample.

    A sample counts as right if its score (its reward if it has no score) reaches RIGHT.
    """

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self._counts: Counter[tuple[bool, bool]] = Counter()
        self._unscored = self._unlabelled = 0

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        label = self._read(trajectory)
        if label is ABSENT:
            self._unlabelled += 1
            return
        labelled = read_label(self.column, label)
        value = output.reward if output.score is None else output.score
        if value is None:
            self._unscored += 1
        else:
            self._counts[value >= RIGHT, labelled] += 1

    def agreement(self) -> Agreement:
        """The agreement of the samples so far; raises RolloutsError if none of them had a label."""
        self._require("label")
        counts = self._counts
        return Agreement(
            right_right=counts[True, True],
            right_wrong=counts[True, False],
            wrong_right=counts[False, True],
            wrong_wrong=counts[False, False],
            unscored=self._unscored,
            unlabelled=self._unlabelled,
        )


def read_label(column: str, label: Any) -> bool:
    """Whether a label of a column means right; raises RolloutsError if it means neither right nor wrong."""
    known = _LABELS.get(str(label).strip().lower().removesuffix(".0"))
    if known is None:
        raise RolloutsError(
            f"the label {column!r} must say right or wrong (true and false, 1 and 0, yes and no, correct and "
            f"incorrect, …), got {label!r:.60}"
        )
    return known


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
