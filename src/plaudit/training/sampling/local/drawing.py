"""Draw tokens from logits: repetition penalty, temperature, top-k, top-p and min-p as in Hugging Face `generate`, then
one draw per row.

A draw needs one random number. `generate` takes one for every token of the vocabulary, 15 % of the time of sampling; so
the same seed gives other tokens there, from the same distribution.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

import math

import torch
from torch import Tensor

from plaudit.training.sampling.sampler import SamplingSettings

__all__ = ["apply_temperature", "draw_numbers", "draw_tokens", "generator_for", "mark_seen", "penalise"]


def generator_for(device: torch.device, seed: int) -> torch.Generator:
    """A stream of random numbers on this device."""
    return torch.Generator(device=device).manual_seed(seed)


def apply_temperature(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """The logits at the sampling temperature; a greedy draw keeps them as they are."""
    return logits / settings.temperature if settings.temperature not in (0.0, 1.0) else logits


def mark_seen(prompt_ids: list[list[int]], vocabulary: int, device: torch.device) -> Tensor:
    """True (B, V) on the tokens of each prompt."""
    seen_B_V = torch.zeros((len(prompt_ids), vocabulary), dtype=torch.bool, device=device)
    for row, ids in enumerate(prompt_ids):
        seen_B_V[row, ids] = True
    return seen_B_V


def penalise(logits_B_V: Tensor, seen_B_V: Tensor, penalty: float) -> Tensor:
    """The logits with those of tokens seen before divided by the penalty, or multiplied where they are negative."""
    lowered = torch.where(logits_B_V < 0, logits_B_V * penalty, logits_B_V / penalty)
    return torch.where(seen_B_V, lowered, logits_B_V)


def draw_numbers(steps: int, rows: int, settings: SamplingSettings, generator: torch.Generator) -> Tensor | None:
    """The random numbers (T, B) of a whole call, one for each token it may draw; None where nothing is left to chance.

    They are drawn at once, so that what a row gets does not depend on when other rows end.
    """
    if not settings.temperature:
        return None
    return torch.rand((steps, rows), dtype=torch.float64, generator=generator, device=generator.device)


def draw_tokens(scores_B_V: Tensor, settings: SamplingSettings, number_B: Tensor | None) -> Tensor:
    """One token per row: the one in whose share of the summed probabilities a number from 0 to 1 falls.

    None takes the likeliest token.
    """
    if number_B is None:
        return scores_B_V.argmax(dim=-1)
    sums_B_V = torch.softmax(_cut(scores_B_V, settings), dim=-1).cumsum(dim=-1)
    total_B = sums_B_V[:, -1]
    below_B = torch.nextafter(total_B, torch.zeros_like(total_B))  # rounding must not lead beyond all tokens
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
