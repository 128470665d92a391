"""Draw tokens from logits: repetition penalty, temperature, top-k, top-p and min-p as in Hugging Face `generate`, then
one draw per row.

A draw needs one random number. `generate` takes one for every token of the vocabulary, 15 % of the time of sampling; so
the same seed gives other tokens there, from the same distribution.
"""

# ruff: noqa: N803, N806, N815 - tensor names carry shapes

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from plaudit.training.sampling.sampler import SamplingSettings

__all__ = [
    "Draw", "apply_temperature", "draw_noting_close_calls", "draw_numbers", "draw_tokens",
    "generator_for", "keyed_numbers", "mark_seen", "penalise",
]  # fmt: skip

CLOSE = 2e-5
"""Which rows share a batch moves logits by about 1e-6: a draw closer to another token than this is a close call."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Draw:
    """A token per row, and True on rows where it was a close call: another batch might have given another token."""

    tokens_B: Tensor
    close_B: Tensor


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


def keyed_numbers(steps: int, seeds: Sequence[int], settings: SamplingSettings, device: torch.device) -> Tensor | None:
    """Random numbers (T, B) as of `draw_numbers`, where those of a row follow from its seed alone.

    SplitMix64 (Steele, Lea and Flood, 2014): thousands of rows at once, where a generator each would take milliseconds.
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
    """One token per row: the one in whose share of the summed probabilities a number from 0 to 1 falls.

    None takes the likeliest token.
    """
    return _draw(scores_B_V, settings, number_B)[0]


def draw_noting_close_calls(scores_B_V: Tensor, settings: SamplingSettings, number_B: Tensor | None) -> Draw:
    """The same as `draw_tokens`, with the rows whose token hangs on the last digits of the scores."""
    tokens_B, sums_B_V, wanted_B = _draw(scores_B_V, settings, number_B)
    if sums_B_V is None or wanted_B is None:
        best_B_2 = scores_B_V.topk(2).values
        return Draw(tokens_B, best_B_2[:, 0] - best_B_2[:, 1] < CLOSE)
    upper_B = sums_B_V.gather(1, tokens_B[:, None]).squeeze(1)
    lower_B = sums_B_V.gather(1, (tokens_B[:, None] - 1).clamp(min=0)).squeeze(1)
    lower_B = torch.where(tokens_B > 0, lower_B, -torch.ones_like(lower_B))
    close_B = (upper_B - wanted_B < CLOSE) | (wanted_B - lower_B < CLOSE)
    return Draw(tokens_B, close_B | _cuts_closely(scores_B_V, settings))


def _draw(
    scores_B_V: Tensor, settings: SamplingSettings, number_B: Tensor | None
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    if number_B is None:
        return scores_B_V.argmax(dim=-1), None, None
    sums_B_V = torch.softmax(_cut(scores_B_V, settings), dim=-1).cumsum(dim=-1)
    total_B = sums_B_V[:, -1]
    below_B = torch.nextafter(total_B, torch.zeros_like(total_B))  # rounding must not lead beyond all tokens
    wanted_B = torch.minimum((number_B * total_B).to(sums_B_V.dtype), below_B)
    return torch.searchsorted(sums_B_V, wanted_B[:, None], right=True).squeeze(1), sums_B_V, wanted_B


def _cuts_closely(scores: Tensor, settings: SamplingSettings) -> Tensor:
    """Rows in which a token is only just kept, or only just cut."""
    close_B = torch.zeros(len(scores), dtype=torch.bool, device=scores.device)
    if settings.top_k and settings.top_k < scores.shape[-1]:
        ordered = scores.topk(settings.top_k + 1).values
        close_B |= ordered[:, -2] - ordered[:, -1] < CLOSE
    if settings.top_p < 1.0:
        sums = scores.sort(descending=False).values.softmax(dim=-1).cumsum(dim=-1)
        close_B |= ((sums - (1 - settings.top_p)).abs() < CLOSE).any(dim=-1)
    if settings.min_p:
        least = scores.amax(dim=-1, keepdim=True) + math.log(settings.min_p)
        close_B |= ((scores - least).abs() < CLOSE).any(dim=-1)
    return close_B


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
