"""How far a reward agrees with labels: whether it calls right what people called right.

A sample counts as right when its score (its reward where it has no score) reaches the threshold.
"""

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import RolloutsError
from plaudit.report.selection import ABSENT, column_of, known_columns, no_such_column
from plaudit.trajectory import Trajectory

__all__ = ["Agreement", "AgreementBuilder"]

THRESHOLD = 0.5
_LABELS = {
    **dict.fromkeys(("true", "yes", "1", "right", "correct", "pass", "passed", "good", "positive"), True),
    **dict.fromkeys(("false", "no", "0", "wrong", "incorrect", "fail", "failed", "bad", "negative"), False),
}


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
        """How many samples were compared."""
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


class AgreementBuilder:
    """Compares outputs with the labels in a column, sample by sample."""

    def __init__(self, column: str, threshold: float = THRESHOLD) -> None:
        self.column, self.threshold = column, threshold
        self._counts: Counter[tuple[bool, bool]] = Counter()
        self._unscored = self._unlabelled = 0
        self._known: dict[str, None] = {}

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        label = column_of(trajectory, self.column)
        if label is ABSENT:
            self._unlabelled += 1
            self._known.update(dict.fromkeys(known_columns(trajectory)))
            return
        labelled = self._read(label)
        value = output.reward if output.score is None else output.score
        if value is None:
            self._unscored += 1
        else:
            self._counts[value >= self.threshold, labelled] += 1

    def agreement(self) -> Agreement:
        """The agreement of the samples so far; raises RolloutsError when none of them had a label."""
        if self._unlabelled and not self._counts and not self._unscored:
            raise no_such_column(self.column, self._known, "label")
        counts = self._counts
        return Agreement(
            right_right=counts[True, True],
            right_wrong=counts[True, False],
            wrong_right=counts[False, True],
            wrong_wrong=counts[False, False],
            unscored=self._unscored,
            unlabelled=self._unlabelled,
        )

    def _read(self, label: Any) -> bool:
        known = _LABELS.get(str(label).strip().lower().removesuffix(".0"))
        if known is None:
            raise RolloutsError(
                f"the label {self.column!r} must say right or wrong (true and false, 1 and 0, yes and no, correct and "
                f"incorrect, …), got {label!r:.60}"
            )
        return known


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
