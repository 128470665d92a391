"""How the values of several rewards become one: pure arithmetic that knows no reward.

A rule also gives its slope in every input; token rewards are combined along these slopes, and scores by `shares`.
"""

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

from plaudit.errors import InvalidOutput, InvalidSettings
from plaudit.schedules import Schedule

__all__ = [
    "Affine", "Bonus", "Bounds", "Cautious", "Clip", "Combined", "Gate", "Lexicographic", "Maximum", "Median",
    "Minimum", "Product", "Rule", "Sigmoid", "Weight", "WeightedSum",
]  # fmt: skip

Weight: TypeAlias = float | Schedule
Bounds: TypeAlias = tuple[float, float]
SUM, PRODUCT, ATOM = range(3)


class Combined(NamedTuple):
    """A combined value and how much of each input's token rewards goes into it."""

    value: float
    slopes: Sequence[float]


class Rule(ABC):
    """Combines the values of `n` rewards for one sample."""

    precedence: ClassVar[int] = ATOM
    """How tightly the expression of this rule binds."""
    needs: ClassVar[int] = SUM
    """Parts that bind less tightly than this are put in brackets."""

    @abstractmethod
    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        """The combined value at a training step."""

    @abstractmethod
    def express(self, parts: Sequence[str]) -> str:
        """The combination as a reader would write it."""

    def notes(self, values: Sequence[float]) -> dict[str, float]:
        """What the metadata of the result says of the inputs."""
        return {}

    def shares(self, count: int) -> Sequence[float]:
        """How much each input's score counts in the combined score."""
        return [1.0] * count

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        """The range of the result when each input keeps to its own."""
        return None


@dataclass(frozen=True)
class WeightedSum(Rule):
    """Σ weight · value + offset."""

    weights: tuple[Weight, ...]
    offset: float = 0.0

    precedence: ClassVar[int] = SUM
    needs: ClassVar[int] = PRODUCT

    def __post_init__(self) -> None:
        for weight in (*self.weights, self.offset):
            if isinstance(weight, bool) or not isinstance(weight, int | float | Schedule):
                raise InvalidSettings(f"a weight is a number or a Schedule, got {type(weight).__name__} {weight!r:.60}")
            if not isinstance(weight, Schedule) and not math.isfinite(weight):
                raise InvalidSettings(f"a weight is a finite number, got {weight}")

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        weights = [weight if isinstance(weight, float | int) else _weight_at(weight, step) for weight in self.weights]
        return Combined(sum(w * v for w, v in zip(weights, values, strict=True)) + self.offset, weights)

    def express(self, parts: Sequence[str]) -> str:
        terms = [_term(weight, part) for weight, part in zip(self.weights, parts, strict=True)]
        if self.offset:
            terms.append(f"{self.offset:g}")
        return _join_terms(terms)

    def shares(self, count: int) -> Sequence[float]:
        return [abs(weight) if isinstance(weight, float | int) else 1.0 for weight in self.weights]

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        if any(isinstance(weight, Schedule) for weight in self.weights):
            return None
        ends = [
            sorted((float(weight) * low, float(weight) * high))  # type: ignore[arg-type]  # schedules were ruled out
            for weight, (low, high) in zip(self.weights, parts, strict=True)
        ]
        return sum(low for low, _ in ends) + self.offset, sum(high for _, high in ends) + self.offset


@dataclass(frozen=True)
class Product(Rule):
    """The product of all values."""

    precedence: ClassVar[int] = PRODUCT
    needs: ClassVar[int] = PRODUCT

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        others = [math.prod(v for j, v in enumerate(values) if j != i) for i in range(len(values))]
        return Combined(math.prod(values), others)

    def express(self, parts: Sequence[str]) -> str:
        return " * ".join(parts)

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        low, high = parts[0]
        for bottom, top in parts[1:]:
            ends = (low * bottom, low * top, high * bottom, high * top)
            low, high = min(ends), max(ends)
        return low, high


class _Ensemble(Rule):
    """Inputs that rate the same thing: how far they agree is worth knowing."""

    def notes(self, values: Sequence[float]) -> dict[str, float]:
        return {
            "mean": statistics.fmean(values),
            "std": statistics.pstdev(values),
            "disagreement": max(values) - min(values),
        }


class _Pick(_Ensemble):
    """The value of one of the inputs."""

    @abstractmethod
    def pick(self, values: Sequence[float]) -> int:
        """The place of the input that counts."""

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        chosen = self.pick(values)
        return Combined(values[chosen], [float(place == chosen) for place in range(len(values))])


@dataclass(frozen=True)
class Minimum(_Pick):
    """The smallest value: as good as the worst part."""

    def pick(self, values: Sequence[float]) -> int:
        return min(range(len(values)), key=values.__getitem__)

    def express(self, parts: Sequence[str]) -> str:
        return f"minimum({', '.join(parts)})"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return min(low for low, _ in parts), min(high for _, high in parts)


@dataclass(frozen=True)
class Maximum(_Pick):
    """The largest value: as good as the best part."""

    def pick(self, values: Sequence[float]) -> int:
        return max(range(len(values)), key=values.__getitem__)

    def express(self, parts: Sequence[str]) -> str:
        return f"maximum({', '.join(parts)})"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return max(low for low, _ in parts), max(high for _, high in parts)


@dataclass(frozen=True)
class Median(_Pick):
    """The middle value (the lower one of two): one outlier among several judges does not count."""

    def pick(self, values: Sequence[float]) -> int:
        return sorted(range(len(values)), key=values.__getitem__)[(len(values) - 1) // 2]

    def express(self, parts: Sequence[str]) -> str:
        return f"median({', '.join(parts)})"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return min(low for low, _ in parts), max(high for _, high in parts)


@dataclass(frozen=True)
class Cautious(_Ensemble):
    """mean − λ · standard deviation of an ensemble: disagreement costs."""

    penalty: float = 1.0

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value = statistics.fmean(values) - self.penalty * statistics.pstdev(values)
        return Combined(value, [1.0 / len(values)] * len(values))

    def express(self, parts: Sequence[str]) -> str:
        return f"cautious({', '.join(parts)}, penalty={self.penalty:g})"


@dataclass(frozen=True)
class Gate(Rule):
    """The first value where the second reaches `at`, else `otherwise`."""

    at: float
    otherwise: float = 0.0

    needs: ClassVar[int] = ATOM

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value, on = values
        return Combined(value, (1.0, 0.0)) if on >= self.at else Combined(self.otherwise, (0.0, 0.0))

    def express(self, parts: Sequence[str]) -> str:
        otherwise = f", otherwise={self.otherwise:g}" if self.otherwise else ""
        return f"{parts[0]}.gate(on={parts[1]}, at={self.at:g}{otherwise})"

    def shares(self, count: int) -> Sequence[float]:
        return (1.0, 0.0)

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        low, high = parts[0]
        return min(low, self.otherwise), max(high, self.otherwise)


@dataclass(frozen=True)
class Bonus(Rule):
    """c · (1 + Σ weight · extra): extras count only in proportion to the first value."""

    weights: tuple[float, ...]

    precedence: ClassVar[int] = PRODUCT
    needs: ClassVar[int] = PRODUCT

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        base, extras = values[0], values[1:]
        factor = 1.0 + sum(w * v for w, v in zip(self.weights, extras, strict=True))
        return Combined(base * factor, (factor, *(base * w for w in self.weights)))

    def express(self, parts: Sequence[str]) -> str:
        extras = [_term(w, part) for w, part in zip(self.weights, parts[1:], strict=True)]
        return f"{parts[0]} * ({_join_terms(['1', *extras])})"

    def shares(self, count: int) -> Sequence[float]:
        return (1.0, *(0.0 for _ in self.weights))


@dataclass(frozen=True)
class Lexicographic(Rule):
    """Earlier values decide, later ones only break ties; all values and the result lie in [0, 1].

    Values but the last are compared in steps of `resolution`: a difference smaller than that is a tie.
    """

    resolution: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.resolution <= 1.0:
            raise InvalidSettings(f"need 0 < resolution <= 1, got {self.resolution}")

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        for place, value in enumerate(values):
            if not 0.0 <= value <= 1.0:
                raise InvalidOutput(f"part {place + 1} of a lexicographic reward is {value}; it must lie in [0, 1]")
        share = self.resolution / 2.0  # below one step, so later parts never overtake
        total = values[-1]
        slopes = [1.0]
        for value in reversed(values[:-1]):
            floored = math.floor(value / self.resolution + 1e-9) * self.resolution
            total = (floored + share * total) / (1.0 + share)
            slopes = [1.0 / (1.0 + share), *(slope * share / (1.0 + share) for slope in slopes)]
        return Combined(total, slopes)

    def express(self, parts: Sequence[str]) -> str:
        return f"lexicographic({', '.join(parts)})"

    def shares(self, count: int) -> Sequence[float]:
        return [1.0] + [0.0] * (count - 1)

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return 0.0, 1.0


class _Transform(Rule):
    """One input, one output."""

    needs: ClassVar[int] = ATOM


@dataclass(frozen=True)
class Clip(_Transform):
    """The value, kept within [low, high]."""

    low: float | None = 0.0
    high: float | None = 1.0

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise InvalidSettings("clip needs a low or a high end")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidSettings(f"need low <= high, got low={self.low}, high={self.high}")

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value = self._clip(values[0])
        if value == values[0]:
            return Combined(value, (1.0,))
        return Combined(value, (value / values[0] if values[0] else 0.0,))  # token rewards shrink with the total

    def express(self, parts: Sequence[str]) -> str:
        ends = [f"{name}={end:g}" for name, end in (("low", self.low), ("high", self.high)) if end is not None]
        return f"{parts[0]}.clip({', '.join(ends)})"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return self._clip(parts[0][0]), self._clip(parts[0][1])

    def _clip(self, value: float) -> float:
        if self.low is not None and value < self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value


@dataclass(frozen=True)
class Affine(_Transform):
    """The range `source` stretched to the range `target`."""

    source: Bounds
    target: Bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.source[0] >= self.source[1]:
            raise InvalidSettings(f"the source range must rise, got {self.source}")

    @property
    def slope(self) -> float:
        return (self.target[1] - self.target[0]) / (self.source[1] - self.source[0])

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        return Combined(self.target[0] + self.slope * (values[0] - self.source[0]), (self.slope,))

    def express(self, parts: Sequence[str]) -> str:
        low, high = self.source
        return f"{parts[0]}.scale(({low:g}, {high:g}), to=({self.target[0]:g}, {self.target[1]:g}))"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        ends = sorted(self.combine([end], None).value for end in parts[0])
        return ends[0], ends[1]


@dataclass(frozen=True)
class Sigmoid(_Transform):
    """σ(value − reference): any value becomes one in (0, 1)."""

    reference: float = 0.0

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        x = values[0] - self.reference
        value = 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))
        return Combined(value, (value * (1.0 - value),))

    def express(self, parts: Sequence[str]) -> str:
        return f"{parts[0]}.sigmoid(reference={self.reference:g})"

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return 0.0, 1.0


def _weight_at(schedule: Schedule, step: int | None) -> float:
    if step is None:
        raise InvalidOutput(
            f"the weight {schedule} follows the training step, but the sample has none; set training_step"
        )
    return schedule.at(step)


def _term(weight: Weight, part: str) -> str:
    if weight == 1:
        return part
    if weight == -1:
        return f"-{part}"
    return f"{weight:g} * {part}" if isinstance(weight, float | int) else f"{weight} * {part}"


def _join_terms(terms: Sequence[str]) -> str:
    first, *rest = terms
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in rest)
