"""A task: prompts to train on, others that are held out, how they are scored, and correct responses where known.

The column `difficulty` of a prompt, a number or a word, is its difficulty if known.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit.contract.function import RewardLike
from plaudit.errors import DataError
from plaudit.training.data.prompts import Prompts
from plaudit.trajectory import Trajectory

__all__ = ["Task", "ground_truth_text"]


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
    """How many supervised steps the embedded model needs to get a right response now and then."""
    notes: tuple[str, ...] = ()
    """What the user should know of the data."""
    runs_inline: bool = False
    """The reward is quick and cannot hang, so it needs no process of its own and no deadline."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of a mixture: how often prompts of each task come, in comparison; the rows say which task they are of."""

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
        """A task of plain rows: `prompt`, `ground_truth`, `difficulty` and whatever else the reward reads.

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
        """The prompts to train on with correct responses; held-out prompts are never shown."""
        answered = ((row, self.respond(row)) for row in self.prompts)
        return [msgspec.structs.replace(row, response=text) for row, text in answered if text is not None]


def ground_truth_text(row: Trajectory) -> str | None:
    """The ground truth as a response to learn from, where it is one."""
    return str(row.ground_truth) if isinstance(row.ground_truth, str | int | float) else None
