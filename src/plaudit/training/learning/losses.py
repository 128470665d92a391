"""Policy losses as pure functions of log-probabilities: clipped surrogates, KL to a reference, importance weights.

Every tensor has one row per sample and one column per token (B, T), and `mask` is 1 on the tokens that count. A loss is
a weighted sum over tokens, and only `token_weights` knows how tokens are averaged: for gradient accumulation take the
weights of the whole batch and slice them, since the mean of means over parts is another number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from plaudit.errors import InvalidAdvantage, InvalidSettings, did_you_mean
from plaudit.training.learning.kl import KL_ESTIMATORS, KLEstimator, kl_divergence
from plaudit.training.learning.off_policy import ImportanceLevel, ImportanceMode, importance_weights, keep_on_policy

__all__ = [
    "LOSSES", "Anchors", "Loss", "LossSettings",
    "loss_settings", "pad_advantages", "policy_loss", "token_weights", "value_loss",
]  # fmt: skip

Average: TypeAlias = Literal["token", "sequence", "constant"]
Ratio: TypeAlias = Literal["token", "sequence", "geometric"]
Surrogate: TypeAlias = Literal["clipped", "weighted", "soft", "unclipped", "plain"]


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Which loss: `LOSSES` has the published ones by name.

    `surrogate`: "clipped" is PPO's minimum of clipped and unclipped ratio, "weighted" multiplies log-probs by the
    clipped ratio as a constant (CISPO), "soft" gates it by a sigmoid (SAPO), "unclipped" takes it as it is, "plain" has
    no ratio. `ratio` is taken per token, per sequence (GSPO), or as the sequence's geometric mean (GMPO).
    Ratios are clipped to [1 − clip_low, 1 + clip_high]; `dual_clip` bounds the ratio where the advantage is negative,
    `token_clip` each token's log-ratio before a mean over the sequence (GMPO).
    `average`: over all tokens alike, over each sequence first, or by the constant B × `max_tokens`, where None stands
    for the width of the batch. `kl_beta` weighs the KL to the reference in the loss.
    `max_importance` bounds the weights that correct for a sampler which differs from the policy, by token or sequence;
    `off_policy_limit` leaves bad responses out that the policy has moved away from. `kl_correction` weighs the KL by
    the ratio. `entropy_bonus` rewards being undecided. `temperatures` are those of "soft", for good and bad samples.
    """

    surrogate: Surrogate = "clipped"
    ratio: Ratio = "token"
    average: Average = "token"
    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float | None = None
    token_clip: float | None = None
    max_tokens: int | None = None
    kl_beta: float = 0.0
    kl_estimator: KLEstimator = "k3"
    max_importance: float = 2.0
    importance_level: ImportanceLevel = "token"
    importance_mode: ImportanceMode = "truncate"
    off_policy_limit: float | None = None
    kl_correction: bool = False
    entropy_bonus: float = 0.0
    temperatures: tuple[float, float] = (1.0, 1.05)

    def __post_init__(self) -> None:
        _one_of("surrogate", self.surrogate, _SURROGATES)
        _one_of("ratio", self.ratio, _RATIOS)
        _one_of("average", self.average, _AVERAGES)
        _one_of("kl_estimator", self.kl_estimator, KL_ESTIMATORS)
        if not (0.0 <= self.clip_low <= 1.0 and self.clip_high >= 0.0):
            raise InvalidSettings(
                f"need 0 <= clip_low <= 1 and clip_high >= 0, got clip_low={self.clip_low}, clip_high={self.clip_high}"
            )
        if self.dual_clip is not None and self.dual_clip <= 1.0 + self.clip_high:
            raise InvalidSettings(f"dual_clip must exceed 1 + clip_high = {1 + self.clip_high}, got {self.dual_clip}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidSettings(f"max_tokens must be at least 1, got {self.max_tokens}")
        if self.kl_beta and self.kl_estimator == "k1":
            raise InvalidSettings(
                "kl_estimator=k1 has no useful gradient in a loss: its expectation is the same whatever the reference; "
                "take k2 or k3, or put the KL into the reward (loss.kl_in=reward)"
            )
        if self.kl_beta < 0.0 or self.max_importance <= 0.0:
            raise InvalidSettings(
                f"need kl_beta >= 0 and max_importance > 0, got {self.kl_beta} and {self.max_importance}"
            )


@dataclass(frozen=True, slots=True)
class Anchors:
    """Other log-probs of the same tokens: those of the `reference` model, and those the `sampler` drew them with.

    The sampler's differ from `old_logprobs` where it runs other code, other precision or older weights than the policy.
    """

    reference: Tensor | None = None
    sampler: Tensor | None = None
    entropy: Tensor | None = None
    """How undecided the policy is at each token, with its gradient, where a bonus for it is in the loss."""


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
    anchors: Anchors | None = None,
    weights: Tensor | None = None,
) -> Loss:
    """The loss whose gradient improves the policy: PPO's surrogate (arXiv:1707.06347) as `settings` says.

    `weights` are the tokens' shares in the loss, `token_weights(mask, settings)` unless given.
    """
    settings, anchors = settings or LossSettings(), anchors or Anchors()
    _check_shapes(logprobs, old_logprobs=old_logprobs, advantages=advantages, mask=mask, weights=weights,
                  reference=anchors.reference, sampler=anchors.sampler)  # fmt: skip
    weights = token_weights(mask, settings) if weights is None else weights
    counts = mask.bool()
    # What stands on padding may be anything, even NaN, and must not reach a gradient.
    logprobs, old_logprobs, advantages = (
        _zero_padding(given, counts) for given in (logprobs, old_logprobs, advantages)
    )
    log_ratio = logprobs - old_logprobs
    ratio = _RATIOS[settings.ratio](_limit_log_ratio(log_ratio, advantages, settings), mask).exp()
    objective = _SURROGATES[settings.surrogate](logprobs, ratio, advantages, settings)
    stats = _ratio_stats(ratio, log_ratio, advantages, counts, settings)
    if anchors.sampler is not None:
        sampler = _zero_padding(anchors.sampler, counts)
        importance = importance_weights(
            old_logprobs,
            sampler,
            cap=settings.max_importance,
            mask=mask,
            level=settings.importance_level,
            mode=settings.importance_mode,
        )
        objective = objective * importance
        stats |= {"importance/mean": _mean(importance, counts), "importance/max": _max(importance, counts)}
        if settings.off_policy_limit is not None:
            objective = objective * keep_on_policy(logprobs, sampler, advantages, mask, settings.off_policy_limit)
    value = -(objective * weights).sum()
    if anchors.reference is not None:
        kl = kl_divergence(logprobs, _zero_padding(anchors.reference, counts), settings.kl_estimator)
        if settings.kl_correction:  # unbiased where the samples are not the policy's own (arXiv:2512.02556)
            kl = kl * log_ratio.exp()
        value = value + settings.kl_beta * (kl * weights).sum()
        stats["kl"] = _mean(kl, counts)
    if anchors.entropy is not None:
        entropy = _zero_padding(anchors.entropy, counts)
        value = value - settings.entropy_bonus * (entropy * weights).sum()
        stats["entropy/exact"] = _mean(entropy, counts)
    return Loss(value, stats)


def token_weights(mask: Tensor, settings: LossSettings | None = None) -> Tensor:
    """The share of every token in the loss. Samples without a token that counts take no part in any average."""
    settings = settings or LossSettings()
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

    A number stands for all tokens of its sample. Responses stand at the left of the rows of `mask`; a row may be longer
    than its response.
    """
    if len(estimates) != len(mask):
        raise InvalidAdvantage(f"advantages of {len(estimates)} samples for a mask of {len(mask)} rows")
    width = mask.shape[1]
    rows = [_row(place, estimate, width) for place, estimate in enumerate(estimates)]
    advantages = torch.tensor(rows, dtype=torch.float32, device=mask.device).reshape(mask.shape)
    scored = torch.tensor([estimate is not None for estimate in estimates], device=mask.device)
    return advantages, mask * scored[:, None]


def _row(place: int, estimate: Sequence[float] | float | None, width: int) -> Sequence[float]:
    if estimate is None or isinstance(estimate, int | float):
        return [estimate or 0.0] * width
    if len(estimate) > width:
        raise InvalidAdvantage(f"sample {place}: {len(estimate)} advantages for {width} tokens")
    return [*estimate, *[0.0] * (width - len(estimate))]


def loss_settings(name: str) -> LossSettings:
    """The published loss of that name, as in `LOSSES`."""
    _one_of("loss", name, LOSSES)
    return LOSSES[name]


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


def _unclipped(logprobs: Tensor, ratio: Tensor, advantages: Tensor, settings: LossSettings) -> Tensor:
    """The ratio as it is."""
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
    """Every sample alike, whatever its length (GRPO, arXiv:2402.03300)."""
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
    "unclipped": _unclipped,
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
    """How far the policy has moved from the one that sampled, and how often the clip bit."""
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


def _one_of(what: str, name: str, table: Mapping[str, object]) -> None:
    if name not in table:
        raise InvalidSettings(f"no {what} {name!r}{did_you_mean(str(name), table)} (there is {', '.join(table)})")


LOSSES: dict[str, LossSettings] = {
    "grpo": LossSettings(average="sequence"),
    "dapo": LossSettings(average="token", clip_high=0.28),
    "dr_grpo": LossSettings(average="constant"),
    "gspo": LossSettings(ratio="sequence", average="sequence", clip_low=3e-4, clip_high=4e-4),
    "cispo": LossSettings(surrogate="weighted", average="token", clip_low=1.0, clip_high=4.0),
    "ppo": LossSettings(average="token", dual_clip=3.0),
    "gmpo": LossSettings(surrogate="unclipped", ratio="geometric", average="sequence", token_clip=0.4),
    "sapo": LossSettings(surrogate="soft", average="sequence"),
    "reinforce": LossSettings(surrogate="plain", average="token"),
}
"""The losses by the names of their papers, with the papers' clips (CISPO's from ScaleRL, arXiv:2510.13786)."""
