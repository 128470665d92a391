"""Generate from a Llama-style decoder: each prompt is read once, then all samples of all prompts grow together.

Rows that have ended are dropped from the computation once they are half of it.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from plaudit.training.model.decoder import Cache, hidden_states
from plaudit.training.model.decoder_weights import DecoderWeights
from plaudit.training.sampling.local.drawing import (
    apply_temperature,
    draw_noting_close_calls,
    draw_numbers,
    draw_tokens,
    keyed_numbers,
    mark_seen,
    penalise,
)
from plaudit.training.sampling.sampler import SamplingSettings

__all__ = ["Ending", "Generated", "generate"]


@dataclass(frozen=True, slots=True)
class Generated:
    """The tokens of one response with their log-probabilities, and whether it ended by itself."""

    ids: list[int]
    logprobs: list[float]
    ended: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """When a response is over: one of these tokens, or a stop text that `matches` finds in the ids so far."""

    ids: Sequence[int]
    matches: Callable[[list[int]], bool] | None = None


@torch.inference_mode()
def generate(
    weights: DecoderWeights,
    prompt_ids: list[list[int]],
    num_samples: int,
    *,
    settings: SamplingSettings,
    ending: Ending,
    generator: torch.Generator,
    seeds: Sequence[int] | None = None,
) -> list[Generated]:
    """`num_samples` responses for each prompt, prompt-major.

    With `seeds`, one for each response, no row's tokens depend on which others are in the call: each takes its random
    numbers from its own seed, and where the last digits of the logits would decide, which do depend on the batch, the
    row is computed by itself.
    """
    rows = _Rows(weights, prompt_ids, num_samples, settings.max_new_tokens)
    record = _Record(len(rows.places), settings.max_new_tokens, rows.places.device)
    if seeds is None:
        numbers_T_N = draw_numbers(settings.max_new_tokens, len(rows.places), settings, generator)
    else:
        numbers_T_N = keyed_numbers(settings.max_new_tokens, seeds, settings, rows.places.device)
    alone = None if seeds is None else _SingleRows(weights, prompt_ids, num_samples, settings)
    seen = None
    if settings.repetition_penalty != 1.0:
        seen = mark_seen(prompt_ids, rows.logits.shape[-1], rows.places.device).repeat_interleave(num_samples, 0)
    for step in range(settings.max_new_tokens):
        scores = apply_temperature(rows.logits, settings)
        likely = scores if seen is None else _penalise(rows, seen, settings)
        number_B = None if numbers_T_N is None else numbers_T_N[step, rows.places]
        if alone is None:
            new = draw_tokens(likely, settings, number_B)
        else:
            new = alone.draw(likely, number_B, rows, record.tokens_T_N[:step], seen)
        record.add(step, rows.places, new, _logprobs(scores, new))
        if seen is not None:
            seen[rows.places, new] = True
        rows.alive &= ~_is_over(new, record.tokens_T_N[: step + 1], rows, ending)
        record.lengths[rows.places[rows.alive]] = step + 2
        if not rows.alive.any() or step + 1 == settings.max_new_tokens:
            break
        rows.grow(new)
    return record.read_responses(settings.max_new_tokens)


class _Rows:
    """The responses that still grow: where they stand in the batch, their cache, and the logits of their next token."""

    def __init__(
        self, weights: DecoderWeights, prompt_ids: list[list[int]], num_samples: int, max_new_tokens: int
    ) -> None:
        device = weights.embedding.device
        length = max(map(len, prompt_ids))
        padding_P = torch.tensor([length - len(ids) for ids in prompt_ids], device=device)
        ids_P_L = torch.tensor([[0] * (length - len(ids)) + ids for ids in prompt_ids], device=device)
        cache = Cache(weights, len(prompt_ids), length + max_new_tokens)
        positions = (torch.arange(length, device=device) - padding_P[:, None]).clamp(min=0)
        mask = _prompt_mask(padding_P, length) if padding_P.any() else None
        hidden = hidden_states(weights, ids_P_L, positions, mask=mask, cache=cache)
        rows = torch.arange(len(prompt_ids), device=device).repeat_interleave(num_samples)
        self._weights = weights
        self._cache = cache.pick(rows) if num_samples > 1 else cache
        self._padding = padding_P[rows] if mask is not None else None
        self.logits = weights.head(hidden[:, -1]).float()[rows]
        self.places = torch.arange(len(rows), device=device)
        self.alive = torch.ones(len(rows), dtype=torch.bool, device=device)

    def grow(self, new: Tensor) -> None:
        """Read the new tokens; rows that have ended are dropped first, when that saves half of the work."""
        if 2 * int(self.alive.sum()) <= len(self.alive):
            kept = self.alive.nonzero().squeeze(1)
            new, self.places, self.alive = new[kept], self.places[kept], self.alive[kept]
            self._cache = self._cache.pick(kept)
            self._padding = None if self._padding is None else self._padding[kept]
        at = self._cache.filled
        mask, positions = None, torch.tensor([at], device=new.device)
        if self._padding is not None:
            positions = (at - self._padding)[:, None]
            mask = (torch.arange(at + 1, device=new.device) >= self._padding[:, None])[:, None, None]
        hidden = hidden_states(self._weights, new[:, None], positions, mask=mask, cache=self._cache)
        self.logits = self._weights.head(hidden[:, -1]).float()


class _SingleRows:
    """Decides close calls by computing the row alone, which gives the same logits in whichever batch it is."""

    def __init__(
        self, weights: DecoderWeights, prompt_ids: list[list[int]], num_samples: int, settings: SamplingSettings
    ) -> None:
        self._weights, self._prompt_ids, self._num_samples = weights, prompt_ids, num_samples
        self._settings = settings

    def draw(
        self, likely: Tensor, number_B: Tensor | None, rows: _Rows, tokens_T_N: Tensor, seen: Tensor | None
    ) -> Tensor:
        """A token for each of the rows."""
        drawn = draw_noting_close_calls(likely, self._settings, number_B)
        for row in (drawn.close_B & rows.alive).nonzero().squeeze(1).tolist():
            place = int(rows.places[row])
            ids = [*self._prompt_ids[place // self._num_samples], *tokens_T_N[:, place].tolist()]
            logits = self._logits(ids)
            if seen is not None:
                logits = penalise(logits, seen[place][None], self._settings.repetition_penalty)
            number = None if number_B is None else number_B[row : row + 1]
            drawn.tokens_B[row] = draw_tokens(apply_temperature(logits, self._settings), self._settings, number)[0]
        return drawn.tokens_B

    def _logits(self, ids: list[int]) -> Tensor:
        device = self._weights.embedding.device
        hidden = hidden_states(self._weights, torch.tensor([ids], device=device), torch.arange(len(ids), device=device))
        return self._weights.head(hidden[:, -1]).float()


class _Record:
    """What was drawn, for all rows of the batch; tokens behind the end of a row mean nothing."""

    def __init__(self, total: int, max_new_tokens: int, device: torch.device) -> None:
        self.tokens_T_N = torch.zeros((max_new_tokens, total), dtype=torch.long, device=device)
        self.logprobs_T_N = torch.zeros((max_new_tokens, total), device=device)
        self.lengths = torch.ones(total, dtype=torch.long, device=device)

    def add(self, step: int, places: Tensor, tokens: Tensor, logprobs: Tensor) -> None:
        self.tokens_T_N[step, places] = tokens
        self.logprobs_T_N[step, places] = logprobs

    def read_responses(self, max_new_tokens: int) -> list[Generated]:
        """The responses; one that was still alive after the last token did not end by itself."""
        rows = zip(self.tokens_T_N.T.tolist(), self.logprobs_T_N.T.tolist(), self.lengths.tolist(), strict=True)
        return [
            Generated(tokens[:length], logprobs[:length], ended=length <= max_new_tokens)
            for tokens, logprobs, length in rows
        ]


def _prompt_mask(padding_P: Tensor, length: int) -> Tensor:
    """Causal, without the padding on the left; a padding token sees itself, since a row of nothing has no softmax."""
    places = torch.arange(length, device=padding_P.device)
    causal = places[:, None] >= places
    real = places >= padding_P[:, None, None]
    return ((causal & real) | (places[:, None] == places))[:, None]


def _penalise(rows: _Rows, seen: Tensor, settings: SamplingSettings) -> Tensor:
    return apply_temperature(penalise(rows.logits, seen[rows.places], settings.repetition_penalty), settings)


def _logprobs(scores: Tensor, tokens: Tensor) -> Tensor:
    return scores.gather(1, tokens[:, None]).squeeze(1) - scores.logsumexp(dim=-1)


def _is_over(new: Tensor, tokens_T_N: Tensor, rows: _Rows, ending: Ending) -> Tensor:
    over = torch.isin(new, torch.tensor(ending.ids, dtype=torch.long, device=new.device))
    if ending.matches is None:
        return over
    so_far = tokens_T_N[:, rows.places].T.tolist()
    said = [alive and ending.matches(ids) for alive, ids in zip(rows.alive.tolist(), so_far, strict=True)]
    return over | torch.tensor(said, device=new.device)
