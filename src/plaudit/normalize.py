"""Put rewards on a common scale: numbers in, numbers out, None (not scored) stays None and counts nowhere.

Constant inputs give 0.0 (or the middle of the range), never a division by zero. Standard deviations of groups are
unbiased, as in GRPO.
"""

import math
import statistics
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

from plaudit.errors import InvalidSettings, did_you_mean

__all__ = [
    "GroupNormalizer", "MinMaxNormalizer", "Moments", "Normalizer", "QuantileNormalizer", "RankNormalizer",
    "RunningNormalizer", "Scaled", "Scope", "ZScoreNormalizer", "normalizer",
]  # fmt: skip

Scope: TypeAlias = Literal["sample", "group", "batch"]
EPSILON = 1e-6


class Scaled(NamedTuple):
    """A normalised value and the factor the raw value was stretched by; None if there is no such factor."""

    value: float
    slope: float | None


class Normalizer(ABC):
    """Maps the rewards of a batch to a common scale."""

    scope: ClassVar[Scope] = "batch"

    @abstractmethod
    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        """One normalised value per value, None for None."""

    def __str__(self) -> str:
        return next((repr(name) for name, make in NORMALIZERS.items() if make() == self), repr(self))


@dataclass(frozen=True)
class ZScoreNormalizer(Normalizer):
    """(value − mean) / (standard deviation + ε) over the batch."""

    epsilon: float = EPSILON
    __str__ = Normalizer.__str__

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        return _standardize(values, statistics.pstdev, self.epsilon)


@dataclass(frozen=True)
class MinMaxNormalizer(Normalizer):
    """The batch stretched to [0, 1]; a constant batch is 0.5."""

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        scored = [value for value in values if value is not None]
        low, width = (min(scored), max(scored) - min(scored)) if scored else (0.0, 0.0)
        return [
            None if value is None else Scaled((value - low) / width, 1.0 / width) if width else Scaled(0.5, 0.0)
            for value in values
        ]


@dataclass(frozen=True)
class GroupNormalizer(Normalizer):
    """(value − group mean) / (group standard deviation + ε); `scale=False` only subtracts the mean (Dr. GRPO)."""

    scale: bool = True
    epsilon: float = EPSILON

    scope: ClassVar[Scope] = "group"

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        deviation: Callable[[Sequence[float]], float] = _sample_std if self.scale else _one
        epsilon = self.epsilon if self.scale else 0.0
        return _per_key(groups, values, lambda part: _standardize(part, deviation, epsilon))


@dataclass(frozen=True)
class RankNormalizer(Normalizer):
    """Mid-rank in the batch, as a number in (0, 1); ties share their rank."""

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        return [None if rank is None else Scaled(rank, None) for rank in _mid_ranks(values)]


@dataclass(frozen=True)
class QuantileNormalizer(Normalizer):
    """The standard normal quantile of the mid-rank: any distribution becomes a bell."""

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        bell = statistics.NormalDist()
        return [None if rank is None else Scaled(bell.inv_cdf(rank), None) for rank in _mid_ranks(values)]


@dataclass
class Moments:
    """Count, mean and sum of squared deviations of a stream (Welford), mergeable across processes (Chan et al.)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        delta = value - self.mean
        self.mean += delta / self.count
        self.squares += delta * (value - self.mean)

    def merge(self, other: "Moments") -> None:
        total = self.count + other.count
        if not total:
            return
        delta = other.mean - self.mean
        self.mean += delta * other.count / total
        self.squares += other.squares + delta * delta * self.count * other.count / total
        self.count = total

    @property
    def std(self) -> float:
        return math.sqrt(self.squares / self.count) if self.count > 1 else 0.0


@dataclass
class RunningNormalizer(Normalizer):
    """z-score against everything seen so far, per task; a batch is added before it is normalised.

    It remembers, so the same sample may score differently later: rewards that use it are not deterministic.
    """

    epsilon: float = EPSILON
    moments: dict[str, Moments] = field(default_factory=dict, repr=False, compare=False)

    def normalize(
        self, values: Sequence[float | None], groups: Sequence[Hashable], tasks: Sequence[str | None]
    ) -> list[Scaled | None]:
        for value, task in zip(values, tasks, strict=True):
            if value is not None:
                self.moments.setdefault(task or "", Moments()).add(value)
        return [self._scale(value, task or "") for value, task in zip(values, tasks, strict=True)]

    def merge(self, other: "RunningNormalizer") -> None:
        """Take in what another process has seen."""
        for task, moments in other.moments.items():
            self.moments.setdefault(task, Moments()).merge(moments)

    def _scale(self, value: float | None, task: str) -> Scaled | None:
        if value is None:
            return None
        seen = self.moments[task]
        slope = 1.0 / (seen.std + self.epsilon)
        return Scaled((value - seen.mean) * slope, slope)


NORMALIZERS: dict[str, Callable[[], Normalizer]] = {
    "zscore": ZScoreNormalizer,
    "minmax": MinMaxNormalizer,
    "group": GroupNormalizer,
    "rank": RankNormalizer,
    "quantile": QuantileNormalizer,
    "running": RunningNormalizer,
}


def normalizer(how: str | Normalizer) -> Normalizer:
    """A normaliser by name ("group", "zscore", "minmax", "rank", "quantile", "running"), or the one given."""
    if isinstance(how, Normalizer):
        return how
    if how not in NORMALIZERS:
        known = ", ".join(NORMALIZERS)
        raise InvalidSettings(f"no normaliser named {how!r}{did_you_mean(how, NORMALIZERS)} (there are {known})")
    return NORMALIZERS[how]()


def _standardize(
    values: Sequence[float | None], deviation: Callable[[list[float]], float], epsilon: float
) -> list[Scaled | None]:
    scored = [value for value in values if value is not None]
    if not scored:
        return [None] * len(values)
    mean, scale = statistics.fmean(scored), deviation(scored)
    slope = 1.0 / (scale + epsilon) if max(scored) > min(scored) else 0.0
    return [None if value is None else Scaled((value - mean) * slope, slope) for value in values]


def _sample_std(values: Sequence[float]) -> float:
    return statistics.stdev(values) if len(values) > 1 else 0.0


def _one(values: Sequence[float]) -> float:
    return 1.0


def _per_key(
    keys: Sequence[Hashable], values: Sequence[Any], apply: Callable[[list[Any]], list[Scaled | None]]
) -> list[Scaled | None]:
    indices: dict[Hashable, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        indices[key].append(index)
    result: list[Scaled | None] = [None] * len(values)
    for members in indices.values():
        for index, scaled in zip(members, apply([values[index] for index in members]), strict=True):
            result[index] = scaled
    return result


def _mid_ranks(values: Sequence[float | None]) -> list[float | None]:
    order = sorted(value for value in values if value is not None)
    first: dict[float, int] = {}
    count: dict[float, int] = defaultdict(int)
    for index, value in enumerate(order):
        first.setdefault(value, index)
        count[value] += 1
    return [None if value is None else (first[value] + count[value] / 2) / len(order) for value in values]
