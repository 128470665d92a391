"""Build the parts of an update from a config, and check that its settings can learn."""

import dataclasses

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.baseline import Advantage, BaselineAdvantage
from plaudit.training.advantages.estimators import advantage
from plaudit.training.config.learning_keys import LossSettings
from plaudit.training.config.schema import RunConfig
from plaudit.training.learning.optimizer import EntropyController, KLController
from plaudit.training.learning.update_batch import Pieces

__all__ = ["build_advantage", "build_entropy_controller", "build_kl_controller", "build_pieces", "check_learning"]


OF_ESTIMATORS = {"lam": "gae_lambda", "scale": "advantage_scale", "k": "pass_k", "weights": "component_weights"}
"""Fields of single estimators, and the keys of `training.` that set them."""


def check_learning(config: RunConfig) -> None:
    """Raise InvalidSettings for an estimator or a loss that cannot be built or cannot learn; nothing is loaded."""
    estimator = build_advantage(config)
    _check_estimator(config, estimator)
    _check_kl(config)
    _check_off_policy(config)
    training = config.training
    if training.max_tokens_per_piece is not None and training.gradient_accumulation > 1:
        raise InvalidSettings(
            "training.max_tokens_per_piece and training.gradient_accumulation both say how a batch is cut; set one"
        )


def build_advantage(config: RunConfig) -> Advantage:
    """The advantage estimator that the config names, with its settings."""
    estimator = advantage(config.advantage, gamma=config.training.gamma)
    wanted = {name: getattr(config.training, key) for name, key in OF_ESTIMATORS.items()}
    chosen = {name: value for name, value in wanted.items() if value not in (None, {})}
    known = {field.name for field in dataclasses.fields(estimator)}  # type: ignore[arg-type]
    for name in chosen.keys() - known:
        raise InvalidSettings(f"training.{OF_ESTIMATORS[name]} is not for advantage={config.advantage}; leave it out")
    return dataclasses.replace(estimator, **chosen)  # type: ignore[type-var]


def build_kl_controller(config: RunConfig) -> KLController:
    """What says the weight of the KL, in the loss or in the reward."""
    return KLController(config.loss.kl_beta, config.loss.kl_target, config.loss.kl_horizon)


def build_entropy_controller(config: RunConfig) -> EntropyController:
    """What says the weight of the entropy bonus."""
    return EntropyController(config.loss.entropy_bonus, config.loss.entropy_target, config.loss.entropy_step)


def build_pieces(config: RunConfig) -> Pieces:
    """In which pieces a batch is computed."""
    return Pieces(config.training.gradient_accumulation, config.training.max_tokens_per_piece)


def _check_estimator(config: RunConfig, estimator: Advantage) -> None:
    size = config.sampling.samples_per_prompt
    if isinstance(estimator, BaselineAdvantage) and estimator.compares and size == 1:
        raise InvalidSettings(
            f"advantage={config.advantage} compares responses to one prompt, and sampling.samples_per_prompt=1 draws "
            "one; sample several, or take reinforce, remax or gae"
        )
    k = getattr(estimator, "k", 1)
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
    usual = LossSettings()
    for name in ("max_importance", "importance_level", "importance_mode"):
        if getattr(config.loss, name) != getattr(usual, name):
            raise InvalidSettings(
                f"loss.{name} corrects for samples of older weights, and without training.async_train there are none"
            )
