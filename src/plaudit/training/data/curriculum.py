"""Curricula: levels of difficulty, and prompts drawn by how much there is to learn from them.

A level is drawn with weight p(1 − p) + ε, p the share of right answers on it. Every draw follows from the seed, the
number of prompts taken and what was observed before, all of which a checkpoint keeps. Numbers are ordered by size,
words such as easy and hard by what they mean, other text in natural order (level 2 before level 10). More than ten
different numbers are binned into five levels of about equally many prompts.
"""

import math
import random
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plaudit.errors import DataError
from plaudit.training.config.schema import CurriculumConfig, RunConfig
from plaudit.training.data.prompts import MixedStream, Prompts, PromptStream, Stream, StreamPart
from plaudit.trajectory import Trajectory

DIFFICULTY = "difficulty"
"""The column with the difficulty of a prompt."""
MOST_LEVELS = 10
BANDS = 5
WORDS = ("trivial", "very easy", "easy", "medium", "moderate", "normal", "hard", "difficult", "very hard", "expert")

Difficulty: TypeAlias = str | int | float


def difficulty_of(row: Trajectory) -> Difficulty | None:
    """The difficulty of the prompt of a row; None if the row does not state one."""
    value = row.columns.get(DIFFICULTY)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value != value:
        raise DataError(f"a difficulty is a number or a word, got {value!r:.60} for the prompt {row.prompt_text!r:.60}")
    return value


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of a set of prompts, from easy to hard; with several tasks, each has its own levels.

    A prompt without a difficulty is on no level.
    """

    scales: dict[str, "_Scale"]
    several: bool = False
    """Whether there are several tasks."""

    @classmethod
    def of_usable(cls, rows: Iterable[Trajectory]) -> "Levels":
        """The levels, or none if the difficulties cannot be ordered: for callers that only report them."""
        try:
            return cls.of(rows)
        except DataError:
            return cls({})

    @classmethod
    def of(cls, rows: Iterable[Trajectory], order: Sequence[str] = ()) -> "Levels":
        """The levels of the rows' difficulties; `order`, if set, lists all of them from easy to hard."""
        by_task: dict[str, list[Difficulty]] = defaultdict(list)
        for row in rows:
            values = by_task[row.task or ""]
            value = difficulty_of(row)
            values += [] if value is None else [value]
        scales = {task: _scale(task, values, order) for task, values in by_task.items() if values}
        return cls(scales, several=len(by_task) > 1)

    def label(self, row: Trajectory) -> str | None:
        """The level of a row by its name, with its task where there are several; None if it has no difficulty."""
        scale = self.scales.get(row.task or "")
        value = None if scale is None else difficulty_of(row)
        return None if scale is None or value is None else self._label(row.task or "", scale.name(value))

    @property
    def all(self) -> list[str]:
        """Every level of every task."""
        return [self._label(task, name) for task, scale in self.scales.items() for name in scale.names]

    def _label(self, task: str, name: str) -> str:
        return f"{task}/{name}" if self.several else name


@dataclass(frozen=True, slots=True)
class _Scale:
    """The levels of one task: values that are levels themselves, or bands up to each of `edges`."""

    names: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def name(self, value: Difficulty) -> str:
        if not self.edges:
            return _text(value)
        return self.names[min(bisect_left(self.edges, float(value)), len(self.names) - 1)]


def _scale(task: str, values: Sequence[Difficulty], order: Sequence[str]) -> _Scale:
    distinct = set(map(_text, values))
    if order:
        if unknown := sorted(distinct - set(order)):
            raise DataError(
                f"curriculum.order lists {', '.join(order)}; {_name_task(task)} also has the difficulty {unknown[0]!r}"
            )
        return _Scale(tuple(name for name in order if name in distinct))
    numbers = [value for value in values if not isinstance(value, str)]
    if len(distinct) <= MOST_LEVELS:
        return _Scale(tuple(sorted(distinct, key=_rank)))
    if len(numbers) < len(values):
        raise DataError(
            f"{_name_task(task)} has {len(distinct)} different difficulties, such as {next(iter(sorted(distinct)))!r}; "
            f"a column of at most {MOST_LEVELS} words, or numbers, can be trained by"
        )
    return _bands(sorted(map(float, numbers)))


def _bands(numbers: Sequence[float]) -> _Scale:
    """Bands with about as many prompts each; equal numbers are in one band."""
    cuts = [numbers[math.ceil(len(numbers) * part / BANDS) - 1] for part in range(1, BANDS + 1)]
    edges = tuple(sorted(set(cuts)))
    lows = [numbers[0], *(next(number for number in numbers if number > edge) for edge in edges[:-1])]
    return _Scale(tuple(f"{low:g}–{high:g}" for low, high in zip(lows, edges, strict=True)), edges)


def _rank(name: str) -> tuple[Any, ...]:
    """The sort key of a level: numbers by their size, known words by their meaning, other text with its numbers."""
    try:
        return (0, float(name), "")
    except ValueError:
        pass
    word = re.sub(r"[\s_-]+", " ", name.strip().lower())
    if word in WORDS:
        return (1, float(WORDS.index(word)), "")
    parts = re.split(r"(\d+)", word)
    return (2, 0.0, [f"{int(part):020d}" if part.isdigit() else part for part in parts])


def _text(value: Difficulty) -> str:
    return value.strip() if isinstance(value, str) else f"{value:g}"


def _name_task(task: str) -> str:
    return f"the task {task}" if task else "the data"


PRIOR = 1.0
"""The weight of the prior ½, in samples."""


class CurriculumStream:
    """Draws a level by its weight, and within a level one prompt after the other."""

    def __init__(
        self, prompts: Prompts, levels: Levels, settings: CurriculumConfig, *, seed: int | str, shuffle: bool = True
    ) -> None:
        if not prompts:
            raise DataError("there are no prompts to train on")
        self.prompts, self.settings, self.position = prompts, settings, 0
        self._seed = seed
        self._labels = [levels.label(row) for row in prompts]
        self._order = [name for name in levels.all if name in set(self._labels)]
        self._rates = SuccessRates(settings.memory, settings.epsilon)
        self._stages = Stages(len(self._order), settings) if settings.stages else None
        self._pools = self._build_pools(shuffle)
        self._taken: list[str] = []

    def indices(self, count: int) -> list[int]:
        levels = self._order if self._stages is None else self._order[: self._stages.stage + 1]
        weights = [self._rates.weight(level) for level in levels]
        self._taken = random.Random(f"{self._seed}/curriculum/{self.position}").choices(levels, weights, k=count)
        self.position += count
        return [self._next_of(level) for level in self._taken]

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        together: dict[str, list[float]] = defaultdict(list)
        for key, group in zip(self._taken, scores, strict=True):
            together[key] += group
        for key, group in together.items():
            self._rates.observe(key, group)
            if self._stages is not None:
                self._stages.observe(self._order.index(key), group)

    def metrics(self) -> dict[str, float]:
        """`curriculum/<level>` is the estimated success of a level, `curriculum/stage` how many levels are open."""
        rates = {f"curriculum/{level}": rate for level, rate in self._rates.rates(self._order).items()}
        return rates if self._stages is None else {**rates, "curriculum/stage": self._stages.stage + 1.0}

    def state(self) -> dict[str, Any]:
        return {
            "position": self.position,
            "rates": self._rates.state(),
            "pools": {key: stream.position for key, (_, stream) in self._pools.items()},
            "stages": None if self._stages is None else self._stages.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.position = state["position"]
        self._rates.restore(state["rates"])
        for key, position in state["pools"].items():
            self._pools[key][1].position = position
        if self._stages is not None and state["stages"] is not None:
            self._stages.restore(state["stages"])

    def _next_of(self, key: str) -> int:
        indices, stream = self._pools[key]
        return indices[stream.indices(1)[0]]

    def _build_pools(self, shuffle: bool) -> dict[str, tuple[list[int], PromptStream]]:
        indices: dict[str, list[int]] = defaultdict(list)
        for index, label in enumerate(self._labels):
            if label is None:
                raise DataError(
                    f"curriculum.by=difficulty: {self.prompts[index].label(index)} has no difficulty "
                    f"({self.prompts[index].prompt_text!r:.60}); data.difficulty_key names the column"
                )
            indices[label].append(index)
        return {
            label: (members, PromptStream(self.prompts.pick(members), seed=f"{self._seed}/{label}", shuffle=shuffle))
            for label, members in indices.items()
        }


@dataclass
class SuccessRates:
    """Successes and samples by key; what was seen earlier counts less, by `memory` at each observation.

    A group that is all right or all wrong has no advantage, so the weight of a prompt is p(1 − p), the variance of its
    success. Untried keys have p = ½.
    """

    memory: float = 0.8
    epsilon: float = 0.05
    """A minimum weight for every key, because success rates change during training."""
    seen: dict[Any, tuple[float, float]] = field(default_factory=dict)

    def observe(self, key: Any, scores: Iterable[float]) -> None:
        """Take the scores of samples, each in [0, 1]."""
        listed = list(scores)
        if listed:
            right, count = self.seen.get(key, (0.0, 0.0))
            self.seen[key] = (self.memory * right + sum(listed), self.memory * count + len(listed))

    def rate(self, key: Any) -> float:
        """The estimated share of right answers."""
        right, count = self.seen.get(key, (0.0, 0.0))
        return (right + PRIOR * 0.5) / (count + PRIOR)

    def weight(self, key: Any) -> float:
        """The sampling weight: p(1 − p) + ε."""
        rate = self.rate(key)
        return rate * (1.0 - rate) + self.epsilon

    def state(self) -> list[list[Any]]:
        """The state for a checkpoint."""
        return [[key, right, count] for key, (right, count) in self.seen.items()]

    def restore(self, state: Iterable[Iterable[Any]]) -> None:
        """Continue from what `state` gave."""
        self.seen = {key: (right, count) for key, right, count in state}

    def rates(self, keys: Iterable[Any]) -> Mapping[Any, float]:
        """The rates of the keys that were tried."""
        return {key: self.rate(key) for key in keys if key in self.seen}


@dataclass
class Stages:
    """`stage` is the index of the hardest level that is open; a level is judged by the samples of its own stage."""

    count: int
    settings: CurriculumConfig
    stage: int = 0
    right: float = 0.0
    seen: int = 0

    def observe(self, level: int, scores: Sequence[float]) -> None:
        """Take the scores of samples of a level; only the hardest open one decides."""
        if level != self.stage:
            return
        self.right += sum(scores)
        self.seen += len(scores)
        if self.seen < self.settings.stage_samples:
            return
        rate = self.right / self.seen
        if rate >= self.settings.stage_up and self.stage + 1 < self.count:
            self._enter(self.stage + 1)
        elif rate < self.settings.stage_down and self.stage:
            self._enter(self.stage - 1)
        else:  # older samples count half as much as new ones
            self.seen //= 2
            self.right = rate * self.seen

    def state(self) -> dict[str, Any]:
        """The state for a checkpoint."""
        return {"stage": self.stage, "right": self.right, "seen": self.seen}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` gave."""
        self.stage, self.right, self.seen = state["stage"], state["right"], state["seen"]

    def _enter(self, stage: int) -> None:
        self.stage, self.right, self.seen = stage, 0.0, 0


def build_stream(prompts: Prompts, weights: Mapping[str, float], levels: Levels, config: RunConfig) -> Stream:
    """Prompts without end; of several tasks, each has a stream of its own."""
    if not weights:
        return _stream(prompts, levels, config, config.seed)
    parts = {}
    for name, share in weights.items():
        indices = [at for at, row in enumerate(prompts) if row.task == name]
        stream = _stream(prompts.pick(indices), levels, config, f"{config.seed}/{name}")
        parts[name] = StreamPart(share, indices, stream)
    return MixedStream(prompts, parts)


def _stream(prompts: Prompts, levels: Levels, config: RunConfig, seed: int | str) -> Stream:
    shuffle = config.data.shuffle
    if config.curriculum.by == "none":
        return PromptStream(prompts, seed=seed, shuffle=shuffle)
    return CurriculumStream(prompts, levels, config.curriculum, seed=seed, shuffle=shuffle)
