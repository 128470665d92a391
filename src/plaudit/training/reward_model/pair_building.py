"""Preference pairs from scored rollouts: within a group, a response with a higher reward is chosen over a lower one.

Only responses to the same prompt, scored at the same training step, are compared: a reward may change over the steps.
What was not scored has no place in an order and is left out, as are ties. Copies of a text count once.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from plaudit import jsonline
from plaudit.errors import InvalidSettings, RolloutsError
from plaudit.rollouts import Rollout
from plaudit.trajectory import Trajectory

__all__ = ["BuiltPairs", "PairCounts", "PairSettings", "ScoredPair", "build_pairs"]

Value: TypeAlias = Literal["reward", "score"]
LARGEST_GROUP = 256
"""So many responses of a group are compared with each other; of a larger one, so many are drawn."""


@dataclass(frozen=True, slots=True)
class PairSettings:
    """Which pairs are built; the same seed picks the same ones."""

    margin: float = 0.0
    """The least difference of a pair; differences of 0 are ties."""
    per_group: int | None = 4
    """The most pairs of one group, so that no group outweighs the others; None: all."""
    by: Value = "reward"
    """What orders responses: the reward, or the score (how right the outcome was)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise InvalidSettings(f"margin={self.margin:g}: give the least difference of a pair, 0 or more")
        if self.per_group is not None and self.per_group < 1:
            raise InvalidSettings(f"per_group={self.per_group}: give the most pairs of a group, at least 1")


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """Two responses of one group and what they earned."""

    chosen: Trajectory
    rejected: Trajectory
    chosen_reward: float
    rejected_reward: float

    @property
    def difference(self) -> float:
        return self.chosen_reward - self.rejected_reward

    def to_row(self) -> dict[str, Any]:
        """The pair as TRL reads it, texts beside a text and messages beside messages, with what both earned."""
        prompt = self.chosen.prompt
        answers = [side.response for side in (self.chosen, self.rejected)]
        sides = answers if isinstance(prompt, str) else [[{"role": "assistant", "content": text}] for text in answers]
        row = {"prompt": prompt, "chosen": sides[0], "rejected": sides[1]}
        named = {"group": self.chosen.group, "chosen_id": self.chosen.id, "rejected_id": self.rejected.id}
        rewards = {"chosen_reward": self.chosen_reward, "rejected_reward": self.rejected_reward}
        return {**row, **rewards, **{name: value for name, value in named.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What became of the samples and the groups."""

    samples: int
    unscored: int
    """Samples without a value to order them by: they are in no pair."""
    empty: int
    """Samples with an empty response, which a reward model has nothing to read of."""
    copies: int
    """Samples that repeat another of their group; a text counts once, with the mean of its values."""
    thinned: int
    """Samples of groups so large that only some of their responses are compared."""
    groups: int
    single: int
    """Groups with fewer than two responses to compare."""
    tied: int
    """Groups in which no two values differ."""
    close: int
    """Groups with differences, all below the margin."""
    beyond: int
    """Pairs left out since their group has enough of them."""
    pairs: int

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BuiltPairs:
    """Pairs, group by group in the order of the file, and what was left out of them."""

    pairs: tuple[ScoredPair, ...]
    counts: PairCounts


def build_pairs(rollouts: Iterable[Rollout], settings: PairSettings | None = None) -> BuiltPairs:
    """Build preference pairs from scored rollouts; raises RolloutsError where they are not scored."""
    settings = settings or PairSettings()
    groups: dict[tuple[Any, ...], dict[str, _Valued]] = defaultdict(dict)
    tally: Counter[str] = Counter()
    for rollout in rollouts:
        value = _value(rollout, tally["samples"], settings.by)
        tally["samples"] += 1
        trajectory = rollout.trajectory
        members = groups[_group_key(trajectory)]
        text = trajectory.response.strip()
        if value is None:
            tally["unscored"] += 1
        elif not text:
            tally["empty"] += 1
        elif text in members:
            tally["copies"] += 1
            members[text].values.append(value)
        else:
            members[text] = _Valued(trajectory, [value])
    kept: list[ScoredPair] = []
    for key, texts in groups.items():
        kept += _pairs_of_group(list(texts.values()), settings, random.Random(f"{settings.seed}:{key}"), tally)
    names = ("samples", "unscored", "empty", "copies", "thinned", "single", "tied", "close", "beyond")
    counts = PairCounts(**{name: tally[name] for name in names}, groups=len(groups), pairs=len(kept))
    return BuiltPairs(tuple(kept), counts)


@dataclass(frozen=True, slots=True)
class _Valued:
    """A response and the values of all its copies."""

    trajectory: Trajectory
    values: list[float]

    @property
    def value(self) -> float:
        return math.fsum(self.values) / len(self.values)


def _value(rollout: Rollout, index: int, by: Value) -> float | None:
    """What orders a response; None where it was not scored."""
    output = rollout.output
    if output is None:
        raise RolloutsError(
            f"{rollout.trajectory.label(index)} is not scored; score the file first: "
            "plaudit score REWARD ROLLOUTS -o SCORED"
        )
    if not output.ok:
        return None
    return output.reward if by == "reward" else output.score


def _group_key(trajectory: Trajectory) -> tuple[Any, ...]:
    return trajectory.training_step, trajectory.group, jsonline.encode(trajectory.prompt)


def _pairs_of_group(
    members: list[_Valued], settings: PairSettings, chance: random.Random, tally: Counter[str]
) -> list[ScoredPair]:
    """The pairs of one group in the order of its responses; what keeps them from being more is counted."""
    if len(members) < 2:
        tally["single"] += 1
        return []
    if len(members) > LARGEST_GROUP:
        tally["thinned"] += len(members) - LARGEST_GROUP
        members = [members[place] for place in sorted(chance.sample(range(len(members)), LARGEST_GROUP))]
    ordered = [ScoredPair(b.trajectory, w.trajectory, b.value, w.value) for b, w in _ordered(members)]
    pairs = [pair for pair in ordered if pair.difference >= settings.margin]
    if not pairs:
        tally["close" if ordered else "tied"] += 1
    if settings.per_group is None or len(pairs) <= settings.per_group:
        return pairs
    tally["beyond"] += len(pairs) - settings.per_group
    return [pairs[place] for place in sorted(chance.sample(range(len(pairs)), settings.per_group))]


def _ordered(members: list[_Valued]) -> Iterator[tuple[_Valued, _Valued]]:
    """Every two members whose values differ, the better first."""
    for place, one in enumerate(members):
        for other in members[place + 1 :]:
            if one.value > other.value:
                yield one, other
            elif other.value > one.value:
                yield other, one
