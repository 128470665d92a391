"""Draw tokens from logits: temperature, then top-k, then top-p, then one draw per row.

The order, and the random numbers that are used up, are those of Hugging Face `generate`, so the same seed gives the
same tokens.
"""

# ruff: noqa: N803 - tensor names carry shapes

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from plaudit.training.sampling.sampler import SamplingSettings

__all__ = ["apply_temperature", "draw_tokens", "generator_for", "use_generator"]


def generator_for(device: torch.device, seed: int) -> torch.Generator:
    """A stream of random numbers on this device."""
    return torch.Generator(device=device).manual_seed(seed)


def apply_temperature(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """The logits at the sampling temperature; a greedy draw keeps them as they are."""
    return logits / settings.temperature if settings.temperature not in (0.0, 1.0) else logits


def draw_tokens(scores_B_V: Tensor, settings: SamplingSettings, noise_B_V: Tensor | None) -> Tensor:
    """One token per row; `noise_B_V` are exponential random numbers, None takes the likeliest token.

    The largest of p/noise is a draw from p: what `torch.multinomial` does for one draw per row.
    """
    if noise_B_V is None:
        return scores_B_V.argmax(dim=-1)
    probabilities = torch.softmax(_cut(scores_B_V, settings), dim=-1)
    return (probabilities / noise_B_V).argmax(dim=-1)


@contextmanager
def use_generator(generator: torch.Generator) -> Iterator[None]:
    """Let code that uses torch's global random numbers go on with those of `generator`."""
    on_device = generator.device.type == "cuda"
    devices = [generator.device] if on_device else []
    with torch.random.fork_rng(devices=devices):
        if on_device:
            torch.cuda.set_rng_state(generator.get_state(), generator.device)
        else:
            torch.set_rng_state(generator.get_state())
        try:
            yield
        finally:
            left = torch.cuda.get_rng_state(generator.device) if on_device else torch.get_rng_state()
            generator.set_state(left)


def _cut(scores: Tensor, settings: SamplingSettings) -> Tensor:
    if settings.top_k and settings.top_k < scores.shape[-1]:
        lowest_kept = scores.topk(settings.top_k).values[..., -1, None]
        scores = scores.masked_fill(scores < lowest_kept, -math.inf)
    if settings.top_p < 1.0:
        ascending, order = scores.sort(descending=False)
        unlikely = ascending.softmax(dim=-1).cumsum(dim=-1) <= 1 - settings.top_p
        unlikely[..., -1] = False
        scores = scores.masked_fill(unlikely.scatter(-1, order, unlikely), -math.inf)
    return scores
