"""What two sets of log-probs of the same tokens tell: KL estimates, importance weights, covariances with advantages.

The same KL serves as a penalty in the reward (detach it then) and as a term of the loss. Importance weights are
constants: no gradient flows through them.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.config.learning_keys import ImportanceLevel, ImportanceMode, KLEstimator

__all__ = [
    "KL_ESTIMATORS", "importance_weights", "keep_on_policy", "kl_divergence", "pick_at_random", "pick_largest",
    "token_covariance",
]  # fmt: skip


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
