"""The prompts of a task or a data set, in order, with what is needed to judge the responses to them.

A row is a `Trajectory` whose response is still empty; the sampler fills it in and keeps everything else.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

from plaudit.errors import DataError
from plaudit.trajectory import Prompt, Trajectory

__all__ = ["PromptLike", "Prompts"]

PromptLike: TypeAlias = Prompt | Trajectory
"""What a sampler takes for a prompt: text, chat messages, or a row that carries ground truth and columns."""


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
        """The rows at these places, in this order."""
        return Prompts(tuple(self.rows[index] for index in indices))

    @property
    def keys(self) -> list[str]:
        """What tells the prompts apart: their text, whatever the white space in it."""
        return [" ".join(row.prompt_text.split()) for row in self.rows]

    def split(self, held_out: int, seed: int) -> "tuple[Prompts, Prompts]":
        """The rows in a random order, `held_out` of them apart, as (the others, those held out).

        Rows with the same prompt stay together, so that no prompt is on both sides; where prompts are repeated, a few
        rows less may be held out.
        """
        if not 0 <= held_out < len(self.rows):
            raise DataError(f"cannot hold out {held_out} of {len(self.rows)} prompts; some must be left to train on")
        shuffled = list(self.rows)
        random.Random(seed).shuffle(shuffled)
        everything = Prompts(tuple(shuffled))
        sizes = Counter(everything.keys)
        apart: set[str] = set()
        left = held_out
        for key in reversed(everything.keys):
            if key not in apart and sizes[key] <= left:
                apart.add(key)
                left -= sizes[key]
        if held_out and not apart:
            raise DataError(f"cannot hold out {held_out} prompts: the same ones are repeated more often than that")
        sides = [[row for row, key in zip(shuffled, everything.keys, strict=True) if (key in apart) is side]
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
