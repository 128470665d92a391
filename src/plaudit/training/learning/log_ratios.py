"""Functions of two sets of log-probs of the same tokens: KL estimates and importance weights.

The same KL serves as a penalty in the reward (detach it then) and as a term of the loss. Importance weights are
constants: no gradient flows through them.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.config.learning_keys import ImportanceLevel, ImportanceMode, KLEstimator

__all__ = ["KL_ESTIMATORS", "importance_weights", "keep_on_policy", "kl_divergence"]


def kl_divergence(logprobs: Tensor, reference: Tensor, estimator: KLEstimator = "k3") -> Tensor:
    """KL(policy ‖ reference) per token, estimated from the tokens drawn (joschu.net/blog/kl-approx.html).

    With d = log π − log π_ref: k1 = d, unbiased; k2 = d²/2, whose gradient is the right one in a loss; k3 = e^(−d) − 1
    + d, unbiased and never negative.
    """
    if estimator not in KL_ESTIMATORS:
        hint = did_you_mean(str(estimator), KL_ESTIMATORS)
        raise InvalidSettings(f"no KL estimator {estimator!r}{hint} (there is {', '.join(KL_ESTIMATORS)})")
    return KL_ESTIMATORS[estimator](logprobs - reference)


def _k1(d: Tensor) -> Tensor:
    return d


def _k2(d: Tensor) -> Tensor:
    return d.square() / 2


def _k3(d: Tensor) -> Tensor:
    return torch.expm1(-d) + d


KL_ESTIMATORS: dict[str, Callable[[Tensor], Tensor]] = {"k1": _k1, "k2": _k2, "k3": _k3}


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
