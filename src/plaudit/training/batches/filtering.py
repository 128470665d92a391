"""Leave out groups that teach nothing, judged by their scores and never by the shaped reward.

Samples that were not scored say nothing about a prompt: a group is judged by the others, and one without any is left
out.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings, TrainingError, did_you_mean
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.trajectory import GroupKey, Trajectory

__all__ = ["FilterBy", "FilterResult", "GroupFilter"]

FilterBy: TypeAlias = Literal["none", "mean", "spread"]


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The samples of the groups that stay, and why how many groups were left out."""

    kept: list[ScoredRollout]
    groups: int
    dropped: dict[str, int]

    @property
    def share(self) -> float:
        """The share of groups left out."""
        return sum(self.dropped.values()) / self.groups if self.groups else 0.0


@dataclass(frozen=True, slots=True)
class GroupFilter:
    """`mean` keeps a group when low < mean(scores) < high, `spread` when max − min of its scores exceeds min_spread.

    The bounds themselves are outside, so that 0 and 1 drop the groups that are all wrong and all right (DAPO's dynamic
    sampling, arXiv:2503.14476).
    """

    by: FilterBy = "mean"
    low: float = 0.0
    high: float = 1.0
    min_spread: float = 0.0

    def __post_init__(self) -> None:
        if self.by not in _VERDICTS:
            hint = did_you_mean(str(self.by), _VERDICTS)
            raise InvalidSettings(f"no filter by {self.by!r}{hint} (there is {', '.join(_VERDICTS)})")
        if not self.low < self.high:
            raise InvalidSettings(f"need low < high, got low={self.low:g} and high={self.high:g}")

    def __call__(self, scored: Iterable[tuple[Trajectory, RewardOutput]]) -> FilterResult:
        """The groups worth an update, in the order they came."""
        groups: dict[GroupKey, list[ScoredRollout]] = defaultdict(list)
        for trajectory, output in scored:
            groups[trajectory.group_key].append(Rollout(trajectory, output))
        kept: list[ScoredRollout] = []
        dropped: Counter[str] = Counter()
        for members in groups.values():
            verdict = self._verdict(members)
            if verdict:
                dropped[verdict] += 1
            else:
                kept += members
        return FilterResult(kept, len(groups), dict(dropped))

    def _verdict(self, members: Sequence[ScoredRollout]) -> str:
        """Why the group is left out; the empty string when it stays."""
        if self.by == "none":
            return ""
        scored = [output for _, output in members if output.ok]
        scores = [output.score for output in scored if output.score is not None]
        if len(scores) < len(scored):
            raise TrainingError(
                f"filtering by {self.by} needs a score of every sample, and this reward gives none: "
                "let it return RewardOutput(reward, score=…), or do not filter"
            )
        return _VERDICTS[self.by](scores, self) if scores else "not scored"


def _always(scores: Sequence[float], settings: GroupFilter) -> str:
    return ""


def _by_mean(scores: Sequence[float], settings: GroupFilter) -> str:
    mean = statistics.fmean(scores)
    if mean <= settings.low:
        return "too hard"
    return "too easy" if mean >= settings.high else ""


def _by_spread(scores: Sequence[float], settings: GroupFilter) -> str:
    return "" if max(scores) - min(scores) > settings.min_spread else "all alike"


_VERDICTS: dict[str, Callable[[Sequence[float], GroupFilter], str]] = {
    "none": _always,
    "mean": _by_mean,
    "spread": _by_spread,
}
