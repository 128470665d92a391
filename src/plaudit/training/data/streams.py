"""Endless prompt streams: the interface, and the plain stream, which shuffles every epoch differently.

The order depends only on the seed and the epoch's number, so a resumed run needs only the number of prompts taken.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plaudit.errors import DataError
from plaudit.training.data.prompts import Prompts

__all__ = ["MixedStream", "PromptStream", "Stream", "StreamPart"]


class Stream(Protocol):
    """What a training loop takes its prompts from."""

    prompts: Prompts

    @property
    def position(self) -> int:
        """How many prompts were taken."""
        ...

    def indices(self, count: int) -> list[int]:
        """Where the next `count` prompts stand among all."""
        ...

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Take the scores of the samples of each prompt that was taken last."""
        ...

    def metrics(self) -> dict[str, float]:
        """What is worth logging of it."""
        ...

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps, as plain data."""
        ...

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` gave."""
        ...


class PromptStream:
    """Takes prompts epoch after epoch; `position` may be set to continue somewhere."""

    def __init__(self, prompts: Prompts, *, seed: int | str, shuffle: bool = True) -> None:
        if not prompts:
            raise DataError("there are no prompts to train on")
        self.prompts = prompts
        self.position = 0
        self._seed, self._shuffle = seed, shuffle
        self._order: tuple[int, list[int]] = (-1, [])

    def indices(self, count: int) -> list[int]:
        """Where the next `count` prompts stand among all."""
        indices = [self._index(position) for position in range(self.position, self.position + count)]
        self.position += count
        return indices

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Every prompt comes as often as any other, whatever it scores."""

    def metrics(self) -> dict[str, float]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"position": self.position}

    def restore(self, state: dict[str, Any]) -> None:
        self.position = state["position"]

    def _index(self, position: int) -> int:
        epoch, within = divmod(position, len(self.prompts))
        if self._order[0] != epoch:
            order = list(range(len(self.prompts)))
            if self._shuffle:
                random.Random(f"{self._seed}/{epoch}").shuffle(order)
            self._order = (epoch, order)
        return self._order[1][within]


@dataclass(frozen=True, slots=True)
class StreamPart:
    """One task of a mixture: its share, where its prompts stand among all, and the stream that takes them."""

    share: float
    indices: Sequence[int]
    stream: Stream


class MixedStream:
    """Takes prompts of all parts in their shares; each part has its own order, or its own curriculum."""

    def __init__(self, prompts: Prompts, parts: Mapping[str, StreamPart]) -> None:
        self.prompts, self.parts = prompts, dict(parts)
        self._taken: list[str] = []

    @property
    def position(self) -> int:
        return sum(part.stream.position for part in self.parts.values())

    def indices(self, count: int) -> list[int]:
        taken = {name: part.stream.position for name, part in self.parts.items()}
        total = sum(taken.values())
        self._taken = []
        for index in range(total + 1, total + count + 1):
            name = max(self.parts, key=lambda each: self.parts[each].share * index - taken[each])
            taken[name] += 1
            self._taken.append(name)
        drawn = {name: iter(self.parts[name].stream.indices(number)) for name, number in Counter(self._taken).items()}
        return [self.parts[name].indices[next(drawn[name])] for name in self._taken]

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        for name, part in self.parts.items():
            scores_of_part = [group for each, group in zip(self._taken, scores, strict=True) if each == name]
            if scores_of_part:
                part.stream.observe(scores_of_part)

    def metrics(self) -> dict[str, float]:
        """Those of the parts, each with its task: `curriculum/sums/stage`."""
        return {_with_task(key, name): value for name, part in self.parts.items()
                for key, value in part.stream.metrics().items()}  # fmt: skip

    def state(self) -> dict[str, Any]:
        return {"position": self.position, "parts": {name: part.stream.state() for name, part in self.parts.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        for name, part in self.parts.items():
            part.stream.restore(state["parts"][name])


def _with_task(metric: str, task: str) -> str:
    """A metric under its task; levels have the task in their names already."""
    section, _, rest = metric.partition("/")
    return metric if rest.startswith(f"{task}/") else f"{section}/{task}/{rest}"
