"""Generate from a Llama-style decoder: each prompt is read once, then all samples of all prompts grow together.

Rows that have ended are dropped from the computation once they are half of it.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from plaudit.training.config.schema import SamplingSettings
from plaudit.training.model.decoder import Cache, hidden_states
from plaudit.training.model.decoder_weights import DecoderWeights


@dataclass(frozen=True, slots=True)
class Generated:
    """The tokens of one response with their log-probabilities, and whether it ended by itself."""

    ids: list[int]
    logprobs: list[float]
    ended: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """The end condition of a response: one of these tokens, or a stop text that `matches` finds in the ids so far."""

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
    numbers_T_N: Tensor | None,
) -> list[Generated]:
    """`num_samples` responses for each prompt, prompt-major, drawn with these random numbers."""
    rows = _Rows(weights, prompt_ids, num_samples, settings.max_new_tokens)
    record = _Record(len(rows.indices), settings.max_new_tokens, rows.indices.device)
    for step in range(settings.max_new_tokens):
        scores = apply_temperature(rows.logits, settings)
        number_B = None if numbers_T_N is None else numbers_T_N[step, rows.indices]
        new = draw_tokens(scores, settings, number_B)
        record.add(step, rows.indices, new, _logprobs(scores, new))
        rows.alive &= ~_is_over(new, record.tokens_T_N[: step + 1], rows, ending)
        record.lengths[rows.indices[rows.alive]] = step + 2
        if not rows.alive.any() or step + 1 == settings.max_new_tokens:
            break
        rows.grow(new)
    return record.read_responses(settings.max_new_tokens)


class _Rows:
    """The unfinished responses: their indices in the batch, their cache, and the logits of their next token."""

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
        self.indices = torch.arange(len(rows), device=device)
        self.alive = torch.ones(len(rows), dtype=torch.bool, device=device)

    def grow(self, new: Tensor) -> None:
        """Read the new tokens; rows that have ended are dropped first, when that saves half of the work."""
        if 2 * int(self.alive.sum()) <= len(self.alive):
            kept = self.alive.nonzero().squeeze(1)
            new, self.indices, self.alive = new[kept], self.indices[kept], self.alive[kept]
            self._cache = self._cache.pick(kept)
            self._padding = None if self._padding is None else self._padding[kept]
        at = self._cache.filled
        mask, positions = None, torch.tensor([at], device=new.device)
        if self._padding is not None:
            positions = (at - self._padding)[:, None]
            mask = (torch.arange(at + 1, device=new.device) >= self._padding[:, None])[:, None, None]
        hidden = hidden_states(self._weights, new[:, None], positions, mask=mask, cache=self._cache)
        self.logits = self._weights.head(hidden[:, -1]).float()


class _Record:
    """The drawn tokens of all rows of the batch; tokens after the end of a row are padding."""

    def __init__(self, total: int, max_new_tokens: int, device: torch.device) -> None:
        self.tokens_T_N = torch.zeros((max_new_tokens, total), dtype=torch.long, device=device)
        self.logprobs_T_N = torch.zeros((max_new_tokens, total), device=device)
        self.lengths = torch.ones(total, dtype=torch.long, device=device)

    def add(self, step: int, indices: Tensor, tokens: Tensor, logprobs: Tensor) -> None:
        self.tokens_T_N[step, indices] = tokens
        self.logprobs_T_N[step, indices] = logprobs

    def read_responses(self, max_new_tokens: int) -> list[Generated]:
        """The responses; one that was unfinished after the last token was cut."""
        rows = zip(self.tokens_T_N.T.tolist(), self.logprobs_T_N.T.tolist(), self.lengths.tolist(), strict=True)
        return [
            Generated(tokens[:length], logprobs[:length], ended=length <= max_new_tokens)
            for tokens, logprobs, length in rows
        ]


def _prompt_mask(padding_P: Tensor, length: int) -> Tensor:
    """Causal, without the padding on the left; a padding token sees itself, since the softmax of an empty row is
    undefined.
    """
    indices = torch.arange(length, device=padding_P.device)
    causal = indices[:, None] >= indices
    real = indices >= padding_P[:, None, None]
    return ((causal & real) | (indices[:, None] == indices))[:, None]


def _logprobs(scores: Tensor, tokens: Tensor) -> Tensor:
    return scores.gather(1, tokens[:, None]).squeeze(1) - scores.logsumexp(dim=-1)


def _is_over(new: Tensor, tokens_T_N: Tensor, rows: _Rows, ending: Ending) -> Tensor:
    over = torch.isin(new, torch.tensor(ending.ids, dtype=torch.long, device=new.device))
    if ending.matches is None:
        return over
    so_far = tokens_T_N[:, rows.indices].T.tolist()
    matched = [alive and ending.matches(ids) for alive, ids in zip(rows.alive.tolist(), so_far, strict=True)]
    return over | torch.tensor(matched, device=new.device)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def generator_for(device: torch.device, seed: int) -> torch.Generator:
    """A stream of random numbers on this device."""
    return torch.Generator(device=device).manual_seed(seed)


def apply_temperature(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """The logits at the sampling temperature; a greedy draw leaves them unchanged."""
    return logits / settings.temperature if settings.temperature not in (0.0, 1.0) else logits


def draw_numbers(steps: int, rows: int, settings: SamplingSettings, generator: torch.Generator) -> Tensor | None:
    """The random numbers (T, B) of a whole call, one for each token it may draw; None for greedy decoding.

    All of them are drawn before the first token, so that the numbers of a row do not depend on when other rows end.
    """
    if not settings.temperature:
        return None
    return torch.rand((steps, rows), dtype=torch.float64, generator=generator, device=generator.device)


def keyed_numbers(steps: int, seeds: Sequence[int], settings: SamplingSettings, device: torch.device) -> Tensor | None:
    """Random numbers (T, B) as of `draw_numbers`, where those of a row follow from its seed alone.

    SplitMix64 (Steele, Lea and Flood, 2014): vectorised over rows; a torch generator for each row would take
    milliseconds.
    """
    if not settings.temperature:
        return None
    with np.errstate(over="ignore"):
        state = np.array([seed % 2**64 for seed in seeds], dtype=np.uint64)
        mixed = state + _GOLDEN * np.arange(1, steps + 1, dtype=np.uint64)[:, None]
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return torch.from_numpy((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53).to(device)


def draw_tokens(scores_B_V: Tensor, settings: SamplingSettings, number_B: Tensor | None) -> Tensor:
    """One token per row, by inverse transform sampling: a number from 0 to 1 selects it in the cumulated probabilities.

    None takes the likeliest token.
    """
    if number_B is None:
        return scores_B_V.argmax(dim=-1)
    sums_B_V = torch.softmax(_cut(scores_B_V, settings), dim=-1).cumsum(dim=-1)
    total_B = sums_B_V[:, -1]
    # rounding must not give an index after the last token
    below_B = torch.nextafter(total_B, torch.zeros_like(total_B))
    wanted_B = torch.minimum((number_B * total_B).to(sums_B_V.dtype), below_B)
    return torch.searchsorted(sums_B_V, wanted_B[:, None], right=True).squeeze(1)


def _cut(scores: Tensor, settings: SamplingSettings) -> Tensor:
    if settings.top_k and settings.top_k < scores.shape[-1]:
        lowest_kept = scores.topk(settings.top_k).values[..., -1, None]
        scores = scores.masked_fill(scores < lowest_kept, -math.inf)
    if settings.top_p < 1.0:
        ascending, order = scores.sort(descending=False)
        unlikely = ascending.softmax(dim=-1).cumsum(dim=-1) <= 1 - settings.top_p
        unlikely[..., -1] = False
        scores = scores.masked_fill(unlikely.scatter(-1, order, unlikely), -math.inf)
    if settings.min_p:
        least = scores.amax(dim=-1, keepdim=True) + math.log(settings.min_p)
        scores = scores.masked_fill(scores < least, -math.inf)
    return scores
