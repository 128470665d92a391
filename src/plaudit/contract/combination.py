"""Rewards made of rewards: a rule over parts, a weighted sum, a reward on a common scale.

A combination keeps every part's output as a component. What the rule does to numbers stands in `rules`; here names,
scopes, scores and token rewards of the parts are merged.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from plaudit.contract.alignment import token_rewards_of
from plaudit.contract.boundary import score_samples
from plaudit.contract.function import RewardFunction, Rewarding, as_reward
from plaudit.contract.output import RewardOutput, Status, TokenUnit
from plaudit.contract.rules import ATOM, Rule, Weight, WeightedSum
from plaudit.errors import InvalidOutput, InvalidSettings
from plaudit.normalize import Normalizer, RunningNormalizer, Scope
from plaudit.trajectory import Trajectory

__all__ = [
    "Combination", "CompositeReward", "NormalizedReward", "Terms", "component_names_of", "terms_of", "widest_scope",
]  # fmt: skip

_ALIAS = WeightedSum((1.0,))
_WIDEST_FIRST: tuple[Scope, ...] = ("batch", "group", "sample")


class Combination(RewardFunction):
    """Several rewards made one by a rule; every part's output is kept as a component under its own name.

    A sample that some part could not score is not scored: the missing number is never taken for 0.
    """

    def __init__(self, parts: Sequence[Rewarding], rule: Rule) -> None:
        if not parts:
            raise InvalidSettings("a combination needs at least one reward")
        self.parts = [as_reward(part) for part in parts]
        self.rule = rule
        self.component_names = _unique_names([part.name for part in self.parts])
        self.scope = widest_scope(part.scope for part in self.parts)
        self.deterministic = all(part.deterministic for part in self.parts)
        part_bounds = [part.bounds for part in self.parts if part.bounds is not None]
        self.bounds = rule.bounds(part_bounds) if len(part_bounds) == len(self.parts) else None

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        columns = [score_samples(part, trajectories) for part in self.parts]
        return [
            self._combine(trajectory, outputs)
            for trajectory, outputs in zip(trajectories, zip(*columns, strict=True), strict=True)
        ]

    @property
    def is_alias(self) -> bool:
        """Whether it only gives its one part another name; a sum of one term is a sum."""
        return type(self) is Combination and self.rule == _ALIAS

    def _combine(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        if self.is_alias:
            return outputs[0]
        components = dict(zip(self.component_names, outputs, strict=True))
        if len(outputs) == 1:
            components = _unfold(self.component_names[0], outputs[0])
        failed = [(name, output) for name, output in zip(self.component_names, outputs, strict=True) if not output.ok]
        if failed:
            name, output = failed[0]
            reason = output.reason if output.reason.startswith(name) else f"{name}: {output.reason}"
            return RewardOutput.unscored(output.status, reason, components=components)
        try:
            values = [output.reward for output in outputs if output.reward is not None]
            combined = self.rule.combine(values, trajectory.training_step)
            token_rewards, unit = _combine_token_rewards(trajectory, outputs, combined.slopes)
        except InvalidOutput as error:
            return RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}", components=components)
        return RewardOutput(
            combined.value,
            metadata=dict(self.rule.notes(values)),
            token_rewards=token_rewards,
            token_unit=unit,
            score=_combine_scores(outputs, self.rule.shares(len(outputs))),
            reason=_combine_reasons(self.component_names, outputs),
            components=components,
            latency_s=sum(output.latency_s or 0.0 for output in outputs),
        )

    def __repr__(self) -> str:
        return self.rule.express([_bracket(part, self.rule.needs) for part in self.parts])


class CompositeReward(Combination):
    """A weighted sum: `CompositeReward([(MathReward(), 0.7), (FormatReward(), 0.3)])`.

    Weights are numbers or schedules over training steps. `0.7 * MathReward() + 0.3 * FormatReward()` is the same.
    """

    rule: WeightedSum

    def __init__(self, parts: Sequence[tuple[Rewarding, Weight]], *, offset: float = 0.0) -> None:
        for part in parts:
            if not isinstance(part, tuple) or len(part) != 2:
                raise InvalidSettings(f"a composite takes (reward, weight) pairs, got {part!r:.60}")
        weights = tuple(weight for _, weight in parts)
        super().__init__([part for part, _ in parts], WeightedSum(weights, offset))


class NormalizedReward(RewardFunction):
    """A reward put on a common scale over its group, its batch or its history."""

    def __init__(self, part: RewardFunction, normalizer: Normalizer) -> None:
        self.part = part
        self.normalizer = normalizer
        self.name = part.name
        self.scope = "batch" if part.scope == "batch" else normalizer.scope
        self.deterministic = part.deterministic and not isinstance(normalizer, RunningNormalizer)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        outputs = score_samples(self.part, trajectories)
        scaled = self.normalizer.normalize(
            [output.reward for output in outputs],
            [trajectory.group_key for trajectory in trajectories],
            [trajectory.task for trajectory in trajectories],
        )
        return [
            RewardOutput.unscored(output.status, output.reason, components=_unfold("raw", output))
            if new is None
            else msgspec.structs.replace(
                output,
                reward=new.value,
                token_rewards=_scale_token_rewards(output.token_rewards, new.slope),
                components=_unfold("raw", output),
            )
            for output, new in zip(outputs, scaled, strict=True)
        ]

    def __repr__(self) -> str:
        return f"{_bracket(self.part, ATOM)}.normalized({self.normalizer})"


class Terms(NamedTuple):
    """A sum: rewards with their weights, and a constant."""

    weighted: list[tuple[Rewarding, Weight]]
    offset: float


def terms_of(reward: RewardFunction) -> Terms:
    """A reward as the terms of a sum; sums that carry a name of their own stay whole."""
    if isinstance(reward, CompositeReward) and reward.name == CompositeReward.name:
        return Terms(list(zip(reward.parts, reward.rule.weights, strict=True)), reward.rule.offset)
    return Terms([(reward, 1.0)], 0.0)


def component_names_of(reward: RewardFunction) -> list[str]:
    """The names under which `flat_components` of its outputs may hold numbers, as far as its parts tell."""
    if isinstance(reward, NormalizedReward):
        return _unique_names(["raw", *component_names_of(reward.part)])
    if not isinstance(reward, Combination):
        return []
    inner = {name: component_names_of(part) for name, part in zip(reward.component_names, reward.parts, strict=True)}
    if reward.is_alias:
        return next(iter(inner.values()))
    if len(inner) == 1:
        return _unique_names([name for name, below in inner.items() for name in (name, *below)])
    return [each for name, below in inner.items() for each in (name, *(f"{name}/{part}" for part in below))]


def _bracket(part: RewardFunction, needs: int) -> str:
    loose = isinstance(part, Combination) and part.rule.precedence < needs
    return f"({part!r})" if loose else repr(part)


def _unfold(name: str, output: RewardOutput) -> dict[str, RewardOutput]:
    """A part that stands alone, and beside it its own components: what only clips or scales adds no level."""
    if not output.components:
        return {name: output}
    names = _unique_names([name, *output.components])
    outputs = [msgspec.structs.replace(output, components={}, reason=""), *output.components.values()]
    return dict(zip(names, outputs, strict=True))


def _combine_reasons(names: Sequence[str], outputs: Sequence[RewardOutput]) -> str:
    if len(outputs) == 1:
        return outputs[0].reason
    return "; ".join(f"{name}: {output.reason}" for name, output in zip(names, outputs, strict=True) if output.reason)


def _combine_scores(outputs: Sequence[RewardOutput], shares: Sequence[float]) -> float | None:
    """The mean of the parts' scores, weighted by their shares; None where no part has a score."""
    given = [(output.score, share) for output, share in zip(outputs, shares, strict=True) if output.score is not None]
    total = sum(share for _, share in given)
    if not total:
        return None
    return min(1.0, max(0.0, sum(score * share for score, share in given) / total))


def _combine_token_rewards(
    trajectory: Trajectory, outputs: Sequence[RewardOutput], slopes: Sequence[float]
) -> tuple[list[float] | None, TokenUnit]:
    """Σ slope · token rewards, by word where all count words, else by token."""
    given = [(output, slope) for output, slope in zip(outputs, slopes, strict=True) if output.token_rewards is not None]
    if not given:
        return None, "word"
    by_word = all(output.token_unit == "word" for output, _ in given)
    columns = [
        _scale_token_rewards(output.token_rewards if by_word else token_rewards_of(output, trajectory), slope) or []
        for output, slope in given
    ]
    return [sum(values) for values in zip(*columns, strict=True)], "word" if by_word else "token"


def _scale_token_rewards(token_rewards: list[float] | None, slope: float | None) -> list[float] | None:
    if token_rewards is None or slope is None:
        return None
    return [slope * value for value in token_rewards]


def _unique_names(names: Sequence[str]) -> list[str]:
    """Names made unique by numbering the later ones: length, length_2."""
    taken: set[str] = set()
    unique = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        unique.append(candidate)
    return unique


def widest_scope(scopes: Iterable[Scope]) -> Scope:
    """What must be given at once so that every part gets as much as it looks at."""
    return min(scopes, key=_WIDEST_FIRST.index)
