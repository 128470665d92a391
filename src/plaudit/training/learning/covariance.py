"""The few tokens that make a policy lose its entropy: those whose log-probability and advantage are far above the mean
together (Cui et al. 2025, The Entropy Mechanism of Reinforcement Learning, arXiv:2505.22617).

Clip-Cov takes some of them out of the update; KL-Cov holds them near the policy that sampled.
"""

import torch
from torch import Tensor

__all__ = ["pick_at_random", "pick_largest", "token_covariance"]


def token_covariance(logprobs: Tensor, advantages: Tensor, mask: Tensor) -> Tensor:
    """(log π − its mean) × (A − its mean) of every token that counts, as constants; −∞ on the others."""
    counts = mask.bool()
    if not counts.any():
        return torch.full_like(logprobs, -torch.inf)
    now = logprobs.detach()
    covariance = (now - now[counts].mean()) * (advantages - advantages[counts].mean())
    return covariance.masked_fill(~counts, -torch.inf)


def pick_at_random(covariance: Tensor, number: int, bounds: tuple[float, float]) -> Tensor:
    """True on `number` tokens, drawn from those with a covariance between the bounds, or all where they are fewer
    (Clip-Cov); torch's own random numbers draw."""
    low, high = bounds
    among = ((covariance > low) & (covariance < high)).nonzero()
    drawn = among[torch.randperm(len(among))[:number].to(among.device)]
    picked = torch.zeros_like(covariance, dtype=torch.bool)
    picked[drawn[:, 0], drawn[:, 1]] = True
    return picked


def pick_largest(covariance: Tensor, number: int) -> Tensor:
    """True on the `number` tokens with the largest covariance (KL-Cov)."""
    picked = torch.zeros_like(covariance, dtype=torch.bool)
    picked.view(-1)[covariance.flatten().topk(min(number, covariance.numel())).indices] = True
    return picked & (covariance > -torch.inf)
