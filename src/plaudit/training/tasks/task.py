"""A task: prompts to train on, others that are held out, how they are scored, and correct responses where known."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from plaudit.contract.function import Rewarding
from plaudit.training.data.prompts import Prompts
from plaudit.trajectory import Trajectory

__all__ = ["Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """Prompts and what scores the responses to them."""

    name: str
    prompts: Prompts
    """The prompts to train on."""
    held_out: Prompts
    """Prompts that training never sees, for evaluation."""
    reward: Rewarding | str | None
    """The reward, or its spec as `plaudit.load` takes it; None where only an agent's environment gives rewards."""
    max_new_tokens: int
    respond: Callable[[Trajectory], str | None]
    """A correct response to a prompt, which a warm start shows the model; None where there is none."""
    warm_start_steps: int = 60
    """How many supervised steps the embedded model needs to get a right response now and then."""
    notes: tuple[str, ...] = ()
    """What the user should know of the data."""

    @property
    def demonstrations(self) -> list[Trajectory]:
        """The prompts to train on with correct responses; held-out prompts are never shown."""
        answered = ((row, self.respond(row)) for row in self.prompts)
        return [msgspec.structs.replace(row, response=text) for row, text in answered if text is not None]
