"""Policy losses as pure functions of log-probabilities: clipped surrogates, KL to a reference, importance weights.

Every tensor has one row per sample and one column per token (B, T), and `mask` is 1 on the tokens that count. A loss is
a weighted sum over tokens, and only `token_weights` knows how tokens are averaged: for gradient accumulation take the
weights of the whole batch and slice them, since the mean of means over parts is another number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from plaudit.errors import InvalidAdvantage
from plaudit.settings import check_choice
from plaudit.training.config.learning_keys import ImportanceLevel, ImportanceMode, KLEstimator, LossSettings

CLIPPED = LossSettings(average="token")
"""The loss where no settings are given: PPO's (arXiv:1707.06347), averaged over tokens."""


@dataclass(frozen=True, slots=True)
class OtherLogprobs:
    """Other log-probs of the same tokens: those of the `reference` model, and those the `sampler` drew them with.

    The sampler's differ from `old_logprobs` where it runs other code, other precision or older weights than the policy.
    """

    reference: Tensor | None = None
    sampler: Tensor | None = None
    entropy: Tensor | None = None
    """The entropy at each token, with its gradient, if the loss has an entropy bonus."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A scalar to call `backward` on, and what is worth logging about it."""

    value: Tensor
    stats: dict[str, float]


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    settings: LossSettings | None = None,
    other: OtherLogprobs | None = None,
    weights: Tensor | None = None,
) -> Loss:
    """The loss whose gradient improves the policy: PPO's surrogate (arXiv:1707.06347) as `settings` says.

    `weights` are the tokens' shares in the loss, `token_weights(mask, settings)` unless given.
    """
    settings, other = settings or CLIPPED, other or OtherLogprobs()
    _check_shapes(logprobs, old_logprobs=old_logprobs, advantages=advantages, mask=mask, weights=weights,
                  reference=other.reference, sampler=other.sampler)  # fmt: skip
    weights = token_weights(mask, settings) if weights is None else weights
    counts = mask.bool()
    # Values on padding may be anything, even NaN, and must not reach a gradient.
    logprobs, old_logprobs, advantages = (
        _zero_padding(tensor, counts) for tensor in (logprobs, old_logprobs, advantages)
    )
    log_ratio = logprobs - old_logprobs
    ratio = _RATIOS[settings.ratio](_limit_log_ratio(log_ratio, advantages, settings), mask).exp()
    objective = _SURROGATES[settings.surrogate](logprobs, ratio, advantages, settings)
    stats = _ratio_stats(ratio, log_ratio, advantages, counts, settings)
    if other.sampler is not None:
        importance = importance_weights(
            old_logprobs,
            _zero_padding(other.sampler, counts),
            cap=settings.max_importance,
            mask=mask,
            level=settings.importance_level,
            mode=settings.importance_mode,
        )
        objective = objective * importance
        stats |= {"importance/mean": _mean(importance, counts), "importance/max": _max(importance, counts)}
    value = -(objective * weights).sum()
    if other.reference is not None:
        kl = kl_divergence(logprobs, _zero_padding(other.reference, counts), settings.kl_estimator)
        value = value + settings.kl_beta * (kl * weights).sum()
        stats["kl"] = _mean(kl, counts)
    if other.entropy is not None:
        entropy = _zero_padding(other.entropy, counts)
        value = value - settings.entropy_bonus * (entropy * weights).sum()
        stats["entropy/exact"] = _mean(entropy, counts)
    return Loss(value, stats)


def token_weights(mask: Tensor, settings: LossSettings | None = None) -> Tensor:
    """The share of every token in the loss. Samples without a token that counts take no part in any average."""
    settings = settings or CLIPPED
    return _AVERAGES[settings.average](mask.float(), settings)


def value_loss(
    values: Tensor,
    old_values: Tensor,
    returns: Tensor,
    mask: Tensor,
    *,
    clip: float = 0.2,
    weights: Tensor | None = None,
) -> Loss:
    """Half the squared error of a critic, clipped to stay near its old values (PPO); averaged over tokens.

    `weights` are the tokens' shares, `token_weights(mask)` unless given.
    """
    _check_shapes(values, old_values=old_values, returns=returns, mask=mask, weights=weights)
    near = old_values + (values - old_values).clamp(-clip, clip)
    errors = torch.maximum((values - returns).square(), (near - returns).square())
    counts = mask.bool()
    clipped = (errors > (values - returns).square()).float()
    value = 0.5 * (_zero_padding(errors, counts) * (token_weights(mask) if weights is None else weights)).sum()
    return Loss(value, {"value/clipped": _mean(clipped, counts), "value/mean": _mean(values, counts)})


def pad_advantages(estimates: Sequence[Sequence[float] | float | None], mask: Tensor) -> tuple[Tensor, Tensor]:
    """Advantages and mask as (B, T) tensors: rows of samples that were not scored (None) count nowhere.

    A number is the advantage of all tokens of its sample. Responses begin at the left of the rows of `mask`; a row may
    be longer than its response.
    """
    if len(estimates) != len(mask):
        raise InvalidAdvantage(f"advantages of {len(estimates)} samples for a mask of {len(mask)} rows")
    width = mask.shape[1]
    rows = [_row(index, estimate, width) for index, estimate in enumerate(estimates)]
    advantages = torch.tensor(rows, dtype=torch.float32, device=mask.device).reshape(mask.shape)
    scored = torch.tensor([estimate is not None for estimate in estimates], device=mask.device)
    return advantages, mask * scored[:, None]


def kl_divergence(logprobs: Tensor, reference: Tensor, estimator: KLEstimator = "k3") -> Tensor:
    """KL(policy ‖ reference) per token, estimated from the tokens drawn (joschu.net/blog/kl-approx.html).

    With d = log π − log π_ref: k1 = d, unbiased; k2 = d²/2, whose gradient is the right one in a loss; k3 = e^(−d) − 1
    + d, unbiased and never negative.
    """
    check_choice("KL estimator", estimator, KL_ESTIMATORS)
    return KL_ESTIMATORS[estimator](logprobs - reference)


KL_ESTIMATORS: dict[str, Callable[[Tensor], Tensor]] = {
    "k1": lambda d: d,
    "k2": lambda d: d.square() / 2,
    "k3": lambda d: torch.expm1(-d) + d,
}


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


def _row(index: int, estimate: Sequence[float] | float | None, width: int) -> Sequence[float]:
    if estimate is None or isinstance(estimate, int | float):
        return [estimate or 0.0] * width
    if len(estimate) > width:
        raise InvalidAdvantage(f"sample {index}: {len(estimate)} advantages for {width} tokens")
    return [*estimate, *[0.0] * (width - len(estimate))]


def _clip(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    near = ratio.clamp(1.0 - settings.clip_low, 1.0 + settings.clip_high)
    objective = torch.minimum(ratio * advantages, near * advantages)
    if settings.dual_clip is None:
        return objective
    bound = torch.maximum(objective, settings.dual_clip * advantages)  # arXiv:1912.09729
    return torch.where(advantages < 0, bound, objective)


def _weigh(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """CISPO: the ratio is clipped as a weight, so that no token loses its gradient (arXiv:2506.13585)."""
    return ratio.detach().clamp(1.0 - settings.clip_low, 1.0 + settings.clip_high) * advantages * logprobs


def _soft(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """SAPO: a sigmoid gate instead of a clip, steeper where the advantage is negative (arXiv:2511.20347)."""
    above, below = settings.temperatures
    temperature = torch.where(advantages > 0, above, below)
    return torch.sigmoid(temperature * (ratio - 1.0)) * (4.0 / temperature) * advantages


def _keep_ratio(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """Return the ratio unchanged."""
    return ratio * advantages


def _plain(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """REINFORCE: on the policy's own samples only."""
    return advantages * logprobs


def _limit_log_ratio(log_ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """GMPO clips each token's ratio before the geometric mean over the sequence is taken (arXiv:2507.20673)."""
    if settings.token_clip is None:
        return log_ratio
    sign = torch.where(advantages < 0, -1.0, 1.0)
    return sign * (sign * log_ratio).clamp(max=settings.token_clip)


def _per_token(log_ratio: Tensor, mask: Tensor) -> Tensor:
    return log_ratio


def _per_sequence(log_ratio: Tensor, mask: Tensor) -> Tensor:
    """The geometric mean over the sequence (GSPO, arXiv:2507.18071), in the form that leaves each token its own
    gradient: the same for one advantage per sample, and still right for one per token."""
    mean = (log_ratio * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    return mean.detach() + log_ratio - log_ratio.detach()


def _geometric(log_ratio: Tensor, mask: Tensor) -> Tensor:
    """The geometric mean over the sequence itself, whose gradient is shared by all its tokens."""
    mean = (log_ratio * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    return mean.expand_as(log_ratio)


def _average_tokens(mask: Tensor, settings: LossSettings) -> Tensor:
    """Every token alike, so that long responses weigh more (DAPO, arXiv:2503.14476)."""
    return mask / mask.sum().clamp(min=1.0)


def _average_sequences(mask: Tensor, settings: LossSettings) -> Tensor:
    """The mean over sequences, each with equal weight, independent of its length (GRPO, arXiv:2402.03300)."""
    lengths = mask.sum(1, keepdim=True)
    return mask / lengths.clamp(min=1.0) / (lengths > 0).sum().clamp(min=1)


def _average_constant(mask: Tensor, settings: LossSettings) -> Tensor:
    """By a number that does not depend on the lengths drawn (Dr. GRPO, arXiv:2503.20783)."""
    samples = (mask.sum(1) > 0).sum().clamp(min=1)
    return mask / (samples * (settings.max_tokens or mask.shape[1]))


_SURROGATES: dict[str, Callable[[Tensor, Tensor, Tensor, LossSettings], Tensor]] = {
    "clipped": _clip,
    "weighted": _weigh,
    "soft": _soft,
    "unclipped": _keep_ratio,
    "plain": _plain,
}
_RATIOS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "token": _per_token,
    "sequence": _per_sequence,
    "geometric": _geometric,
}
_AVERAGES: dict[str, Callable[[Tensor, LossSettings], Tensor]] = {
    "token": _average_tokens,
    "sequence": _average_sequences,
    "constant": _average_constant,
}


def _ratio_stats(
    ratio: Tensor, log_ratio: Tensor, advantages: Tensor, counts: Tensor, settings: LossSettings
) -> dict[str, float]:
    """Statistics of the ratio to the sampling policy, and how often it was clipped."""
    ratio, log_ratio = ratio.detach(), log_ratio.detach()
    low = (ratio < 1.0 - settings.clip_low) & (advantages < 0)
    high = (ratio > 1.0 + settings.clip_high) & (advantages > 0)
    return {
        "ratio/mean": _mean(ratio, counts),
        "ratio/max": _max(ratio, counts),
        "clip/low": _mean(low.float(), counts),
        "clip/high": _mean(high.float(), counts),
        "kl_old": _mean(kl_divergence(log_ratio, torch.zeros_like(log_ratio)), counts),
        "tokens": float(counts.sum()),
    }


def _zero_padding(values: Tensor, counts: Tensor) -> Tensor:
    return values.masked_fill(~counts, 0.0)


def _mean(values: Tensor, counts: Tensor) -> float:
    kept = values.detach()[counts]
    return float(kept.mean()) if len(kept) else 0.0


def _max(values: Tensor, counts: Tensor) -> float:
    kept = values.detach()[counts]
    return float(kept.max()) if len(kept) else 0.0


def _check_shapes(logprobs: Tensor, **others: Tensor | None) -> None:
    for name, tensor in others.items():
        if tensor is not None and tensor.shape != logprobs.shape:
            raise InvalidAdvantage(f"{name} has shape {tuple(tensor.shape)}, log-probs have {tuple(logprobs.shape)}")
