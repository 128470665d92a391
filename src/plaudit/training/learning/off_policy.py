"""Corrections for samples that another policy drew: an older one, or a sampler that computes a little differently.

Weights are constants: they say how much a token counts, and no gradient flows through them.
"""

from typing import Literal, TypeAlias

import torch
from torch import Tensor

__all__ = ["ImportanceLevel", "ImportanceMode", "importance_weights", "keep_on_policy"]

ImportanceLevel: TypeAlias = Literal["token", "sequence"]
ImportanceMode: TypeAlias = Literal["truncate", "reject"]


def importance_weights(
    logprobs: Tensor,
    sampler_logprobs: Tensor,
    *,
    cap: float = 2.0,
    mask: Tensor | None = None,
    level: ImportanceLevel = "token",
    mode: ImportanceMode = "truncate",
) -> Tensor:
    """π / π_sampler of every token, or of the whole response for each of its tokens (`level="sequence"`).

    Weights above `cap` are set to it (truncated importance sampling, Ionides 2008, doi:10.1198/106186008X320456), which
    keeps every token's gradient and bounds what one can weigh; or, with `mode="reject"`, those above `cap` and below
    1 / `cap` count for nothing (rejection, as verl and IcePop do).
    """
    log_ratio = logprobs.detach() - sampler_logprobs
    if level == "sequence":
        counted = log_ratio if mask is None else log_ratio * mask
        log_ratio = counted.sum(1, keepdim=True).expand_as(log_ratio)
    weights = log_ratio.exp()
    if mode == "truncate":
        return weights.clamp(max=cap)
    return torch.where((weights <= cap) & (weights >= 1.0 / cap), weights, torch.zeros_like(weights))


def keep_on_policy(
    logprobs: Tensor, sampler_logprobs: Tensor, advantages: Tensor, mask: Tensor, limit: float
) -> Tensor:
    """1 on tokens to learn from, 0 on those of responses that the policy has moved away from and that did badly: their
    mean log(π_sampler / π) exceeds `limit` and their advantage is negative (DeepSeek-V3.2, arXiv:2512.02556)."""
    apart = ((sampler_logprobs - logprobs.detach()) * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(
        min=1
    )
    return ((advantages >= 0) | (apart <= limit)).float()
