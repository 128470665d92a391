"""The prompts of a task or a data set, endless streams of them, and tasks: prompts with what scores the responses.

A row is a `Trajectory` whose response is still empty; the sampler fills it in and keeps everything else. The order of a
stream depends only on the seed and the number of the epoch, so a resumed run needs only the number of prompts taken.
The column `difficulty` of a prompt, a number or a word, is its difficulty if known.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, Protocol, TypeAlias, overload

import msgspec

from plaudit.contract.function import RewardLike
from plaudit.errors import DataError
from plaudit.trajectory import Prompt, Trajectory

PromptLike: TypeAlias = Prompt | Trajectory
"""A prompt for a sampler: text, chat messages, or a row with ground truth and columns."""


@dataclass(frozen=True, slots=True)
class Prompts(Sequence[Trajectory]):
    """Rows to sample responses for; a slice of it is one too."""

    rows: tuple[Trajectory, ...]

    @classmethod
    def of(cls, batch: "PromptLike | Iterable[PromptLike]") -> "Prompts":
        """The prompts as rows, in their order; a bare text is one prompt, not its characters."""
        if isinstance(batch, Prompts):
            return batch
        if isinstance(batch, str | Trajectory):
            batch = [batch]
        return cls(tuple(_row(prompt, index) for index, prompt in enumerate(batch)))

    @property
    def prompts(self) -> list[Prompt]:
        return [row.prompt for row in self.rows]

    @property
    def ground_truths(self) -> list[Any]:
        return [row.ground_truth for row in self.rows]

    def pick(self, indices: Iterable[int]) -> "Prompts":
        """The rows at these indices, in this order."""
        return Prompts(tuple(self.rows[index] for index in indices))

    @property
    def keys(self) -> list[str]:
        """Keys that identify prompts: their text with normalised white space."""
        return [" ".join(row.prompt_text.split()) for row in self.rows]

    def split(self, held_out: int, seed: int) -> "tuple[Prompts, Prompts]":
        """The rows in a random order, `held_out` of them set apart, as (the others, those held out).

        Rows with the same prompt stay together, so that no prompt is on both sides; where prompts are repeated, a few
        rows less may be held out.
        """
        if not 0 <= held_out < len(self.rows):
            raise DataError(f"cannot hold out {held_out} of {len(self.rows)} prompts; some must be left to train on")
        shuffled = list(self.rows)
        random.Random(seed).shuffle(shuffled)
        everything = Prompts(tuple(shuffled))
        sizes = Counter(everything.keys)
        held_out_keys: set[str] = set()
        left = held_out
        for key in reversed(everything.keys):
            if key not in held_out_keys and sizes[key] <= left:
                held_out_keys.add(key)
                left -= sizes[key]
        if held_out and not held_out_keys:
            raise DataError(f"cannot hold out {held_out} prompts: the same ones are repeated more often than that")
        sides = [[row for row, key in zip(shuffled, everything.keys, strict=True) if (key in held_out_keys) is side]
                 for side in (False, True)]  # fmt: skip
        return Prompts(tuple(sides[0])), Prompts(tuple(sides[1]))

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> "Prompts": ...
    def __getitem__(self, index: int | slice) -> "Trajectory | Prompts":
        return Prompts(self.rows[index]) if isinstance(index, slice) else self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.rows)


def _row(prompt: Any, index: int) -> Trajectory:
    if isinstance(prompt, Trajectory):
        return prompt
    if not isinstance(prompt, str | list):
        raise DataError(
            f"prompt {index} is {type(prompt).__name__} {prompt!r:.60}; "
            "give text, a list of chat messages, or a Trajectory with an empty response"
        )
    return Trajectory(prompt=prompt, response="")


class Stream(Protocol):
    """A source of prompts for the training loop."""

    prompts: Prompts

    @property
    def position(self) -> int:
        """The number of prompts that were taken."""
        ...

    def indices(self, count: int) -> list[int]:
        """The indices of the next `count` prompts."""
        ...

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Take the scores of the samples of each prompt that was taken last."""
        ...

    def metrics(self) -> dict[str, float]:
        """The metrics of the stream."""
        ...

    def state(self) -> dict[str, Any]:
        """The state for a checkpoint, as plain data."""
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
        """The indices of the next `count` prompts."""
        indices = [self._index(position) for position in range(self.position, self.position + count)]
        self.position += count
        return indices

    def observe(self, scores: Sequence[Sequence[float]]) -> None:
        """Does nothing: scores do not change how often a prompt is drawn."""

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
    """One task of a mixture: its share, the indices of its prompts, and the stream that draws them."""

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
        """The metrics of the parts, each with its task: `curriculum/sums/stage`."""
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


@dataclass(frozen=True, slots=True)
class Task:
    """Prompts and what scores the responses to them."""

    name: str
    prompts: Prompts
    """The prompts to train on."""
    held_out: Prompts
    """Prompts that training never sees, for evaluation."""
    reward: RewardLike | str | None
    """The reward, or its spec as `plaudit.load` takes it; None if only an agent's environment gives rewards."""
    max_new_tokens: int
    respond: Callable[[Trajectory], str | None]
    """A correct response to a prompt, which a warm start shows the model; None if there is none."""
    warm_start_steps: int = 60
    """The number of supervised steps after which the embedded model sometimes gives a right response."""
    notes: tuple[str, ...] = ()
    """Notes on the data for the user."""
    runs_inline: bool = False
    """The reward is quick and cannot hang, so it needs no process of its own and no deadline."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weights with which a mixture draws prompts of each task; the rows name their task."""

    @classmethod
    def from_rows(
        cls,
        name: str,
        rows: Iterable[Mapping[str, Any]],
        reward: RewardLike | str,
        *,
        held_out: int = 64,
        seed: int = 0,
        max_new_tokens: int = 64,
        respond: Callable[[Trajectory], str | None] | None = None,
        warm_start_steps: int = 60,
    ) -> "Task":
        """A task of plain rows: `prompt`, `ground_truth`, `difficulty` and other columns that the reward reads.

        `held_out` of them are set apart by their prompts. Unless `respond` says otherwise, a ground truth that is text
        or a number is shown as the right response.
        """
        trajectories: list[Trajectory] = []
        for index, row in enumerate(rows):
            if not isinstance(row, Mapping) or "prompt" not in row:
                raise DataError(f"the task {name}: row {index} must be a mapping with a prompt, got {row!r:.80}")
            trajectories.append(Trajectory.from_dict({**row, "response": ""}))
        prompts, unseen = Prompts(tuple(trajectories)).split(held_out, seed)
        return cls(name, prompts, unseen, reward, max_new_tokens, respond or ground_truth_text, warm_start_steps)

    @property
    def demonstrations(self) -> list[Trajectory]:
        """The prompts to train on with correct responses; held-out prompts are never shown.

        Those of a mixture come in the shares of its tasks, independent of the number of their prompts.
        """
        answered = ((row, self.respond(row)) for row in self.prompts)
        every = [msgspec.structs.replace(row, response=text) for row, text in answered if text is not None]
        if not self.weights:
            return every
        shown = {name: [row for row in every if row.task == name] for name in self.weights}
        total = max(len(rows) / self.weights[name] for name, rows in shown.items())
        return [
            row
            for name, rows in shown.items()
            if rows
            for row in islice(cycle(rows), max(1, math.ceil(total * self.weights[name])))
        ]


def ground_truth_text(row: Trajectory) -> str | None:
    """The ground truth as a response to learn from, where it is one."""
    return str(row.ground_truth) if isinstance(row.ground_truth, str | int | float) else None
