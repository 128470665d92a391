"""Rewards by the values of a column: which tasks, models or levels do well."""

from array import array
from dataclasses import asdict, dataclass
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.errors import RolloutsError
from plaudit.report.coverage import CoveredMean
from plaudit.report.selection import ABSENT, column_of, known_columns, no_such_column
from plaudit.trajectory import Trajectory

__all__ = ["Breakdown", "BreakdownBuilder", "Slice"]

MAX_SLICES = 10_000
NO_VALUE = "(none)"


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


class BreakdownBuilder:
    """Sums up outputs by the values of a column, sample by sample."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._sums: dict[str, array[float]] = {}  # count, scored, sum of rewards, scores given, sum of scores
        self._known: dict[str, None] = {}
        self._found = False

    def add(self, trajectory: Trajectory, output: RewardOutput) -> None:
        """Take one sample."""
        value = column_of(trajectory, self.column)
        if value is ABSENT:
            self._known.update(dict.fromkeys(known_columns(trajectory)))
        else:
            self._found = True
        sums = self._sums.setdefault(NO_VALUE if value is ABSENT else str(value), array("d", [0.0] * 5))
        if len(self._sums) > MAX_SLICES:
            raise RolloutsError(f"{self.column!r} has more than {MAX_SLICES:,} values; break down by a coarser column")
        sums[0] += 1
        if output.reward is not None:
            sums[1] += 1
            sums[2] += output.reward
        if output.score is not None:
            sums[3] += 1
            sums[4] += output.score

    def breakdown(self) -> Breakdown:
        """The slices so far; raises RolloutsError when no sample had the column."""
        if self._sums and not self._found:
            raise no_such_column(self.column, self._known)
        slices = [
            _slice(value, int(count), int(scored), total, int(with_score), score)
            for value, (count, scored, total, with_score, score) in self._sums.items()
        ]
        return Breakdown(self.column, tuple(sorted(slices, key=lambda one: -one.count)))


def _slice(value: str, count: int, scored: int, rewards: float, with_score: int, scores: float) -> Slice:
    reward = CoveredMean.of_scored(rewards / scored if scored else None, scored, count - scored)
    score = CoveredMean(None, None)
    if with_score:
        score = CoveredMean.of_scored(scores / with_score, with_score, count - scored)
    return Slice(value, count, scored, reward.scored, reward.overall, score.scored, score.overall)
