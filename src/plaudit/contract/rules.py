"""How the values of several rewards become one: pure arithmetic that knows no reward.

A rule also gives its slope in every input; token rewards are combined along these slopes, and scores by `shares`.
"""

import dataclasses
import functools
import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, ClassVar, NamedTuple, TypeAlias

from plaudit.errors import InvalidOutput, InvalidSettings
from plaudit.schedules import Schedule

Weight: TypeAlias = float | Schedule
Bounds: TypeAlias = tuple[float, float]
_NUMBER = (float, int)  # `float | int` makes a new object wherever it is evaluated


class Combined(NamedTuple):
    """A combined value and how much of each input's token rewards goes into it."""

    value: float
    slopes: Sequence[float]


class Rule(ABC):
    """Combines the values of `n` rewards for one sample."""

    function: ClassVar[str] = ""
    """The function of `compose` that makes this combination; empty for an operator or a method."""
    method: ClassVar[str] = ""
    """The method of the first part that makes this combination."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):  # type: ignore[arg-type]  # rules are dataclasses
            _check_number(each.name, getattr(self, each.name), or_none="None" in str(each.type))

    @abstractmethod
    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        """The combined value at a training step."""

    def express(self, parts: Sequence[str]) -> str:
        """The combination as an expression that can be loaded."""
        settings = [
            f"{each.name}={_written(getattr(self, each.name))}"
            for each in dataclasses.fields(self)  # type: ignore[arg-type]  # rules are dataclasses
            if getattr(self, each.name) != each.default
        ]
        if self.function:
            return f"{self.function}({', '.join([*parts, *settings])})"
        return f"{parts[0]}.{self.method}({', '.join([*(f'on={part}' for part in parts[1:]), *settings])})"

    def notes(self, values: Sequence[float]) -> dict[str, float]:
        """The metadata of the result about the inputs."""
        return {}

    def shares(self, count: int) -> Sequence[float]:
        """The weight of each input's score in the combined score."""
        return [1.0] * count

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        """The range of the result when each input keeps to its own."""
        return None


@dataclass(frozen=True)
class WeightedSum(Rule):
    """Σ weight · value + offset."""

    weights: tuple[Weight, ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        for weight in (*self.weights, self.offset):
            if isinstance(weight, bool) or not isinstance(weight, int | float | Schedule):
                raise InvalidSettings(f"a weight is a number or a Schedule, got {type(weight).__name__} {weight!r:.60}")
            if not isinstance(weight, Schedule) and not math.isfinite(weight):
                raise InvalidSettings(f"a weight is a finite number, got {weight}")

    @functools.cached_property
    def _has_schedule(self) -> bool:
        return any(isinstance(weight, Schedule) for weight in self.weights)

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        weights: Any = self.weights
        if self._has_schedule:
            weights = [weight if isinstance(weight, _NUMBER) else _weight_at(weight, step) for weight in weights]
        return Combined(sum(map(mul, weights, values)) + self.offset, weights)

    def express(self, parts: Sequence[str]) -> str:
        if (self.weights, self.offset) == ((1.0,), 0.0):
            return f"1 * {parts[0]}"
        terms = [_term(weight, part) for weight, part in zip(self.weights, parts, strict=True)]
        terms += [_written(self.offset)] if self.offset else []
        return terms[0] + "".join(f" - {term[1:]}" if term[0] == "-" else f" + {term}" for term in terms[1:])

    def shares(self, count: int) -> Sequence[float]:
        return [abs(weight) if isinstance(weight, _NUMBER) else 1.0 for weight in self.weights]

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        if self._has_schedule:
            return None
        ends = [
            sorted((float(weight) * low, float(weight) * high))  # type: ignore[arg-type]  # schedules were ruled out
            for weight, (low, high) in zip(self.weights, parts, strict=True)
        ]
        return sum(low for low, _ in ends) + self.offset, sum(high for _, high in ends) + self.offset


@dataclass(frozen=True)
class Product(Rule):
    """The product of all values."""

    function: ClassVar[str] = "product"

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        others = [math.prod(v for j, v in enumerate(values) if j != i) for i in range(len(values))]
        return Combined(math.prod(values), others)

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
        """The index of the input that counts."""

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        chosen = self.pick(values)
        return Combined(values[chosen], [float(index == chosen) for index in range(len(values))])

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        """No pick decreases when an input grows, so the ends are the picks of the ends."""
        lows, highs = zip(*parts, strict=True)
        return lows[self.pick(lows)], highs[self.pick(highs)]


@dataclass(frozen=True)
class Minimum(_Pick):
    """The smallest value: as good as the worst part."""

    function: ClassVar[str] = "minimum"

    def pick(self, values: Sequence[float]) -> int:
        return min(range(len(values)), key=values.__getitem__)


@dataclass(frozen=True)
class Maximum(_Pick):
    """The largest value: as good as the best part."""

    function: ClassVar[str] = "maximum"

    def pick(self, values: Sequence[float]) -> int:
        return max(range(len(values)), key=values.__getitem__)


@dataclass(frozen=True)
class Median(_Pick):
    """The middle value (the lower one of two): one outlier among several judges does not count."""

    function: ClassVar[str] = "median"

    def pick(self, values: Sequence[float]) -> int:
        return sorted(range(len(values)), key=values.__getitem__)[(len(values) - 1) // 2]


@dataclass(frozen=True)
class Cautious(_Ensemble):
    """mean − λ · standard deviation of an ensemble: disagreement costs."""

    penalty: float = 1.0

    function: ClassVar[str] = "cautious"

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value = statistics.fmean(values) - self.penalty * statistics.pstdev(values)
        return Combined(value, [1.0 / len(values)] * len(values))


@dataclass(frozen=True)
class Gate(Rule):
    """The first value where the second reaches `at`, else `otherwise`."""

    at: float
    otherwise: float = 0.0

    method: ClassVar[str] = "gate"

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value, on = values
        return Combined(value, (1.0, 0.0)) if on >= self.at else Combined(self.otherwise, (0.0, 0.0))

    def shares(self, count: int) -> Sequence[float]:
        return (1.0, 0.0)

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        low, high = parts[0]
        return min(low, self.otherwise), max(high, self.otherwise)


@dataclass(frozen=True)
class Bonus(Rule):
    """c · (1 + Σ weight · extra): extras count only in proportion to the first value."""

    weights: tuple[float, ...]

    function: ClassVar[str] = "bonus"

    def __post_init__(self) -> None:
        for weight in self.weights:
            _check_number("a weight", weight)

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        base, extras = values[0], values[1:]
        factor = 1.0 + sum(w * v for w, v in zip(self.weights, extras, strict=True))
        return Combined(base * factor, (factor, *(base * w for w in self.weights)))

    def express(self, parts: Sequence[str]) -> str:
        extras = [f"({part}, {_written(weight)})" for weight, part in zip(self.weights, parts[1:], strict=True)]
        return f"bonus({parts[0]}, [{', '.join(extras)}])"

    def shares(self, count: int) -> Sequence[float]:
        return (1.0, *(0.0 for _ in self.weights))


@dataclass(frozen=True)
class Lexicographic(Rule):
    """Earlier values decide, later ones only break ties; all values and the result lie in [0, 1].

    Values but the last are compared in steps of `resolution`: a difference smaller than that is a tie.
    """

    resolution: float = 0.1

    function: ClassVar[str] = "lexicographic"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.resolution <= 1.0:
            raise InvalidSettings(f"need 0 < resolution <= 1, got {self.resolution}")

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        for index, value in enumerate(values):
            if not 0.0 <= value <= 1.0:
                raise InvalidOutput(f"part {index + 1} of a lexicographic reward is {value}; it must lie in [0, 1]")
        share = self.resolution / 2.0  # below one step, so later parts never overtake
        total = values[-1]
        slopes = [1.0]
        for value in reversed(values[:-1]):
            floored = math.floor(value / self.resolution + 1e-9) * self.resolution
            total = (floored + share * total) / (1.0 + share)
            slopes = [1.0 / (1.0 + share), *(slope * share / (1.0 + share) for slope in slopes)]
        return Combined(total, slopes)

    def shares(self, count: int) -> Sequence[float]:
        return [1.0] + [0.0] * (count - 1)

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return 0.0, 1.0


@dataclass(frozen=True)
class Clip(Rule):
    """The value, kept within [low, high]."""

    low: float | None = 0.0
    high: float | None = 1.0

    method: ClassVar[str] = "clip"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is None and self.high is None:
            raise InvalidSettings("clip needs a low or a high end")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidSettings(f"need low <= high, got low={self.low}, high={self.high}")

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        value = self._clip(values[0])
        if value == values[0]:
            return Combined(value, (1.0,))
        return Combined(value, (value / values[0] if values[0] else 0.0,))  # token rewards shrink with the total

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return self._clip(parts[0][0]), self._clip(parts[0][1])

    def _clip(self, value: float) -> float:
        if self.low is not None and value < self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value


@dataclass(frozen=True)
class Affine(Rule):
    """The range `source` stretched to the range `to`."""

    source: Bounds
    to: Bounds = (0.0, 1.0)

    method: ClassVar[str] = "scale"

    def __post_init__(self) -> None:
        for name, ends in (("source", self.source), ("to", self.to)):
            if not isinstance(ends, tuple) or len(ends) != 2:
                raise InvalidSettings(f"{name} must be a range (low, high), got {ends!r:.60}")
            for end in ends:
                _check_number(name, end)
        if self.source[0] >= self.source[1]:
            raise InvalidSettings(f"the source range must rise, got {self.source}")

    @property
    def slope(self) -> float:
        return (self.to[1] - self.to[0]) / (self.source[1] - self.source[0])

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        return Combined(self.to[0] + self.slope * (values[0] - self.source[0]), (self.slope,))

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        ends = sorted(self.combine([end], None).value for end in parts[0])
        return ends[0], ends[1]


@dataclass(frozen=True)
class Sigmoid(Rule):
    """σ(value − reference): any value becomes one in (0, 1)."""

    reference: float = 0.0

    method: ClassVar[str] = "sigmoid"

    def combine(self, values: Sequence[float], step: int | None) -> Combined:
        x = values[0] - self.reference
        value = 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))
        return Combined(value, (value * (1.0 - value),))

    def bounds(self, parts: Sequence[Bounds]) -> Bounds | None:
        return 0.0, 1.0


def _weight_at(schedule: Schedule, step: int | None) -> float:
    if step is None:
        raise InvalidOutput(
            f"the weight {schedule} follows the training step, but the sample has none; set training_step"
        )
    return schedule.at(step)


def _check_number(name: str, value: object, *, or_none: bool = False) -> None:
    if or_none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InvalidSettings(f"{name} must be a number, got {value!r:.60}")


def _term(weight: Weight, part: str) -> str:
    if weight in (1, -1):
        return part if weight == 1 else f"-{part}"
    return f"{_written(weight)} * {part}"


def _written(value: object) -> str:
    """The form of a setting in an expression: no digit is lost."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))})"
    if not isinstance(value, int | float):
        return repr(value)
    short = f"{value:g}" if math.isfinite(value) else "1e999" if value > 0 else "-1e999"
    return short if float(short) == value else repr(value)
