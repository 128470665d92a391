"""Advantage estimators: rewards in, advantages out, one per sample or one per token.

For a reward of a whole response, each estimator is the formula of its paper.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

from plaudit.errors import InvalidAdvantage, did_you_mean
from plaudit.settings import Count, Share, check_choice, check_fields
from plaudit.training.advantages.baseline import (
    Advantage,
    BaselineAdvantage,
    Estimates,
    GroupReturns,
    check_comparable,
    deviation,
    whiten,
)
from plaudit.training.advantages.credit import BatchCredit, Credit, StepCredit, gae

Scale: TypeAlias = Literal["group", "batch", "none"]
EPSILON = 1e-6


@dataclass(frozen=True)
class ReinforceAdvantage(BaselineAdvantage):
    """The return itself, whitened over the tokens of the batch: REINFORCE++ (arXiv:2501.03262).

    `whitening=False` is Williams' REINFORCE: the return and nothing else.
    """

    whitening: bool = True
    compares: ClassVar[bool] = False

    @property
    def whitened(self) -> bool:  # type: ignore[override]
        return self.whitening

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        return [0.0] * len(values)


@dataclass(frozen=True)
class DrGRPOAdvantage(BaselineAdvantage):
    """Reward minus the mean of its group, unscaled, so that hard and easy prompts weigh alike (arXiv:2503.20783)."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        return [statistics.fmean(values)] * len(values)


@dataclass(frozen=True)
class ReinforceBaselineAdvantage(DrGRPOAdvantage):
    """Reward minus the mean of its group, whitened over the tokens of the batch: REINFORCE++-baseline
    (arXiv:2501.03262)."""

    whitened: ClassVar[bool] = True


@dataclass(frozen=True)
class RLOOAdvantage(BaselineAdvantage):
    """Reward minus the mean of the other samples of its group (arXiv:2402.14740); 0 where there is no other."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        if len(values) == 1:
            return list(values)
        total = math.fsum(values)
        return [(total - value) / (len(values) - 1) for value in values]


@dataclass(frozen=True)
class OPOAdvantage(BaselineAdvantage):
    """Reward minus the mean of its group weighted by length, the baseline of least variance (arXiv:2505.23585)."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        weighted = math.fsum(value * length for value, length in zip(values, lengths, strict=True))
        return [weighted / (sum(lengths) or 1)] * len(values)


@dataclass(frozen=True)
class GRPOAdvantage(DrGRPOAdvantage):
    """(Reward − group mean) / (standard deviation + ε), unbiased and of the group (arXiv:2402.03300).

    `scale="batch"` divides by the deviation of the whole batch (arXiv:2508.08221), `"none"` by nothing. With token
    rewards or a discount the deviation is that of the returns, at the token position where they differ most.
    """

    scale: Scale = "group"
    epsilon: float = EPSILON

    def _scales(self, groups: dict[Hashable, GroupReturns], batch_credit: BatchCredit) -> dict[Hashable, float]:
        if self.scale == "none":
            return dict.fromkeys(groups, 1.0)
        if self.scale == "batch":
            everything = GroupReturns.of(batch_credit.select_scored(range(len(batch_credit.credits))), self.gamma)
            return dict.fromkeys(groups, 1.0 / (everything.std + self.epsilon))
        return {group: 1.0 / (group_returns.std + self.epsilon) for group, group_returns in groups.items()}


@dataclass(frozen=True)
class MaxRLAdvantage(DrGRPOAdvantage):
    """(Reward − group mean) / group mean: the gradient of the log of the chance to be right, to the order that the
    group allows (MaxRL, 2026). For rewards that are never negative; 0 where none was earned."""

    def _scales(self, groups: dict[Hashable, GroupReturns], batch_credit: BatchCredit) -> dict[Hashable, float]:
        means = {
            group: math.fsum(group_returns.columns[0]) / len(group_returns.columns[0])
            for group, group_returns in groups.items()
        }
        if any(value < 0 for group_returns in groups.values() for value in group_returns.columns[0]):
            raise InvalidAdvantage("maxrl divides by the mean reward, so rewards must not be negative; use grpo")
        return {group: 1.0 / (mean + EPSILON) if mean else 0.0 for group, mean in means.items()}


@dataclass(frozen=True)
class PassAtKAdvantage(BaselineAdvantage):
    """The advantage for getting at least one of k samples right (Pass@k training, arXiv:2508.10751, by its closed
    form): right samples of hard prompts have large advantages, those of easy prompts small ones.

    A sample is right when its reward is at least `right`.
    """

    k: Count = 4
    right: float = 1.0

    def _centre(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        n, wrong = len(values), sum(value < self.right for value in values)
        if self.k > n or wrong in (0, n):
            return [0.0] * n
        mean = 1.0 - math.comb(wrong, self.k) / math.comb(n, self.k)
        std = math.sqrt(mean * (1.0 - mean))
        if not std:
            return [0.0] * n
        of_wrong = 1.0 - mean - math.comb(wrong - 1, self.k - 1) / math.comb(n - 1, self.k - 1)
        return [((1.0 - mean) if value >= self.right else of_wrong) / std for value in values]

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        return [value - centred for value, centred in zip(values, self._centre(values, lengths), strict=True)]


@dataclass(frozen=True)
class GDPOAdvantage(Advantage):
    """Every component normalised in its group on its own, then their weighted sum whitened over the batch
    (arXiv:2601.05242), so that no component dominates the others.

    A sample counts where all its components with a weight are scored. `weights` names components; without it all of
    them count, each with weight 1.
    """

    weights: Mapping[str, float] | None = None
    gamma: float = 1.0

    def __call__(
        self,
        rewards: Any,
        num_generations: int = 1,
        *,
        groups: Sequence[Hashable] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> list[float | None]:
        """One advantage per sample; `rewards` maps the name of each component to its rewards."""
        if not isinstance(rewards, Mapping):
            raise InvalidAdvantage(f"gdpo takes rewards by component, as a mapping; got {type(rewards).__name__}")
        parts = {
            name: BatchCredit.of_rewards(values, num_generations, groups, lengths) for name, values in rewards.items()
        }
        count = max((len(part.credits) for part in parts.values()), default=0)
        whole = BatchCredit.of_rewards([0.0] * count, num_generations, groups, lengths)  # components decide which count
        batch_credit = replace(whole, components={name: part.credits for name, part in parts.items()})
        return [None if estimate is None else estimate[0] for estimate in self.estimate(batch_credit)]

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        weights = self._check_weights(batch_credit)
        each = GRPOAdvantage(gamma=self.gamma)
        parts = [
            (weight, each.estimate(BatchCredit(batch_credit.components[name], batch_credit.groups)))
            for name, weight in weights.items()
        ]
        summed: Estimates = []
        for sample in range(len(batch_credit.credits)):
            values = [(weight, estimate) for weight, part in parts if (estimate := part[sample]) is not None]
            complete = len(values) == len(parts) and batch_credit.credits[sample] is not None
            summed.append(_sum_weighted(values) if complete else None)
        return whiten(batch_credit.subtract_penalties(summed, self.gamma), batch_credit.credits)

    def _check_weights(self, batch_credit: BatchCredit) -> Mapping[str, float]:
        known = batch_credit.components
        if not known:
            raise InvalidAdvantage("gdpo needs a reward made of components, such as 0.7 * a + 0.3 * b; this has none")
        for name in self.weights or {}:
            if name not in known:
                raise InvalidAdvantage(
                    f"no component {name!r}{did_you_mean(name, known)} (there is {', '.join(known)})"
                )
        return self.weights or dict.fromkeys(known, 1.0)


@dataclass(frozen=True)
class GAEAdvantage(Advantage):
    """Generalised advantage estimation with a critic's values, whitened over the tokens of the batch (PPO)."""

    gamma: float = 1.0
    lam: float = 0.95
    whitening: bool = True

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        if batch_credit.values is None:
            raise InvalidAdvantage("gae needs a critic's values, one per token; without a critic use rloo or grpo")
        estimates: Estimates = [
            None if credit is None else gae(credit, values, gamma=self.gamma, lam=self.lam)
            for credit, values in zip(batch_credit.penalized_credits, batch_credit.values, strict=True)
        ]
        return whiten(estimates, batch_credit.credits) if self.whitening else estimates


CompareBy: TypeAlias = Literal["state", "turn"]


@dataclass(frozen=True)
class StepAdvantage(Advantage):
    """The advantage of the episode in its group, plus that of the step in its group of comparable steps.

    `gamma` is per step. With `scaled` both are divided by the standard deviation of their group, as in GRPO; without,
    they are differences to the mean.
    """

    gamma: Share = 1.0
    by: CompareBy = "state"
    episode_weight: float = 1.0
    step_weight: float = 1.0
    scaled: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        check_comparable(type(self).__name__, batch_credit)
        episodes = batch_credit.steps or [_as_one_step(credit) for credit in batch_credit.credits]
        estimates: Estimates = [None] * len(batch_credit.credits)
        for indices in batch_credit.members.values():
            totals = self._compare(batch_credit.totals(indices))
            of_steps = self._compare_steps([episodes[index] for index in indices])
            for index, total, step_advantages in zip(indices, totals, of_steps, strict=True):
                credit = batch_credit.credits[index]
                assert credit is not None
                values = [self.episode_weight * total] * len(credit.tokens)
                for step, advantage in zip(episodes[index], step_advantages, strict=True):
                    for token in range(step.start, step.end):
                        values[token] += self.step_weight * advantage
                estimates[index] = values
        return batch_credit.subtract_penalties(estimates, 1.0)

    def _compare_steps(self, episodes: Sequence[Sequence[StepCredit]]) -> list[list[float]]:
        """The advantage of every step of every episode of a group."""
        comparable: dict[Hashable, list[tuple[int, int, float]]] = defaultdict(list)
        for sample, steps in enumerate(episodes):
            for turn, (step, earned) in enumerate(zip(steps, step_returns(steps, self.gamma), strict=True)):
                comparable[step.state if self.by == "state" else turn].append((sample, turn, earned))
        advantages = [[0.0] * len(steps) for steps in episodes]
        for compared in comparable.values():
            for (sample, turn, _), value in zip(compared, self._compare([each[2] for each in compared]), strict=True):
                advantages[sample][turn] = value
        return advantages

    def _compare(self, values: Sequence[float]) -> list[float]:
        if len(values) < 2 or min(values) == max(values):
            return [0.0] * len(values)
        mean = sum(values) / len(values)
        scale = 1.0 / (deviation(values) + EPSILON) if self.scaled else 1.0
        return [(value - mean) * scale for value in values]


def _as_one_step(credit: Credit | None) -> list[StepCredit]:
    return [] if credit is None else [StepCredit(0, len(credit.tokens), credit.total, ())]


def step_returns(steps: Sequence[StepCredit], gamma: float) -> list[float]:
    """The return of each step: its reward and those of the steps after it, later ones discounted."""
    returns, ahead = [0.0] * len(steps), 0.0
    for index in range(len(steps) - 1, -1, -1):
        ahead = steps[index].reward + gamma * ahead
        returns[index] = ahead
    return returns


ADVANTAGES: dict[str, Callable[..., Advantage]] = {
    "reinforce": ReinforceAdvantage,
    "reinforce++": ReinforceAdvantage,
    "reinforce_baseline": ReinforceBaselineAdvantage,
    "reinforce++_baseline": ReinforceBaselineAdvantage,
    "rloo": RLOOAdvantage,
    "grpo": GRPOAdvantage,
    "group_norm": GRPOAdvantage,
    "dr_grpo": DrGRPOAdvantage,
    "lite_ppo": partial(GRPOAdvantage, scale="batch"),
    "maxrl": MaxRLAdvantage,
    "pass_at_k": PassAtKAdvantage,
    "opo": OPOAdvantage,
    "gdpo": GDPOAdvantage,
    "gae": GAEAdvantage,
    "gigpo": StepAdvantage,
    "turns": partial(StepAdvantage, by="turn", episode_weight=0.0),
}


def advantage(name: str, *, gamma: float = 1.0) -> Advantage:
    """The estimator of that name; `gamma` discounts what is earned later, per token, or per step in gigpo and turns."""
    check_choice("advantage", name, ADVANTAGES)
    return ADVANTAGES[name](gamma=gamma)


def _sum_weighted(values: Sequence[tuple[float, list[float]]]) -> list[float]:
    weights = [weight for weight, _ in values]
    columns = zip(*(column_values for _, column_values in values), strict=True)
    return [math.fsum(map(float.__mul__, weights, column)) for column in columns]
