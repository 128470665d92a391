"""Rewards of several tasks on one scale: each task's over the mean and the spread that it has had in the run so far.

An estimator that does not divide by the spread of a group (rloo, dr_grpo, reinforce) would else learn a task whose
rewards reach 100 a hundred times as fast as one whose rewards reach 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.normalize import Moments
from plaudit.training.advantages.credit import BatchCredit, Credit

__all__ = ["TaskScale"]

NEGLIGIBLE = 1e-9
"""A spread below this share of the mean is rounding: such rewards are only centred."""


@dataclass
class TaskScale:
    """Running moments of the rewards by task; a batch is added before it is scaled."""

    moments: dict[str, Moments] = field(default_factory=dict)

    def normalize(self, batch_credit: BatchCredit, tasks: Sequence[str | None]) -> BatchCredit:
        """The credit with each sample's reward as (reward − mean) / spread of its task; token rewards keep their part.

        Components keep their own scales, since estimators that look at them normalise each.
        """
        names = [task or "" for task in tasks]
        for credit, task in zip(batch_credit.credits, names, strict=True):
            if credit is not None:
                self.moments.setdefault(task, Moments()).add(credit.total)
        credits = [
            None if credit is None else self._scale(credit, task)
            for credit, task in zip(batch_credit.credits, names, strict=True)
        ]
        return replace(batch_credit, credits=credits, baselines=self._baselines(batch_credit.baselines, names))

    def state(self) -> dict[str, list[float]]:
        """What a checkpoint keeps."""
        return {task: [seen.count, seen.mean, seen.squares] for task, seen in self.moments.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.moments = {task: Moments(int(count), mean, squares) for task, (count, mean, squares) in state.items()}

    def metrics(self) -> dict[str, float]:
        """`task/<task>/spread`: what the task's rewards are divided by."""
        return {f"task/{task}/spread": seen.std for task, seen in self.moments.items()}

    def _slope(self, task: str) -> float:
        seen = self.moments[task]
        return 1.0 / seen.std if seen.std > NEGLIGIBLE * max(1e-9, abs(seen.mean)) else 1.0

    def _scale(self, credit: Credit, task: str) -> Credit:
        slope = self._slope(task)
        outcome = (credit.outcome - self.moments[task].mean) * slope
        return replace(credit, outcome=outcome, tokens=[value * slope for value in credit.tokens])

    def _baselines(self, baselines: Sequence[float | None] | None, tasks: Sequence[str]) -> list[float | None] | None:
        if baselines is None:
            return None
        return [
            None if value is None or task not in self.moments else (value - self.moments[task].mean) * self._slope(task)
            for value, task in zip(baselines, tasks, strict=True)
        ]
