"""An episode as it was played: tokens of actions and feedback, steps with rewards, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit.contract.output import Status
from plaudit.errors import AgentError
from plaudit.trajectory import Step

__all__ = ["Episode", "EpisodeLimits", "Segment"]

MAX_FEEDBACK = 200_000


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Where an episode ends at the latest: after this many actions, or tokens including its prompt; None is no limit.

    `deadline_s` is for each `reset` and `step`; what then happens to an environment is its host's business. Feedback of
    more than `max_feedback` characters is not read: the episode ends there, as with feedback that does not fit.
    """

    max_steps: int | None = 5
    max_length: int | None = None
    deadline_s: float | None = None
    max_feedback: int = MAX_FEEDBACK

    def __post_init__(self) -> None:
        for name in ("max_steps", "max_length", "deadline_s", "max_feedback"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise AgentError(f"{name} must be above 0, or None for no limit, got {value!r}")
        if self.max_steps is None and self.max_length is None:
            raise AgentError("an episode must end: give max_steps, max_length, or both")


class Segment(msgspec.Struct, frozen=True, gc=False):
    """Tokens of an episode after its prompt: an action of the model, or feedback of the environment."""

    ids: list[int]
    text: str
    is_action: bool
    logprobs: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode as it was played, up to where it failed if it did.

    `finish_reason` is "stop" when the environment was done, "length" at a limit and "error" after a failure, which
    `status` and `reason` describe. `reward` is the sum over the steps, None if no step has one or one failed;
    `score` and `logs` are those of the last step. `closing` is feedback that no action follows: nothing is learnt
    from it.
    """

    prompt_ids: list[int]
    segments: list[Segment]
    steps: list[Step]
    finish_reason: str
    status: Status = Status.OK
    reason: str = ""
    reward: float | None = None
    score: float | None = None
    logs: Mapping[str, Any] = field(default_factory=dict)
    closing: Segment | None = None
    images: Any = None

    @property
    def ids(self) -> list[int]:
        """The tokens after the prompt."""
        return [token for segment in self.segments for token in segment.ids]

    @property
    def mask(self) -> list[int]:
        """1 on tokens of actions, 0 on feedback."""
        return [int(segment.is_action) for segment in self.segments for _ in segment.ids]

    @property
    def logprobs(self) -> list[float] | None:
        """Log-probabilities at which the tokens were drawn, 0.0 on feedback; None if the sampler gives none."""
        if any(segment.is_action and segment.logprobs is None for segment in self.segments):
            return None
        return [number for segment in self.segments for number in segment.logprobs or [0.0] * len(segment.ids)]

    @property
    def response(self) -> str:
        """The text after the prompt, actions and feedback."""
        return "".join(segment.text for segment in self.segments)
