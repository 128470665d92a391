"""The log-probability and the entropy of tokens, from logits over a large vocabulary.

Logits are the largest tensors of an update: for 500 tokens of SmolLM2 they are 100 MB. Plain autograd would hold five
of that size at its peak; this holds two.
"""

# ruff: noqa: N803, N806 - tensor names carry shapes

from typing import Any

import torch
from torch import Tensor

__all__ = ["rate_tokens", "rate_with_entropy"]


def rate_tokens(logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
    """The log-probability of each token, with its gradient, and the entropy at its place, without."""
    rated: tuple[Tensor, Tensor] = _Rating.apply(logits_N_V, ids_N)  # type: ignore[no-untyped-call]
    return rated


def rate_with_entropy(logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
    """The same with the gradient of the entropy too, as a bonus for it needs."""
    every_N_V = torch.log_softmax(logits_N_V, dim=-1)
    chosen_N = every_N_V.gather(1, ids_N[:, None]).squeeze(1)
    return chosen_N, -(every_N_V.exp() * every_N_V).sum(dim=-1)


class _Rating(torch.autograd.Function):
    """d log p(token) / d logits = one-hot(token) − p, so that p is all that must be kept."""

    @staticmethod
    def forward(ctx: Any, logits_N_V: Tensor, ids_N: Tensor) -> tuple[Tensor, Tensor]:
        p_N_V = torch.softmax(logits_N_V, dim=-1)
        total_N = logits_N_V.amax(dim=-1) - p_N_V.amax(dim=-1).log()  # logsumexp, which would need another tensor
        chosen_N = logits_N_V.gather(1, ids_N[:, None]).squeeze(1) - total_N
        entropy_N = total_N - torch.linalg.vecdot(p_N_V, logits_N_V)
        ctx.save_for_backward(p_N_V, ids_N)
        ctx.mark_non_differentiable(entropy_N)
        return chosen_N, entropy_N

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        p_N_V, ids_N = ctx.saved_tensors
        gradient_N = gradients[0]
        return (p_N_V * -gradient_N[:, None]).scatter_add_(1, ids_N[:, None], gradient_N[:, None]), None
