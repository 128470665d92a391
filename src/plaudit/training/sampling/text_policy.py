"""A policy that is only known by its texts, a server or a person, as a sampler of characters for episodes."""

from collections.abc import Callable, Iterable, Sequence

from plaudit.agents import Action, CharacterTokenizer
from plaudit.errors import InvalidSettings
from plaudit.training.data.prompts import PromptLike
from plaudit.training.sampling.sampler import Samples, SamplingSettings

__all__ = ["TextPolicySampler"]


class TextPolicySampler:
    """Asks `respond(text, settings)` for the next action; tokens are characters and have no log-probabilities."""

    def __init__(self, respond: Callable[[str, SamplingSettings], str], settings: SamplingSettings) -> None:
        self._respond, self.settings = respond, settings
        self.tokenizer = CharacterTokenizer()

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        raise InvalidSettings("this policy plays episodes; sample single responses with its own sampler")

    def continue_from(
        self,
        contexts: list[list[int]],
        settings: SamplingSettings | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Action]:
        """What the policy says after each of the texts."""
        said = [self._respond("".join(map(chr, context)), settings or self.settings) or " " for context in contexts]
        return [Action([ord(character) for character in text], text, None, "stop") for text in said]
