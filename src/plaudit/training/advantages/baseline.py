"""The interface of advantage estimators, and the family that compares returns with a baseline.

A sample that was not scored (None or NaN) has no advantage and counts in no baseline, standard deviation or mean;
it is never a 0. Group statistics cover scored samples only.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from plaudit.errors import InvalidAdvantage
from plaudit.settings import Share, check_fields
from plaudit.training.advantages.credit import BatchCredit, Credit, returns

Estimates: TypeAlias = list[list[float] | None]


class Advantage(ABC):
    """Turns the credit of a batch into advantages.

    Call it with rewards, as in a hand-written loop, or `estimate` from a `BatchCredit` for one advantage per token.
    """

    def __call__(
        self,
        rewards: Iterable[Any],
        num_generations: int = 1,
        *,
        groups: Sequence[Hashable] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> list[float | None]:
        """One advantage per reward. Rewards of one prompt are consecutive, `num_generations` of them, unless `groups`
        assigns them; `lengths` in tokens matter to estimators that average over tokens.
        """
        estimates = self.estimate(BatchCredit.of_rewards(rewards, num_generations, groups, lengths))
        return [None if estimate is None else estimate[0] for estimate in estimates]

    @abstractmethod
    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        """One advantage per token of every sample; None for samples that were not scored."""


@dataclass(frozen=True, slots=True)
class GroupReturns:
    """The returns of a group's samples from each token on: `columns[t]` has those of all samples at token t.

    A response that has ended keeps its outcome: being short is no loss by itself. Without token rewards and discount
    all token positions are alike, and there is one column.
    """

    columns: list[list[float]]
    lengths: list[int]
    """The number of tokens that each sample chose."""

    @classmethod
    def of(cls, credits: Sequence[Credit], gamma: float) -> "GroupReturns":
        lengths = [credit.length for credit in credits]
        if gamma == 1.0 and not any(credit.has_token_rewards for credit in credits):
            return cls([[credit.outcome for credit in credits]], lengths)
        to_go = [returns(credit, gamma=gamma) for credit in credits]
        columns = [
            [
                values[index] if index < len(values) else credit.outcome
                for values, credit in zip(to_go, credits, strict=True)
            ]
            for index in range(max(map(len, to_go), default=0))
        ]
        return cls(columns, lengths)

    @property
    def std(self) -> float:
        """The standard deviation of the returns where the samples differ most. Divided by it, no advantage exceeds
        (n − 1) / √n, wherever in the response the rewards were earned."""
        return max(map(deviation, self.columns), default=0.0)


@dataclass(frozen=True)
class BaselineAdvantage(Advantage):
    """(what is still to be earned − a baseline) × a scale. The baseline at a token is that of the returns at the same
    position in the other samples of the group, so rewards already earned drop out of both; without token rewards and
    discount every token gets the sample's own advantage. Penalties (a KL) are subtracted from the scaled advantages:
    a small one stays small, whatever the spread of the rewards."""

    gamma: Share = 1.0
    compares: ClassVar[bool] = True
    whitened: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_fields(self)

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        if self.compares:
            check_comparable(type(self).__name__, batch_credit)
        members = batch_credit.members
        groups = {
            group: GroupReturns.of(batch_credit.select_scored(indices), self.gamma)
            for group, indices in members.items()
        }
        scales = self._scales(groups, batch_credit)
        estimates: Estimates = [None] * len(batch_credit.credits)
        for group, indices in members.items():
            columns = [self._centre(column, groups[group].lengths) for column in groups[group].columns]
            for at, (index, credit) in enumerate(zip(indices, batch_credit.select_scored(indices), strict=True)):
                last = len(columns) - 1
                estimates[index] = [columns[min(t, last)][at] * scales[group] for t in range(len(credit.tokens))]
        estimates = batch_credit.subtract_penalties(estimates, self.gamma)
        return whiten(estimates, batch_credit.credits) if self.whitened else estimates

    def _centre(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        if self.compares and values and min(values) == max(values):  # their mean may differ in its last digit
            return [0.0] * len(values)
        baselines = self._baselines(values, lengths)
        return [value - baseline for value, baseline in zip(values, baselines, strict=True)]

    @abstractmethod
    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        """The baseline of each sample of a group, from the returns of all at one token position."""

    def _scales(self, groups: dict[Hashable, GroupReturns], batch_credit: BatchCredit) -> dict[Hashable, float]:
        """The factor of each group for its centred returns."""
        return dict.fromkeys(groups, 1.0)


def whiten(estimates: Estimates, credits: Sequence[Credit | None]) -> Estimates:
    """The estimates with mean 0 and variance 1 over all chosen tokens of the batch; all 0 if they do not vary."""
    values = [
        value
        for estimate, credit in zip(estimates, credits, strict=True)
        if estimate is not None and credit is not None
        for value, chosen in zip(estimate, credit.action_mask, strict=True)
        if chosen
    ]
    if not values:
        return estimates
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    slope = 1.0 / (std + 1e-8) if max(values) > min(values) else 0.0
    return [None if estimate is None else [(value - mean) * slope for value in estimate] for estimate in estimates]


def deviation(values: Sequence[float]) -> float:
    """The unbiased standard deviation; `statistics.stdev` is exact to the last digit and ten times slower."""
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def check_comparable(name: str, batch_credit: BatchCredit) -> None:
    """Raise InvalidAdvantage if no sample has another of its prompt to be compared with."""
    count = len(batch_credit.groups)
    if count > 1 and len(set(batch_credit.groups)) == count:
        raise InvalidAdvantage(
            f"{name} compares samples of one prompt, but {count} samples came in {count} groups, one each; "
            "sample several per prompt (num_generations=4), or use reinforce"
        )
