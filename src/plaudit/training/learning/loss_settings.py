"""Which policy loss: its settings, and the published losses by name."""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.training.advantages.baseline import Advantage, BaselineAdvantage
from plaudit.training.advantages.estimators import advantage
from plaudit.training.config.learning_keys import LossConfig
from plaudit.training.config.schema import RunConfig
from plaudit.training.learning.optimizer import EntropyController, KLController
from plaudit.training.learning.update_batch import Pieces

__all__ = [
    "Average", "LOSSES", "LossSettings", "Ratio", "Surrogate", "build_advantage", "build_entropy_controller",
    "build_kl_controller", "build_loss", "build_pieces", "check_learning", "loss_settings",
]  # fmt: skip


KLEstimator: TypeAlias = Literal["k1", "k2", "k3"]
ImportanceLevel: TypeAlias = Literal["token", "sequence"]
ImportanceMode: TypeAlias = Literal["truncate", "reject"]
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


OF_ESTIMATORS = {"lam": "gae_lambda", "scale": "advantage_scale", "k": "pass_k", "weights": "component_weights"}
"""Fields of single estimators, and the keys of `training.` that set them."""
OF_LOSSES = (
    "clip_low", "clip_high", "dual_clip", "average", "ratio", "surrogate",
    "covariance_share", "covariance_bounds", "covariance_kl",
)  # fmt: skip
"""Keys of `loss.` that change what its preset says."""
CLIPPED = {"clip_low": ("clipped", "weighted"), "clip_high": ("clipped", "weighted"), "dual_clip": ("clipped",)}
"""Which surrogates have the clips."""


def check_learning(config: RunConfig) -> None:
    """Raise InvalidSettings for an estimator or a loss that cannot be built or cannot learn; nothing is loaded."""
    found = build_advantage(config)
    build_loss(config, max_new_tokens=1)
    _check_estimator(config, found)
    _check_kl(config)
    _check_off_policy(config)
    training = config.training
    if training.max_tokens_per_piece is not None and training.gradient_accumulation > 1:
        raise InvalidSettings(
            "training.max_tokens_per_piece and training.gradient_accumulation both say how a batch is cut; set one"
        )


def build_advantage(config: RunConfig) -> Advantage:
    """The advantage estimator that the config names, with what the config says of it."""
    found = advantage(config.advantage, gamma=config.training.gamma)
    wanted = {name: getattr(config.training, key) for name, key in OF_ESTIMATORS.items()}
    given = {name: value for name, value in wanted.items() if value not in (None, {})}
    known = {field.name for field in dataclasses.fields(found)}  # type: ignore[arg-type]
    for name in given.keys() - known:
        raise InvalidSettings(f"training.{OF_ESTIMATORS[name]} is not for advantage={config.advantage}; leave it out")
    return dataclasses.replace(found, **given)  # type: ignore[type-var]


def build_loss(config: RunConfig, max_new_tokens: int) -> LossSettings:
    """The loss preset that the config names, with what the config says of it."""
    loss = config.loss
    changes = {name: getattr(loss, name) for name in OF_LOSSES if getattr(loss, name) is not None}
    settings = dataclasses.replace(
        loss_settings(loss.name),
        **changes,
        max_tokens=max_new_tokens,
        kl_beta=0.0 if loss.kl_in == "reward" else loss.kl_beta,
        kl_estimator=loss.kl_estimator,
        max_importance=loss.max_importance,
        importance_level=loss.importance_level,
        importance_mode=loss.importance_mode,
        off_policy_limit=loss.off_policy_limit,
        kl_correction=loss.kl_correction,
        entropy_bonus=loss.entropy_bonus,
    )
    for name in changes:
        if settings.surrogate not in CLIPPED.get(name, (settings.surrogate,)):
            raise InvalidSettings(f"loss.{name} is not for loss.name={loss.name}, which does not clip so; leave it out")
        if name.startswith("covariance") and settings.covariance is None:
            raise InvalidSettings(f"loss.{name} is for loss.name=clip_cov and kl_cov, and the loss is {loss.name}")
    return settings


def build_kl_controller(config: RunConfig) -> KLController:
    """What says the weight of the KL, in the loss or in the reward."""
    return KLController(config.loss.kl_beta, config.loss.kl_target, config.loss.kl_horizon)


def build_entropy_controller(config: RunConfig) -> EntropyController:
    """What says the weight of the entropy bonus."""
    return EntropyController(config.loss.entropy_bonus, config.loss.entropy_target, config.loss.entropy_step)


def build_pieces(config: RunConfig) -> Pieces:
    """In which pieces a batch is computed."""
    return Pieces(config.training.gradient_accumulation, config.training.max_tokens_per_piece)


def _check_estimator(config: RunConfig, found: Advantage) -> None:
    size = config.sampling.samples_per_prompt
    if isinstance(found, BaselineAdvantage) and found.compares and size == 1:
        raise InvalidSettings(
            f"advantage={config.advantage} compares responses to one prompt, and sampling.samples_per_prompt=1 draws "
            "one; sample several, or take reinforce, remax or gae"
        )
    k = getattr(found, "k", 1)
    if k > size:
        raise InvalidSettings(
            f"advantage={config.advantage} with training.pass_k={k} needs at least as many responses to a prompt; "
            f"sampling.samples_per_prompt is {size}"
        )


def _check_kl(config: RunConfig) -> None:
    loss = config.loss
    if loss.kl_beta:
        if loss.reference_every and config.model.lora_rank:
            raise InvalidSettings(
                "loss.reference_every: with model.lora_rank the reference is the model without its adapters, which "
                "cannot follow them; train all weights, or leave it out"
            )
        return
    for name in ("kl_target", "reference_every"):
        if getattr(loss, name):
            raise InvalidSettings(f"loss.{name} needs a KL: set loss.kl_beta, the weight that it begins with")


def _check_off_policy(config: RunConfig) -> None:
    if config.training.async_train or config.engine != "local":
        return
    usual = LossConfig()
    for name in ("max_importance", "importance_level", "importance_mode"):
        if getattr(config.loss, name) != getattr(usual, name):
            raise InvalidSettings(
                f"loss.{name} corrects for samples of older weights, and without training.async_train there are none"
            )
