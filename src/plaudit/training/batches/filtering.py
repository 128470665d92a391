"""Leave out groups that teach nothing, judged by their scores and never by the shaped reward.

Samples that were not scored say nothing about a prompt: a group is judged by the others, and one without any is left
out.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput
from plaudit.errors import TrainingError
from plaudit.rollouts import Rollout, ScoredRollout
from plaudit.training.config.schema import FilterConfig
from plaudit.trajectory import GroupKey, Trajectory

__all__ = ["FilterResult", "filter_groups"]


@dataclass(frozen=True, slots=True)
class FilterResult:
    """The samples of the groups that stay, and how many groups were left out for each reason."""

    kept: list[ScoredRollout]
    groups: int
    dropped: dict[str, int]

    @property
    def share(self) -> float:
        """The share of groups left out."""
        return sum(self.dropped.values()) / self.groups if self.groups else 0.0


def filter_groups(scored: Iterable[tuple[Trajectory, RewardOutput]], settings: FilterConfig) -> FilterResult:
    """The groups worth an update, in their order.

    by="mean" keeps a group when low < mean(scores) < high, by="spread" when max − min of its scores exceeds min_spread.
    The bounds themselves are outside, so that 0 and 1 drop the groups that are all wrong and all right (DAPO's dynamic
    sampling, arXiv:2503.14476).
    """
    groups: dict[GroupKey, list[ScoredRollout]] = defaultdict(list)
    for trajectory, output in scored:
        groups[trajectory.group_key].append(Rollout(trajectory, output))
    kept: list[ScoredRollout] = []
    dropped: Counter[str] = Counter()
    for members in groups.values():
        reason = _reason_to_drop(members, settings)
        if reason:
            dropped[reason] += 1
        else:
            kept += members
    return FilterResult(kept, len(groups), dict(dropped))


def _reason_to_drop(members: Sequence[ScoredRollout], settings: FilterConfig) -> str:
    """Why a group is left out; the empty string when it stays."""
    if settings.by == "none":
        return ""
    scored = [output for _, output in members if output.ok]
    scores = [output.score for output in scored if output.score is not None]
    if len(scores) < len(scored):
        raise TrainingError(
            f"filtering by {settings.by} needs a score of every sample, and this reward gives none: "
            "let it return RewardOutput(reward, score=…), or do not filter"
        )
    if not scores:
        return "not scored"
    if settings.by == "spread":
        return "" if max(scores) - min(scores) > settings.min_spread else "all alike"
    mean = statistics.fmean(scores)
    if mean <= settings.low:
        return "too hard"
    return "too easy" if mean >= settings.high else ""
