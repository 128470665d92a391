"""Samplers: prompts in, trajectories out, with the tokens as they were drawn.

Samples of one prompt are next to each other and share a group, so `trajectories` is prompt-major. Log-probabilities
are the model's at the sampling temperature, before top-k, top-p and min-p: what a policy update divides by.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from plaudit.agents import Action, CharacterTokenizer
from plaudit.errors import InvalidSettings
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.prompts import PromptLike, Prompts
from plaudit.trajectory import Tokens, Trajectory


@dataclass(frozen=True, slots=True)
class Response:
    """One sampled response: its text, its tokens where the sampler knows them, and why it ended."""

    text: str
    tokens: Tokens | None
    finish_reason: str
    """"stop" when the model or a stop text ended it, "length" when the limit did."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The output of a sampler: one trajectory per prompt and sample, the samples of a prompt side by side."""

    trajectories: list[Trajectory]
    prompt_ids: list[list[int]] | None = field(default=None, repr=False)
    """The prompt of each trajectory as the model saw it; None when the sampler does not know."""

    @property
    def texts(self) -> list[str]:
        return [trajectory.response for trajectory in self.trajectories]

    @property
    def ground_truths(self) -> list[Any]:
        """One for each trajectory, so that `reward(sampled.trajectories, sampled.ground_truths)` works."""
        return [trajectory.ground_truth for trajectory in self.trajectories]

    def __len__(self) -> int:
        return len(self.trajectories)


def derive_seed(*parts: object) -> int:
    """A seed hashed from the parts: similar parts give unrelated seeds."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=7).digest())


class Sampler(ABC):
    """Draws responses from a model."""

    settings: SamplingSettings

    @abstractmethod
    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` responses for each of the prompts, of which there is at least one."""

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        """`num_samples` responses for each prompt; `settings` take the place of the sampler's own for this call."""
        if num_samples < 1:
            raise InvalidSettings(f"num_samples must be at least 1, got {num_samples}")
        prompts = Prompts.of(batch)
        return self.draw(prompts, num_samples, settings or self.settings) if prompts else Samples([], [])


class TokenSampler(Sampler):
    """A sampler that can also continue from token ids, as the turns of an episode require."""

    tokenizer: Any

    @abstractmethod
    def continue_from(
        self,
        contexts: list[list[int]],
        settings: SamplingSettings | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Action]:
        """One continuation of each context, with the drawn tokens.

        With a seed for each, what is drawn for a context does not depend on the others in the call.
        """


def group_responses(
    prompts: Prompts, responses: list[list[Response]], prompt_ids: list[list[int]] | None = None
) -> Samples:
    """The responses of each prompt as trajectories that keep what the prompt's row carries.

    The group is the row's own, else its id, else its index in the batch.
    """
    trajectories = [
        fill_row(row, response, index)
        for index, (row, drawn) in enumerate(zip(prompts, responses, strict=True))
        for response in drawn
    ]
    if prompt_ids is None:
        return Samples(trajectories)
    return Samples(trajectories, [ids for ids, drawn in zip(prompt_ids, responses, strict=True) for _ in drawn])


def fill_row(row: Trajectory, response: Response, index: int) -> Trajectory:
    """The row with a response; its group is the row's, else its id, else the index of the prompt."""
    named = row.group if row.group is not None else row.id
    return msgspec.structs.replace(
        row,
        response=response.text,
        tokens=response.tokens,
        group=index if named is None else named,
        id=None,  # it names the prompt, and several samples share it
        metadata={**row.metadata, "finish_reason": response.finish_reason},
    )


class TextPolicySampler(TokenSampler):
    """Asks `respond(text, settings)` for the next action; tokens are characters and have no log-probabilities."""

    def __init__(self, respond: Callable[[str, SamplingSettings], str], settings: SamplingSettings) -> None:
        self._respond, self.settings = respond, settings
        self.tokenizer = CharacterTokenizer()

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        raise InvalidSettings("this policy plays episodes; sample single responses with its own sampler")

    def continue_from(
        self,
        contexts: list[list[int]],
        settings: SamplingSettings | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Action]:
        """The policy's continuation of each text."""
        texts = [self._respond("".join(map(chr, context)), settings or self.settings) or " " for context in contexts]
        return [Action([ord(character) for character in text], text, None, "stop") for text in texts]
