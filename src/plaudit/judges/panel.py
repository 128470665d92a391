"""Several judges on the same samples: their median counts, and where they disagree too much there is no score."""

import statistics
from collections.abc import Sequence

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction, RewardLike
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings
from plaudit.settings import check_number
from plaudit.trajectory import Trajectory

__all__ = ["JudgePanel"]


class JudgePanel(CompoundReward):
    """The median of judges on one scale: `JudgePanel([judge_a, judge_b, judge_c], max_spread=0.4)`.

    All are asked at once, and each is a component under its name. More than half of them must have a verdict; those
    that lie further apart than `max_spread` leave the sample unparsed.
    """

    def __init__(self, judges: Sequence[RewardLike], *, max_spread: float = 0.5, name: str = "JudgePanel") -> None:
        if not isinstance(judges, list | tuple) or len(judges) < 2:
            raise InvalidSettings("a panel is a list of at least two judges")
        check_number("max_spread", max_spread, least=0)
        self.set_parts(judges)
        self.judges = list(self.parts)
        self.max_spread, self.name = float(max_spread), name
        self.judge_names = _names(self.judges)
        bounds = {judge.bounds for judge in self.judges}
        if len(bounds) > 1:
            shown = ", ".join(
                f"{name} {judge.bounds}" for name, judge in zip(self.judge_names, self.judges, strict=True)
            )
            raise InvalidSettings(f"the judges of a panel rate on one scale; these do not: {shown}")
        self.bounds = next(iter(bounds))

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        parts = outputs
        components = dict(zip(self.judge_names, parts, strict=True))
        values = [part.reward for part in parts if part.reward is not None]
        if 2 * len(values) <= len(parts):
            name, failed = next((name, part) for name, part in components.items() if not part.ok)
            reason = f"{len(parts) - len(values)} of {len(parts)} judges gave no verdict; {name}: {failed.reason}"
            return RewardOutput.unscored(failed.status, reason, components=components)
        shown = ", ".join(f"{name} {part.reward:.2f}" for name, part in components.items() if part.reward is not None)
        if max(values) - min(values) > self.max_spread:
            return RewardOutput.unscored(Status.UNPARSED, f"the judges disagree: {shown}", components=components)
        scores = [part.score for part in parts if part.score is not None]
        silent = ", ".join(name for name, part in components.items() if not part.ok)
        return RewardOutput(
            statistics.median(values),
            score=statistics.median(scores) if scores else None,
            reason=f"{shown}; without {silent}" if silent else shown,
            metadata={"spread": max(values) - min(values)},
            components=components,
        )

    def __repr__(self) -> str:
        return f"JudgePanel({', '.join(map(repr, self.judges))})"


def _names(judges: Sequence[RewardFunction]) -> list[str]:
    """The names of the judges; those that share one are numbered."""
    names = [judge.name for judge in judges]
    return [
        name if names.count(name) == 1 else f"{name}_{names[: index + 1].count(name)}"
        for index, name in enumerate(names)
    ]
