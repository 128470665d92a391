"""Which policy loss: its settings, and the published losses by name."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.learning.kl import KLEstimator
from plaudit.training.learning.off_policy import ImportanceLevel, ImportanceMode

__all__ = ["LOSSES", "Average", "LossSettings", "Ratio", "Surrogate", "loss_settings"]

Average: TypeAlias = Literal["token", "sequence", "constant"]
Ratio: TypeAlias = Literal["token", "sequence", "geometric"]
Surrogate: TypeAlias = Literal["clipped", "weighted", "soft", "unclipped", "plain"]
Covariance: TypeAlias = Literal["clip", "kl"]


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
    `covariance` leaves out ("clip") or holds back by `covariance_kl` ("kl") the tokens whose log-prob and advantage are
    high together: a share of all, between bounds for "clip".
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
    covariance: Covariance | None = None
    covariance_share: float = 2e-4
    covariance_bounds: tuple[float, float] = (1.0, 5.0)
    covariance_kl: float = 1.0

    def __post_init__(self) -> None:
        _one_of("surrogate", self.surrogate, get_args(Surrogate))
        _one_of("ratio", self.ratio, get_args(Ratio))
        _one_of("average", self.average, get_args(Average))
        _one_of("kl_estimator", self.kl_estimator, get_args(KLEstimator))
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


def loss_settings(name: str) -> LossSettings:
    """The published loss of that name, as in `LOSSES`."""
    _one_of("loss", name, LOSSES)
    return LOSSES[name]


def _one_of(what: str, name: str, table: Collection[str]) -> None:
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
    "clip_cov": LossSettings(average="token", covariance="clip"),
    "kl_cov": LossSettings(surrogate="unclipped", average="token", covariance="kl"),
}
"""The losses by the names of their papers, with the papers' clips (CISPO's from ScaleRL, arXiv:2510.13786)."""
