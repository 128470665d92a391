"""How much better a sample did than expected: rewards in, advantages out, one per sample or one per token.

A sample that was not scored (None or NaN) has no advantage (None) and counts in no baseline, no spread and no mean; it
is never a 0. Group statistics are those of what was scored.
"""

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

from plaudit.errors import InvalidAdvantage, InvalidSettings, did_you_mean
from plaudit.training.advantages.credit import BatchCredit, Credit, gae, returns

__all__ = [
    "ADVANTAGES", "Advantage", "DrGRPOAdvantage", "GAEAdvantage", "GDPOAdvantage", "GRPOAdvantage", "OPOAdvantage",
    "RLOOAdvantage", "ReinforceAdvantage", "ReinforceBaselineAdvantage", "advantage", "whiten",
]  # fmt: skip

Scale: TypeAlias = Literal["group", "batch", "none"]
Estimates: TypeAlias = list[list[float] | None]
EPSILON = 1e-6


class Advantage(ABC):
    """Turns what a batch earned into advantages.

    Call it with rewards, as in a hand-written loop, or `estimate` from `BatchCredit` for one advantage per token.
    """

    def __call__(
        self,
        rewards: Iterable[Any],
        num_generations: int = 1,
        *,
        groups: Sequence[Hashable] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> list[float | None]:
        """One advantage per reward. Rewards of one prompt stand together, `num_generations` of them, unless `groups`
        says which belong together; `lengths` in tokens matter to estimators that average over tokens."""
        estimates = self.estimate(BatchCredit.of_rewards(rewards, num_generations, groups, lengths))
        return [None if estimate is None else estimate[0] for estimate in estimates]

    @abstractmethod
    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        """One advantage per token of every sample; None for samples that were not scored."""


@dataclass(frozen=True)
class _Baselined(Advantage):
    """(what is still to be earned − a baseline) × a scale. The baseline at a token is that of the returns at the same
    place in the other samples of the group, so rewards already earned drop out of both; without token rewards and
    discount every token gets the sample's own advantage."""

    gamma: float = 1.0
    compares: ClassVar[bool] = True
    whitened: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.gamma <= 1.0:
            raise InvalidSettings(f"gamma must lie in [0, 1], got {self.gamma}")

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        if self.compares:
            _check_comparable(type(self).__name__, batch_credit)
        estimates: Estimates = [None] * len(batch_credit.credits)
        scales = self._scales(batch_credit)
        for places in batch_credit.members.values():
            credits = [credit for place in places if (credit := batch_credit.credits[place]) is not None]
            for place, centred in zip(places, self._centred(credits), strict=True):
                estimates[place] = [value * scales[place] for value in centred]
        return whiten(estimates, batch_credit.credits) if self.whitened else estimates

    def _centred(self, credits: list[Credit]) -> list[list[float]]:
        """Returns minus baselines, token by token."""
        lengths = [credit.length for credit in credits]
        if self.gamma == 1.0 and not any(credit.has_token_rewards for credit in credits):
            outcomes = [credit.outcome for credit in credits]
            baselines = self._baselines(outcomes, lengths)
            return [
                [outcome - baseline] * len(credit.tokens)
                for credit, outcome, baseline in zip(credits, outcomes, baselines, strict=True)
            ]
        to_go = [returns(credit, gamma=self.gamma) for credit in credits]
        centred: list[list[float]] = [[] for _ in credits]
        for place in range(max(map(len, to_go), default=0)):
            # A response that has ended keeps its outcome: being short is no loss by itself.
            still = [
                own[place] if place < len(own) else credit.outcome for own, credit in zip(to_go, credits, strict=True)
            ]
            baselines = self._baselines(still, lengths)
            for own, target, value, baseline in zip(to_go, centred, still, baselines, strict=True):
                if place < len(own):
                    target.append(value - baseline)
        return centred

    @abstractmethod
    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        """The baseline of each sample of a group; linear in the values."""

    def _scales(self, batch_credit: BatchCredit) -> list[float]:
        return [1.0] * len(batch_credit.credits)


@dataclass(frozen=True)
class ReinforceAdvantage(_Baselined):
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
class DrGRPOAdvantage(_Baselined):
    """Reward minus the mean of its group, unscaled, so that hard and easy prompts weigh alike (arXiv:2503.20783)."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        return [statistics.fmean(values)] * len(values)


@dataclass(frozen=True)
class ReinforceBaselineAdvantage(DrGRPOAdvantage):
    """Reward minus the mean of its group, whitened over the tokens of the batch: REINFORCE++-baseline
    (arXiv:2501.03262)."""

    whitened: ClassVar[bool] = True


@dataclass(frozen=True)
class RLOOAdvantage(_Baselined):
    """Reward minus the mean of the other samples of its group (arXiv:2402.14740); 0 where there is no other."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        if len(values) == 1:
            return list(values)
        total = math.fsum(values)
        return [(total - value) / (len(values) - 1) for value in values]


@dataclass(frozen=True)
class OPOAdvantage(_Baselined):
    """Reward minus the mean of its group weighted by length, the baseline of least variance (arXiv:2505.23585)."""

    def _baselines(self, values: Sequence[float], lengths: Sequence[int]) -> list[float]:
        weighted = math.fsum(value * length for value, length in zip(values, lengths, strict=True))
        return [weighted / (sum(lengths) or 1)] * len(values)


@dataclass(frozen=True)
class GRPOAdvantage(DrGRPOAdvantage):
    """(Reward − group mean) / (standard deviation + ε), unbiased and of the group (arXiv:2402.03300).

    `scale="batch"` divides by the deviation of the whole batch (arXiv:2508.08221), `"none"` by nothing.
    """

    scale: Scale = "group"
    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scale not in _SPREADS:
            hint = did_you_mean(str(self.scale), _SPREADS)
            raise InvalidSettings(f"no scale {self.scale!r}{hint} (there is {', '.join(_SPREADS)})")

    def _scales(self, batch_credit: BatchCredit) -> list[float]:
        spreads = _SPREADS[self.scale](batch_credit)
        return [1.0 / (spread + self.epsilon) if self.scale != "none" else 1.0 for spread in spreads]


@dataclass(frozen=True)
class GDPOAdvantage(Advantage):
    """Every component normalised in its group on its own, then their weighted sum whitened over the batch
    (arXiv:2601.05242), so that no component drowns another.

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
        whole = BatchCredit.of_rewards([0.0] * count, num_generations, groups, lengths)  # which count, the parts tell
        batch_credit = replace(whole, components={name: part.credits for name, part in parts.items()})
        return [None if estimate is None else estimate[0] for estimate in self.estimate(batch_credit)]

    def estimate(self, batch_credit: BatchCredit) -> Estimates:
        weights = self._checked_weights(batch_credit)
        each = GRPOAdvantage(gamma=self.gamma)
        parts = [
            (weight, each.estimate(BatchCredit(batch_credit.components[name], batch_credit.groups)))
            for name, weight in weights.items()
        ]
        summed: Estimates = []
        for sample in range(len(batch_credit.credits)):
            values = [(weight, own) for weight, part in parts if (own := part[sample]) is not None]
            complete = len(values) == len(parts) and batch_credit.credits[sample] is not None
            summed.append(_weighted_sum(values) if complete else None)
        return whiten(summed, batch_credit.credits)

    def _checked_weights(self, batch_credit: BatchCredit) -> Mapping[str, float]:
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
            for credit, values in zip(batch_credit.credits, batch_credit.values, strict=True)
        ]
        return whiten(estimates, batch_credit.credits) if self.whitening else estimates


ADVANTAGES: dict[str, type[_Baselined | GDPOAdvantage | GAEAdvantage]] = {
    "reinforce": ReinforceAdvantage,
    "reinforce++": ReinforceAdvantage,
    "reinforce_baseline": ReinforceBaselineAdvantage,
    "reinforce++_baseline": ReinforceBaselineAdvantage,
    "rloo": RLOOAdvantage,
    "grpo": GRPOAdvantage,
    "group_norm": GRPOAdvantage,
    "dr_grpo": DrGRPOAdvantage,
    "opo": OPOAdvantage,
    "gdpo": GDPOAdvantage,
    "gae": GAEAdvantage,
}


def advantage(name: str, *, gamma: float = 1.0) -> Advantage:
    """The estimator of that name; `gamma` discounts what is earned later, per token."""
    if name not in ADVANTAGES:
        known = ", ".join(ADVANTAGES)
        raise InvalidSettings(f"no advantage named {name!r}{did_you_mean(name, ADVANTAGES)} (there is {known})")
    return ADVANTAGES[name](gamma=gamma)


def whiten(estimates: Estimates, credits: Sequence[Credit | None], *, epsilon: float = 1e-8) -> Estimates:
    """The estimates with mean 0 and variance 1 over all chosen tokens of the batch; all 0 where they do not vary."""
    values = [
        value
        for estimate, credit in zip(estimates, credits, strict=True)
        if estimate is not None and credit is not None
        for value, chosen in zip(estimate, credit.chosen, strict=True)
        if chosen
    ]
    if not values:
        return estimates
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    slope = 1.0 / (spread + epsilon) if max(values) > min(values) else 0.0
    return [None if estimate is None else [(value - mean) * slope for value in estimate] for estimate in estimates]


def _check_comparable(name: str, batch_credit: BatchCredit) -> None:
    count = len(batch_credit.groups)
    if count > 1 and len(set(batch_credit.groups)) == count:
        raise InvalidAdvantage(
            f"{name} compares samples of one prompt, but {count} samples came in {count} groups, one each; "
            "sample several per prompt (num_generations=4), or use reinforce"
        )


def _group_spreads(batch_credit: BatchCredit) -> list[float]:
    spreads = [0.0] * len(batch_credit.credits)
    for places in batch_credit.members.values():
        spread = _deviation(batch_credit.totals(places))
        for place in places:
            spreads[place] = spread
    return spreads


def _batch_spreads(batch_credit: BatchCredit) -> list[float]:
    return [_deviation(batch_credit.totals())] * len(batch_credit.credits)


def _no_spreads(batch_credit: BatchCredit) -> list[float]:
    return [0.0] * len(batch_credit.credits)


_SPREADS: dict[str, Callable[[BatchCredit], list[float]]] = {
    "group": _group_spreads,
    "batch": _batch_spreads,
    "none": _no_spreads,
}


def _deviation(values: Sequence[float]) -> float:
    """The unbiased standard deviation; `statistics.stdev` is exact to the last digit and ten times slower."""
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _weighted_sum(values: Sequence[tuple[float, list[float]]]) -> list[float]:
    weights = [weight for weight, _ in values]
    columns = zip(*(own for _, own in values), strict=True)
    return [math.fsum(map(float.__mul__, weights, column)) for column in columns]
