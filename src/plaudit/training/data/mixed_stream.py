"""The prompts of several tasks in fixed shares: at every place comes the task that is furthest behind its share.

So any few prompts have the shares that were asked for, not only many of them, and which task comes when follows from
how many prompts were taken of each.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.training.data.prompt_stream import Stream
from plaudit.training.data.prompts import Prompts

__all__ = ["MixedStream", "StreamPart"]


@dataclass(frozen=True, slots=True)
class StreamPart:
    """One task of a mixture: its share, where its prompts stand among all, and the stream that takes them."""

    share: float
    places: Sequence[int]
    stream: Stream


class MixedStream:
    """Takes prompts of all parts in their shares; each part has its own order, or its own curriculum."""

    def __init__(self, prompts: Prompts, parts: Mapping[str, StreamPart]) -> None:
        self.prompts, self.parts = prompts, dict(parts)
        self._taken: list[str] = []

    @property
    def position(self) -> int:
        return sum(part.stream.position for part in self.parts.values())

    def places(self, count: int) -> list[int]:
        taken = {name: part.stream.position for name, part in self.parts.items()}
        total = sum(taken.values())
        self._taken = []
        for place in range(total + 1, total + count + 1):
            name = max(self.parts, key=lambda each: self.parts[each].share * place - taken[each])
            taken[name] += 1
            self._taken.append(name)
        drawn = {name: iter(self.parts[name].stream.places(number)) for name, number in Counter(self._taken).items()}
        return [self.parts[name].places[next(drawn[name])] for name in self._taken]

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        for name, part in self.parts.items():
            own = [group for each, group in zip(self._taken, scores, strict=True) if each == name]
            if own:
                part.stream.observe(own)

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
