"""How two rewards differ on the same samples.

A sample flips when one reward calls it right and the other wrong: its score, or its reward where it has none, crosses
the threshold; or when only one of them scores it. What a policy learns follows from the order within a group, so that
is compared too.

Advantages are those of GRPO: reward less the mean of its group, over its deviation. A group in which all rewards are
equal is dead: it gives no gradient.
"""

import heapq
import math
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.trajectory import GroupKey, Trajectory

RIGHT = 0.5
"""A response counts as right from this score on; without a score, from this reward on."""
TOLERANCE = 1e-9
WORST = 10


@dataclass(frozen=True, slots=True)
class Sides:
    """The same figure for both rewards; None if there is nothing to measure."""

    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One sample on which the rewards differ: its index, and the output of both."""

    index: int
    id: str | int | None
    prompt: str
    response: str
    old: float | None
    new: float | None
    old_status: str
    new_status: str
    old_reason: str = ""
    new_reason: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs; `flips` holds all flipped samples in their order."""

    count: int
    compared: int
    changed: int
    flips: tuple[Disagreement, ...]
    status_changes: dict[str, int]
    mean: Sides
    latency_s: Sides
    groups: "GroupDifference"
    worst: tuple[Disagreement, ...]

    @property
    def is_equal(self) -> bool:
        """Whether no reward, no verdict and no status differs."""
        return self.changed == 0 and not self.flips and not self.status_changes

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "equal": self.is_equal}


class DifferenceBuilder:
    """Compares outputs of two rewards, sample by sample."""

    def __init__(self, *, threshold: float = RIGHT) -> None:
        self._threshold = threshold
        self.count = self.changed = 0
        self.flips: list[Disagreement] = []
        self.status_changes: Counter[str] = Counter()
        self._old, self._new = array("d"), array("d")
        self._latencies = (array("d"), array("d"))
        self._groups: dict[tuple[GroupKey, int | None], tuple[array[float], array[float]]] = {}
        self._worst: list[tuple[float, int, Disagreement]] = []

    def add(self, trajectory: Trajectory, old: RewardOutput, new: RewardOutput) -> None:
        """Take one sample."""
        index, self.count = self.count, self.count + 1
        for latencies, output in zip(self._latencies, (old, new), strict=True):
            if output.latency_s is not None:
                latencies.append(output.latency_s)
        if old.status is not new.status:
            self.status_changes[f"{old.status.value} → {new.status.value}"] += 1
        if flips(old, new, self._threshold):
            self.flips.append(_disagreement(index, trajectory, old, new))
        if old.reward is None or new.reward is None:
            return
        self._old.append(old.reward)
        self._new.append(new.reward)
        pair = self._groups.setdefault((trajectory.group_key, trajectory.training_step), (array("d"), array("d")))
        pair[0].append(old.reward)
        pair[1].append(new.reward)
        off = abs(old.reward - new.reward)
        if off <= TOLERANCE:
            return
        self.changed += 1
        heapq.heappush(self._worst, (off, -index, _disagreement(index, trajectory, old, new)))
        if len(self._worst) > WORST:
            heapq.heappop(self._worst)

    def difference(self) -> Difference:
        """The result for the samples so far."""
        worst = tuple(each for _, _, each in sorted(self._worst, key=lambda entry: (-entry[0], -entry[1])))
        return Difference(
            count=self.count,
            compared=len(self._old),
            changed=self.changed,
            flips=tuple(self.flips),
            status_changes=dict(self.status_changes),
            mean=Sides(_mean(self._old), _mean(self._new)),
            latency_s=Sides(*(_median(latencies) for latencies in self._latencies)),
            groups=compare_groups(self._groups.values()),
            worst=worst,
        )


def flips(old: RewardOutput, new: RewardOutput, threshold: float) -> bool:
    """Whether one calls the sample right and the other wrong, or only one of them scores it.

    By the score where both have one, else by the reward.
    """
    if old.reward is None or new.reward is None:
        return (old.reward is None) is not (new.reward is None)
    if old.score is not None and new.score is not None:
        return (old.score >= threshold) is not (new.score >= threshold)
    return (old.reward >= threshold) is not (new.reward >= threshold)


def _disagreement(index: int, trajectory: Trajectory, old: RewardOutput, new: RewardOutput) -> Disagreement:
    return Disagreement(
        index, trajectory.id, trajectory.prompt_text, trajectory.response, old.reward, new.reward,
        old.status.value, new.status.value, old.reason, new.reason,
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


DEAD_SPREAD = 1e-9
"""Rewards of a group that differ by no more than this teach nothing."""


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Over all groups of two samples or more.

    `order_agreement` is the share of pairs that both rewards order alike, among pairs that at least one of them orders;
    `advantage_cosine` is that of all advantages together. None if neither reward differs between samples.
    """

    compared: int
    dead_old: int
    dead_new: int
    dead_gained: int
    dead_lost: int
    order_agreement: float | None
    advantage_cosine: float | None


def compare_groups(groups: Iterable[tuple[Sequence[float], Sequence[float]]]) -> GroupDifference:
    """The agreement of the old and the new rewards of each group; groups of one sample are left out."""
    compared = ordered = agreed = 0
    dead: Counter[tuple[bool, bool]] = Counter()
    products, squares_old, squares_new = array("d"), array("d"), array("d")
    for old, new in groups:
        if len(old) < 2:
            continue
        compared += 1
        both = _compare_pairs(old, new)
        ordered, agreed = ordered + both[0], agreed + both[1]
        left, right = _advantages(old), _advantages(new)
        dead[not any(left), not any(right)] += 1
        products.extend(a * b for a, b in zip(left, right, strict=True))
        squares_old.extend(a * a for a in left)
        squares_new.extend(b * b for b in right)
    length = math.sqrt(math.fsum(squares_old)) * math.sqrt(math.fsum(squares_new))
    return GroupDifference(
        compared=compared,
        dead_old=dead[True, True] + dead[True, False],
        dead_new=dead[True, True] + dead[False, True],
        dead_gained=dead[False, True],
        dead_lost=dead[True, False],
        order_agreement=agreed / ordered if ordered else None,
        advantage_cosine=max(-1.0, min(1.0, math.fsum(products) / length)) if length else None,
    )


def _compare_pairs(old: Sequence[float], new: Sequence[float]) -> tuple[int, int]:
    """How many pairs at least one reward orders, and how many both order alike.

    Samples are taken from the lowest old rank on, and each counts those below it by the new rank among the ones taken.
    """
    ranks = sorted(zip(_ranks(old), _ranks(new), strict=True))
    equal = sum(count * (count - 1) // 2 for count in Counter(ranks).values())
    taken: list[int] = []  # new ranks, in order
    agreed = 0
    for _, listed in groupby(ranks, key=lambda pair: pair[0]):
        tied = [rank for _, rank in listed]
        agreed += sum(bisect_left(taken, rank) for rank in tied)
        for rank in tied:
            insort(taken, rank)
    return len(ranks) * (len(ranks) - 1) // 2 - equal, agreed


def _ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value, from 0; values that hardly differ from the next lower one share its rank."""
    ranks, rank, before = [0] * len(values), 0, -math.inf
    for index in sorted(range(len(values)), key=values.__getitem__):
        rank += before > -math.inf and values[index] - before > DEAD_SPREAD
        ranks[index], before = rank, values[index]
    return ranks


def _advantages(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    if max(values) - min(values) <= DEAD_SPREAD or not deviation:
        return [0.0] * len(values)
    return [(value - mean) / deviation for value in values]
