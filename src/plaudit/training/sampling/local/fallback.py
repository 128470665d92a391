"""Sample from any causal language model with Hugging Face `generate`, and keep the log-probabilities.

`generate` is greedy here: a logits processor draws the token, as our own decoder does and with the same random numbers,
and leaves `generate` nothing else to choose. It also notes the token's log-probability, since the logits of all steps,
which `generate` could return, are gigabytes for a large vocabulary.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from plaudit.errors import require
from plaudit.training.sampling.local.drawing import (
    apply_temperature,
    draw_noting_close_calls,
    draw_numbers,
    draw_tokens,
    keyed_numbers,
    mark_seen,
    penalise,
)
from plaudit.training.sampling.local.generating import Ending, Generated
from plaudit.training.sampling.sampler import SamplingSettings

transformers = require("transformers", extra="train", purpose="sampling from a model")

__all__ = ["generate_with_transformers"]


@torch.no_grad()
def generate_with_transformers(
    model: Any,
    tokenizer: Any,
    prompt_ids: list[list[int]],
    num_samples: int,
    *,
    settings: SamplingSettings,
    ending: Ending,
    generator: torch.Generator,
    seeds: Sequence[int] | None = None,
) -> list[Generated]:
    """`num_samples` responses for each prompt, prompt-major; `seeds` as in our own decoder."""
    repeated = [ids for ids in prompt_ids for _ in range(num_samples)]  # generate repeats none when it is greedy
    ids, mask = _pad_left(repeated, model.device)
    if seeds is None:
        numbers = draw_numbers(settings.max_new_tokens, len(repeated), settings, generator)
    else:
        numbers = keyed_numbers(settings.max_new_tokens, seeds, settings, model.device)

    def compute_alone(row: list[int]) -> Tensor:
        logits: Tensor = model(input_ids=torch.tensor([row], device=model.device)).logits[:, -1].float()
        return logits

    drawing = _Drawing(settings, numbers, repeated, None if seeds is None else compute_alone)
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
    return _cut_all(new_B_T, torch.stack(drawing.logprobs, dim=1), ending)


class _Drawing:
    """A logits processor that draws a token, notes its log-probability, and makes all others impossible."""

    def __init__(
        self,
        settings: SamplingSettings,
        numbers_T_N: Tensor | None,
        prompt_ids: list[list[int]],
        compute_alone: Callable[[list[int]], Tensor] | None = None,
    ) -> None:
        self.logprobs: list[Tensor] = []
        self._settings, self._numbers_T_N, self._prompt_ids = settings, numbers_T_N, prompt_ids
        self._compute_alone = compute_alone

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        likely = apply_temperature(self._penalise(input_ids, scores.float()), self._settings)
        scores = apply_temperature(scores.float(), self._settings)
        numbers = None if self._numbers_T_N is None else self._numbers_T_N[len(self.logprobs)]
        drawn = self._draw(input_ids, likely, numbers)[:, None]
        self.logprobs.append((scores.gather(1, drawn) - scores.logsumexp(dim=-1, keepdim=True)).squeeze(1))
        return torch.full_like(scores, -math.inf).scatter_(1, drawn, 0.0)

    def _draw(self, input_ids: Tensor, likely: Tensor, numbers: Tensor | None) -> Tensor:
        if self._compute_alone is None:
            return draw_tokens(likely, self._settings, numbers)
        found = draw_noting_close_calls(likely, self._settings, numbers)
        for row in found.close_B.nonzero().squeeze(1).tolist():
            new = input_ids[row, input_ids.shape[1] - len(self.logprobs) :].tolist()
            ids = [*self._prompt_ids[row], *new]
            logits = self._compute_alone(ids)
            if self._settings.repetition_penalty != 1.0:
                seen = mark_seen([ids], logits.shape[-1], logits.device)
                logits = penalise(logits, seen, self._settings.repetition_penalty)
            number = None if numbers is None else numbers[row : row + 1]
            found.tokens_B[row] = draw_tokens(apply_temperature(logits, self._settings), self._settings, number)[0]
        return found.tokens_B

    def _penalise(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Unlike that of transformers, this does not take the padding of shorter prompts for tokens that occurred."""
        if self._settings.repetition_penalty == 1.0:
            return scores
        seen_B_V = mark_seen(self._prompt_ids, scores.shape[-1], scores.device)
        new_B_T = input_ids[:, input_ids.shape[1] - len(self.logprobs) :]
        seen_B_V.scatter_(1, new_B_T, torch.ones_like(new_B_T, dtype=torch.bool))
        return penalise(scores, seen_B_V, self._settings.repetition_penalty)


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


def _cut_all(new_B_T: Tensor, logprobs_B_T: Tensor, ending: Ending) -> list[Generated]:
    return [_cut(ids, logprobs, ending) for ids, logprobs in zip(new_B_T.tolist(), logprobs_B_T.tolist(), strict=True)]


def _cut(ids: list[int], logprobs: list[float], ending: Ending) -> Generated:
    """The response up to its end; what stands behind it is padding."""
    for length in range(1, len(ids) + 1):
        if ids[length - 1] in ending.ids or (ending.matches is not None and ending.matches(ids[:length])):
            return Generated(ids[:length], logprobs[:length], ended=True)
    return Generated(ids, logprobs, ended=False)
