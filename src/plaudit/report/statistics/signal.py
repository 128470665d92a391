"""Which groups a policy can learn from, and whether what it learns there has to do with being right.

A group is *dead* when all its rewards are equal: every advantage is 0. It is a *phantom* when its rewards differ though
its scores are all the same: it teaches whatever else the reward pays (length, form), not correctness. The share of the
signal that comes from phantoms is Σ A² there / Σ A², with the plain advantage A = R − mean(R) of the group, and with
the normalised one A = (R − mean(R)) / std(R), which makes small differences as large as big ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.report.groups import DEAD_SPREAD
from plaudit.report.statistics.table import SampleTable, deviations, ratio

__all__ = ["GroupSignal", "group_kind", "group_signal"]


@dataclass(frozen=True, slots=True)
class GroupSignal:
    """Counts of groups by what they teach; groups with fewer than two scored samples are in `single`.

    `effective_signal` is the mean of p(1 − p) over groups with scores, p being the share of right responses: 0.25 at
    best, 0 where every group is all right or all wrong.
    """

    live: int
    phantom: int
    dead_right: int
    dead_wrong: int
    dead_other: int
    single: int
    phantom_share: float | None
    phantom_share_normalized: float | None
    effective_signal: float | None

    @property
    def compared(self) -> int:
        return self.live + self.phantom + self.dead

    @property
    def dead(self) -> int:
        return self.dead_right + self.dead_wrong + self.dead_other

    @property
    def dead_share(self) -> float | None:
        return ratio(self.dead, self.compared)


def group_signal(table: SampleTable) -> GroupSignal:
    """Sort the groups of a run by what they teach."""
    counts = dict.fromkeys(("live", "phantom", "dead_right", "dead_wrong", "dead_other"), 0)
    compared, squares, phantom_squares, varied, phantom_varied = 0, 0.0, 0.0, 0, 0
    chances: list[float] = []
    for rows in table.by_group():
        if len(rows) < 2:
            continue
        compared += 1
        kind = group_kind(table, rows)
        counts[kind] += 1
        scores = [table.is_right(row) for row in rows]
        if None not in scores:
            share = sum(map(bool, scores)) / len(rows)
            chances.append(share * (1 - share))
        if kind in ("live", "phantom"):
            own = sum(deviation * deviation for deviation in deviations(table.rewards, rows))
            squares, varied = squares + own, varied + len(rows)
            if kind == "phantom":
                phantom_squares, phantom_varied = phantom_squares + own, phantom_varied + len(rows)
    return GroupSignal(
        **counts,
        single=table.group_count - compared,
        phantom_share=ratio(phantom_squares, squares),
        phantom_share_normalized=ratio(phantom_varied, varied),
        effective_signal=math.fsum(chances) / len(chances) if chances else None,
    )


def group_kind(table: SampleTable, rows: Sequence[int]) -> str:
    """What a group of at least two scored samples teaches: live, phantom, dead_right, dead_wrong or dead_other."""
    rewards = [table.rewards[row] for row in rows]
    scores = [table.scores[row] for row in rows]
    judged = not any(map(math.isnan, scores))
    if max(rewards) - min(rewards) > DEAD_SPREAD:
        return "phantom" if judged and max(scores) - min(scores) <= DEAD_SPREAD else "live"
    if judged and min(scores) >= 1.0 - DEAD_SPREAD:
        return "dead_right"
    return "dead_wrong" if judged and max(scores) <= DEAD_SPREAD else "dead_other"
