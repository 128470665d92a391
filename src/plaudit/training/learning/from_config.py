"""Build the parts of an update from a config, and check that its settings can learn."""

import dataclasses

from plaudit.errors import InvalidSettings
from plaudit.training.advantages.baseline import Advantage, BaselineAdvantage
from plaudit.training.advantages.estimators import advantage
from plaudit.training.config.learning_keys import LossSettings
from plaudit.training.config.schema import RunConfig

__all__ = ["build_advantage", "check_learning"]


OF_ESTIMATORS = {"lam": "gae_lambda", "scale": "advantage_scale", "k": "pass_k", "weights": "component_weights"}
"""Fields of single estimators, and the keys of `training.` that set them."""


def check_learning(config: RunConfig) -> None:
    """Raise InvalidSettings for an estimator or a loss that cannot be built or cannot learn; nothing is loaded."""
    estimator = build_advantage(config)
    _check_estimator(config, estimator)
    _check_off_policy(config)


def build_advantage(config: RunConfig) -> Advantage:
    """The advantage estimator that the config names, with its settings."""
    estimator = advantage(config.advantage, gamma=config.training.gamma)
    wanted = {name: getattr(config.training, key) for name, key in OF_ESTIMATORS.items()}
    chosen = {name: value for name, value in wanted.items() if value not in (None, {})}
    known = {field.name for field in dataclasses.fields(estimator)}  # type: ignore[arg-type]
    for name in chosen.keys() - known:
        raise InvalidSettings(f"training.{OF_ESTIMATORS[name]} is not for advantage={config.advantage}; leave it out")
    return dataclasses.replace(estimator, **chosen)  # type: ignore[type-var]


def _check_estimator(config: RunConfig, estimator: Advantage) -> None:
    size = config.sampling.samples_per_prompt
    if isinstance(estimator, BaselineAdvantage) and estimator.compares and size == 1:
        raise InvalidSettings(
            f"advantage={config.advantage} compares responses to one prompt, and sampling.samples_per_prompt=1 draws "
            "one; sample several, or take reinforce or gae"
        )
    k = getattr(estimator, "k", 1)
    if k > size:
        raise InvalidSettings(
            f"advantage={config.advantage} with training.pass_k={k} needs at least as many responses to a prompt; "
            f"sampling.samples_per_prompt is {size}"
        )


def _check_off_policy(config: RunConfig) -> None:
    if config.training.async_train or config.engine != "local":
        return
    usual = LossSettings()
    for name in ("max_importance", "importance_level", "importance_mode"):
        if getattr(config.loss, name) != getattr(usual, name):
            raise InvalidSettings(
                f"loss.{name} corrects for samples of older weights, and without training.async_train there are none"
            )
