"""Sample from a model in this process: with our own cached decoder for known model families, else with `generate`.

Both use the same random numbers in the same order, so which of the two runs shows in the speed, not in the samples.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from plaudit.agents import Action
from plaudit.errors import require
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.prompts import Prompts
from plaudit.training.model.decoder_weights import DecoderWeights, why_unsupported
from plaudit.training.model.generating import (
    Ending,
    Generated,
    apply_temperature,
    draw_numbers,
    draw_tokens,
    generate,
    generator_for,
    keyed_numbers,
)
from plaudit.training.sampling.encoding import (
    check_lengths,
    decode_responses,
    encode_prompts,
    find_end_ids,
    find_offsets,
)
from plaudit.training.sampling.sampler import Response, Samples, TokenSampler, group_responses
from plaudit.trajectory import Tokens


class TransformersSampler(TokenSampler):
    """Draws responses from a Hugging Face model and tokenizer.

    `generator` is the stream of random numbers, which continues from call to call. A sampler that is given its state
    continues where another stopped.
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
        # torch.seed() would set the seed of the whole process
        self.generator = generator or generator_for(model.device, torch.Generator().seed())
        self.fallback_reason = why_unsupported(model) if own_decoder else "the own decoder was switched off"
        """The reason why Hugging Face `generate` replaces our own decoder; None when it does not."""

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` responses for each prompt, with token ids, log-probabilities and offsets."""
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
        """The number of tokens that the model can see, if it declares one."""
        return getattr(self.model.config, "max_position_embeddings", None)

    def _generate(
        self,
        prompt_ids: list[list[int]],
        num_samples: int,
        settings: SamplingSettings,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated]:
        steps, device = settings.max_new_tokens, self.model.device
        if seeds is None:
            generator = self.generator if settings.seed is None else generator_for(device, settings.seed)
            numbers_T_N = draw_numbers(steps, len(prompt_ids) * num_samples, settings, generator)
        else:
            numbers_T_N = keyed_numbers(steps, seeds, settings, device)
        ending = Ending(find_end_ids(self.model, self.tokenizer), _stop_check(self.tokenizer, settings.stop))
        if self.fallback_reason is not None:
            run: Callable[..., list[Generated]] = partial(generate_with_transformers, self.model, self.tokenizer)
        else:
            length = max(map(len, prompt_ids)) + steps
            with torch.no_grad():
                run = partial(generate, DecoderWeights.of(self.model, length))
        return run(prompt_ids, num_samples, settings=settings, ending=ending, numbers_T_N=numbers_T_N)

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


transformers = require("transformers", extra="train", purpose="sampling from a model")


@torch.no_grad()
def generate_with_transformers(
    model: Any,
    tokenizer: Any,
    prompt_ids: list[list[int]],
    num_samples: int,
    *,
    settings: SamplingSettings,
    ending: Ending,
    numbers_T_N: Tensor | None,
) -> list[Generated]:
    """`num_samples` responses for each prompt, prompt-major, as `generate` of our own decoder gives them."""
    repeated = [ids for ids in prompt_ids for _ in range(num_samples)]  # generate returns one sequence per row
    ids, mask = _pad_left(repeated, model.device)

    drawing = _Drawing(settings, numbers_T_N)
    was_training = model.training
    model.eval()
    try:
        sequences = model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=transformers.GenerationConfig(**_options(settings, ending)),
            logits_processor=[drawing],
            tokenizer=tokenizer,
        )
    finally:
        model.train(was_training)
    new_B_T = sequences[:, ids.shape[1] :]
    logprobs_B_T = torch.stack(drawing.logprobs, dim=1)
    return [_cut(*row, ending) for row in zip(new_B_T.tolist(), logprobs_B_T.tolist(), strict=True)]


class _Drawing:
    """A logits processor that draws a token, notes its log-probability, and makes all others impossible."""

    def __init__(self, settings: SamplingSettings, numbers_T_N: Tensor | None) -> None:
        self.logprobs: list[Tensor] = []
        self._settings, self._numbers_T_N = settings, numbers_T_N

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        scores = apply_temperature(scores.float(), self._settings)
        numbers = None if self._numbers_T_N is None else self._numbers_T_N[len(self.logprobs)]
        drawn = draw_tokens(scores, self._settings, numbers)[:, None]
        self.logprobs.append((scores.gather(1, drawn) - scores.logsumexp(dim=-1, keepdim=True)).squeeze(1))
        return torch.full_like(scores, -math.inf).scatter_(1, drawn, 0.0)


def _pad_left(prompt_ids: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    length = max(map(len, prompt_ids))
    ids = torch.tensor([[0] * (length - len(row)) + row for row in prompt_ids], device=device)
    mask = torch.tensor([[0] * (length - len(row)) + [1] * len(row) for row in prompt_ids], device=device)
    return ids, mask


def _options(settings: SamplingSettings, ending: Ending) -> dict[str, Any]:
    return {
        "max_new_tokens": settings.max_new_tokens,
        "eos_token_id": list(ending.ids) or None,
        "pad_token_id": 0,
        "do_sample": False,
        "stop_strings": list(settings.stop) or None,
    }


def _cut(ids: list[int], logprobs: list[float], ending: Ending) -> Generated:
    """The response up to its end; the tokens after it are padding."""
    for length in range(1, len(ids) + 1):
        if ids[length - 1] in ending.ids or (ending.matches is not None and ending.matches(ids[:length])):
            return Generated(ids[:length], logprobs[:length], ended=True)
    return Generated(ids, logprobs, ended=False)
