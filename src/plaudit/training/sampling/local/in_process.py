"""Sample from a model in this process: with our own cached decoder where we know the family, else with `generate`.

Both use the same random numbers in the same order, so which of the two runs shows in the speed, not in the samples.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch

from plaudit.agents import Action
from plaudit.training.data.prompts import PromptLike, Prompts
from plaudit.training.model.decoder_weights import DecoderWeights, why_unsupported
from plaudit.training.model.encoding import check_lengths, decode_responses, encode_prompts, find_end_ids, find_offsets
from plaudit.training.sampling.local.drawing import generator_for
from plaudit.training.sampling.local.fallback import generate_with_transformers
from plaudit.training.sampling.local.generating import Ending, Generated, generate
from plaudit.training.sampling.sampler import Response, Samples, SamplingSettings, group_responses, sample_prompts
from plaudit.trajectory import Tokens

__all__ = ["TransformersSampler"]


class TransformersSampler:
    """Draws responses from a Hugging Face model and tokenizer.

    `generator` is the stream of random numbers that the sampler goes on with from call to call; its state is all that
    must be kept to continue where it stopped.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        settings: SamplingSettings | None = None,
        *,
        generator: torch.Generator | None = None,
        own_decoder: bool = True,
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.settings = settings or SamplingSettings()
        self.generator = generator or generator_for(
            model.device, torch.Generator().seed()
        )  # torch.seed() would reseed everyone
        self.slow_because = why_unsupported(model) if own_decoder else "the own decoder was switched off"
        """Why Hugging Face `generate` is used instead of our own decoder; None when it is not."""

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        """`num_samples` responses for each prompt, with token ids, log-probabilities and offsets."""
        return sample_prompts(self._sample, batch, num_samples, settings or self.settings)

    def _sample(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        prompt_ids = encode_prompts(self.tokenizer, prompts.prompts)
        check_lengths(prompt_ids, settings.max_new_tokens, self.context)
        drawn = self._generate(prompt_ids, num_samples, settings)
        responses = self._responses(drawn)
        grouped = [responses[start : start + num_samples] for start in range(0, len(responses), num_samples)]
        return group_responses(prompts, grouped, prompt_ids)

    def continue_from(
        self,
        contexts: list[list[int]],
        settings: SamplingSettings | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Action]:
        """One continuation of each context of token ids; neither is ever encoded from text.

        With a seed for each, the tokens of a context do not depend on which others are in the call.
        """
        settings = settings or self.settings
        check_lengths(contexts, settings.max_new_tokens, self.context)
        drawn = self._generate(contexts, 1, settings, seeds)
        texts = decode_responses(self.tokenizer, [each.ids for each in drawn])
        return [
            Action(each.ids, text, each.logprobs, "stop" if each.ended else "length")
            for each, text in zip(drawn, texts, strict=True)
        ]

    @property
    def context(self) -> int | None:
        """How many tokens the model can see, where it says so."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def _generate(
        self,
        prompt_ids: list[list[int]],
        num_samples: int,
        settings: SamplingSettings,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated]:
        generator = self.generator if settings.seed is None else generator_for(self.model.device, settings.seed)
        ending = Ending(find_end_ids(self.model, self.tokenizer), _stop_check(self.tokenizer, settings.stop))
        if self.slow_because is not None:
            run: Callable[..., list[Generated]] = partial(generate_with_transformers, self.model, self.tokenizer)
        else:
            length = max(map(len, prompt_ids)) + settings.max_new_tokens
            with torch.no_grad():
                run = partial(generate, DecoderWeights.of(self.model, length))
        return run(prompt_ids, num_samples, settings=settings, ending=ending, generator=generator, seeds=seeds)

    def _responses(self, drawn: Sequence[Generated]) -> list[Response]:
        different = list(dict.fromkeys(tuple(each.ids) for each in drawn))  # samples of a group are often the same
        texts = decode_responses(self.tokenizer, different)
        offsets = find_offsets(self.tokenizer, different, texts)
        decoded = dict(zip(different, zip(texts, offsets, strict=True), strict=True))
        return [_response(each, *decoded[tuple(each.ids)]) for each in drawn]


def _response(drawn: Generated, text: str, offsets: list[tuple[int, int]]) -> Response:
    tokens = Tokens(ids=drawn.ids, offsets=[*offsets], logprobs=drawn.logprobs, mask=[1] * len(drawn.ids))
    return Response(text, tokens, "stop" if drawn.ended else "length")


def _stop_check(tokenizer: Any, stop: tuple[str, ...]) -> Callable[[list[int]], bool] | None:
    """Whether a response has come to a stop text; only its end is decoded, as far back as the text can reach."""
    if not stop:
        return None
    reach = 4 * max(map(len, stop))  # a character is at most four bytes, and a token at least one

    def matches(ids: list[int]) -> bool:
        end = decode_responses(tokenizer, [ids[-reach:]])[0]
        return any(text in end for text in stop)

    return matches
