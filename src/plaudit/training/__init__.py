"""Train with a reward: prompts are sampled, responses are scored, and the policy learns from the advantages.

Names are imported when they are first used: `plaudit.training.GRPOAdvantage` needs no torch, the samplers do.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plaudit.errors import require

if TYPE_CHECKING:
    from plaudit.training.config.reading import load_config
    from plaudit.training.config.schema import RunConfig
    from plaudit.training.engines import train
    from plaudit.training.learning.advantages import GRPOAdvantage, RLOOAdvantage
    from plaudit.training.learning.losses import policy_loss
    from plaudit.training.model.policy import Policy
    from plaudit.training.model.tiny import tiny_policy
    from plaudit.training.outcome import Outcome
    from plaudit.training.sampling.in_process import TransformersSampler
    from plaudit.training.sampling.sampler import SamplingSettings
    from plaudit.training.tasks import find_task

__all__ = [
    "GRPOAdvantage",
    "Outcome",
    "Policy",
    "RLOOAdvantage",
    "RunConfig",
    "SamplingSettings",
    "TransformersSampler",
    "find_task",
    "load_config",
    "policy_loss",
    "tiny_policy",
    "train",
]

_LIGHT = {
    "GRPOAdvantage": "learning.advantages",
    "Outcome": "outcome",
    "RLOOAdvantage": "learning.advantages",
    "RunConfig": "config.schema",
    "SamplingSettings": "sampling.sampler",
    "find_task": "tasks",
    "load_config": "config.reading",
    "train": "engines",
}
_HEAVY = {
    "Policy": "model.policy",
    "TransformersSampler": "sampling.in_process",
    "policy_loss": "learning.losses",
    "tiny_policy": "model.tiny",
}


def __getattr__(name: str) -> Any:
    module = _LIGHT.get(name) or _HEAVY.get(name)
    if module is None:
        raise AttributeError(f"module 'plaudit.training' has no attribute {name!r}")
    if name in _HEAVY:
        for package in ("torch", "transformers"):
            require(package, extra="train", purpose="training")
    return getattr(importlib.import_module(f"plaudit.training.{module}"), name)
