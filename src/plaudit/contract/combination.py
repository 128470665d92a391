"""Rewards made of rewards: a rule over parts, a weighted sum, a reward on a common scale.

A combination keeps every part's output as a component. `rules` computes the values; this module
merges names, scopes, scores and token rewards of the parts.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from plaudit.contract.alignment import token_rewards_of
from plaudit.contract.function import RewardFunction, RewardLike, as_reward
from plaudit.contract.output import RewardOutput, Status, TokenUnit
from plaudit.contract.rules import Rule, Weight, WeightedSum
from plaudit.contract.scoring import Style, scope_of, score_samples, widest
from plaudit.errors import InvalidOutput, InvalidSettings
from plaudit.normalize import Normalizer, RunningNormalizer, Scope
from plaudit.trajectory import Trajectory

_ALIAS = WeightedSum((1.0,))
_OK = Status.OK  # to look up a member of an enum costs as much as making an output


class CompoundReward(RewardFunction):
    """A reward made of rewards. It calls no function: its parts are scored first, and their outputs are merged.

    Subclasses set `parts` and define `merge_one`, or `merge` where the outputs of a group or a batch are merged
    together (`merge_scope`).
    """

    call_style = Style.COMPOUND
    parts: Sequence[RewardFunction]
    merge_scope: Scope = "sample"

    def set_parts(self, parts: Iterable[RewardLike]) -> None:
        """Take the parts, and declare what follows from them: scope and determinism."""
        self.parts = [as_reward(part) for part in parts]
        self.scope = scope_of(self)
        self.deterministic = all_deterministic(self.parts)

    def samples_for(self, trajectory: Trajectory) -> Iterable[tuple[RewardFunction, Trajectory | None]]:
        """Each part with the sample it gets, or None if it does not score this sample."""
        return [(part, trajectory) for part in self.parts]

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[Any]) -> RewardOutput:
        """One output made of the outputs of the parts; None for a part that did not score the sample."""
        return self.merge([trajectory], [outputs])[0]

    def merge(self, trajectories: Sequence[Trajectory], rows: Sequence[Sequence[Any]]) -> list[RewardOutput]:
        """The outputs of samples that are merged together; a row has the outputs of the parts for one sample."""
        return [self.merge_one(trajectory, row) for trajectory, row in zip(trajectories, rows, strict=True)]

    @property
    def is_async(self) -> bool:
        return any(part.is_async for part in self.parts)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return score_samples(self, [trajectory])[0]

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        return score_samples(self, trajectories)


class Combination(CompoundReward):
    """Several rewards made one by a rule; every part's output is kept as a component under its own name.

    A sample that some part could not score is not scored: the missing number is never taken for 0.
    """

    def __init__(self, parts: Sequence[RewardLike], rule: Rule) -> None:
        if not parts:
            raise InvalidSettings("a combination needs at least one reward")
        self.set_parts(parts)
        self.rule = rule
        self._shares = rule.shares(len(self.parts))
        self.component_names = _unique_names([part.name for part in self.parts])
        bounds = rule.bounds([part.bounds or (-math.inf, math.inf) for part in self.parts])
        self.bounds = bounds if bounds is not None and all(map(math.isfinite, bounds)) else None

    @property
    def is_alias(self) -> bool:
        """Whether it only gives its one part another name; a sum of one term is a sum."""
        return type(self) is Combination and self.rule == _ALIAS

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        if len(outputs) == 1:
            if self.is_alias:
                return outputs[0]
            components = _unfold(self.component_names[0], outputs[0])
        else:
            components = dict(zip(self.component_names, outputs, strict=True))
        values: list[Any] = [output.reward for output in outputs]
        if None in values:
            name, output = next(pair for pair in zip(self.component_names, outputs, strict=True) if not pair[1].ok)
            reason = output.reason if output.reason.startswith(name) else f"{name}: {output.reason}"
            return RewardOutput.unscored(output.status, reason, components=components)
        token_rewards: list[float] | None = None
        unit: TokenUnit = "word"
        try:
            combined = self.rule.combine(values, trajectory.training_step)
            if [output for output in outputs if output.token_rewards is not None]:
                token_rewards, unit = _combine_token_rewards(trajectory, outputs, combined.slopes)
        except InvalidOutput as error:
            return RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}", components=components)
        return RewardOutput(
            combined.value,
            token_rewards,
            self.rule.notes(values),
            _combine_scores(outputs, self._shares),
            _OK,
            combine_reasons(self.component_names, outputs),
            components,
            unit,
            sum([output.latency_s or 0.0 for output in outputs]),
        )

    def __repr__(self) -> str:
        if self.is_alias:
            return f"{_bracket(self.parts[0])}.named({self.name!r})"
        text = self.rule.express([repr(part) if self.rule.function else _bracket(part) for part in self.parts])
        return f"({text}).named({self.name!r})" if "name" in vars(self) else text


class CompositeReward(Combination):
    """A weighted sum: `CompositeReward([(MathReward(), 0.7), (FormatReward(), 0.3)])`.

    Weights are numbers or schedules over training steps. `0.7 * MathReward() + 0.3 * FormatReward()` is the same. They
    are used as they are; Flux's `CompositeReward` divides them by their sum.
    """

    rule: WeightedSum

    def __init__(self, parts: Sequence[tuple[RewardLike, Weight]], *, offset: float = 0.0) -> None:
        for part in parts:
            if not isinstance(part, tuple) or len(part) != 2:
                raise InvalidSettings(f"a composite takes (reward, weight) pairs, got {part!r:.60}")
        weights = tuple(weight for _, weight in parts)
        super().__init__([part for part, _ in parts], WeightedSum(weights, offset))

    def __repr__(self) -> str:
        """As arithmetic, or as a call where a sum in the sum would be multiplied out."""
        weighted = list(zip(self.parts, self.rule.weights, strict=True))
        if "name" in vars(self) or not any(
            _is_sum(part) and isinstance(weight, int | float) for part, weight in weighted
        ):
            return super().__repr__()
        offset = f", offset={self.rule.offset!r}" if self.rule.offset else ""
        return f"CompositeReward({weighted!r}{offset})"


class NormalizedReward(CompoundReward):
    """A reward put on a common scale over its group, its batch or its history."""

    def __init__(self, part: RewardFunction, normalizer: Normalizer) -> None:
        self.part = part
        self.normalizer = normalizer
        self.name = part.name
        self.merge_scope = widest([normalizer.scope, scope_of(part)])
        self.set_parts([part])
        if isinstance(normalizer, RunningNormalizer):
            self.deterministic = False

    def merge(self, trajectories: Sequence[Trajectory], rows: Sequence[Sequence[RewardOutput]]) -> list[RewardOutput]:
        outputs = [row[0] for row in rows]
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
        return f"{_bracket(self.part)}.normalized({self.normalizer})"


class Terms(NamedTuple):
    """A sum: rewards with their weights, and a constant."""

    weighted: list[tuple[RewardLike, Weight]]
    offset: float


def terms_of(reward: RewardFunction) -> Terms:
    """A reward as the terms of a sum; sums that carry a name of their own stay whole."""
    if isinstance(reward, CompositeReward) and reward.name == CompositeReward.name:
        return Terms(list(zip(reward.parts, reward.rule.weights, strict=True)), reward.rule.offset)
    return Terms([(reward, 1.0)], 0.0)


def component_names_of(reward: RewardFunction) -> list[str]:
    """The component names that `flat_components` of its outputs may contain, as far as its parts declare them."""
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


def _is_sum(reward: RewardFunction) -> bool:
    return isinstance(reward, CompositeReward) and "name" not in vars(reward)


def _bracket(part: RewardFunction) -> str:
    text = repr(part)
    return f"({text})" if _is_sum(part) and not text.startswith("CompositeReward(") else text


def _unfold(name: str, output: RewardOutput) -> dict[str, RewardOutput]:
    """A part, followed by its own components; a clip or a scale adds no level."""
    if not output.components:
        return {name: output}
    names = _unique_names([name, *output.components])
    outputs = [msgspec.structs.replace(output, components={}, reason=""), *output.components.values()]
    return dict(zip(names, outputs, strict=True))


def combine_reasons(names: Sequence[str], outputs: Sequence[RewardOutput]) -> str:
    """The reasons of the parts, as the reason of a total that has none."""
    if len(outputs) == 1:
        return outputs[0].reason
    return "; ".join([f"{name}: {each.reason}" for name, each in zip(names, outputs, strict=True) if each.reason])


def _combine_scores(outputs: Sequence[RewardOutput], shares: Sequence[float]) -> float | None:
    """The mean of the parts' scores, weighted by their shares; None if no part has a score."""
    total = weighted = 0.0
    for output, share in zip(outputs, shares, strict=True):
        if output.score is not None:
            total += share
            weighted += output.score * share
    return min(1.0, max(0.0, weighted / total)) if total else None


def _combine_token_rewards(
    trajectory: Trajectory, outputs: Sequence[RewardOutput], slopes: Sequence[float]
) -> tuple[list[float], TokenUnit]:
    """Σ slope · token rewards; per word if all outputs are per word, else per token."""
    weighted = [
        (output, slope) for output, slope in zip(outputs, slopes, strict=True) if output.token_rewards is not None
    ]
    by_word = all(output.token_unit == "word" for output, _ in weighted)
    columns = [
        _scale_token_rewards(output.token_rewards if by_word else token_rewards_of(output, trajectory), slope) or []
        for output, slope in weighted
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


def all_deterministic(parts: Iterable[RewardFunction]) -> bool | None:
    """False if any part declares False, True if all declare True, else None."""
    declared = {part.deterministic for part in parts}
    return False if False in declared else None if None in declared else True
