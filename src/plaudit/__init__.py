"""Reward functions for reinforcement learning of language models: write once, test, score, train.

`load`, `score` and the packages within (`plaudit.checks`, `plaudit.rewards`, …) are imported when first used, so that
`import plaudit` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plaudit.contract.function import CompositeReward, FunctionReward, RewardFunction, reward
from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Step, Tokens, Trajectory
from plaudit.version import __version__

if TYPE_CHECKING:
    from plaudit.engine import score
    from plaudit.loading import load

__all__ = [
    "CompositeReward",
    "FunctionReward",
    "RewardFunction",
    "RewardOutput",
    "Status",
    "Step",
    "Tokens",
    "Trajectory",
    "__version__",
    "load",
    "reward",
    "score",
]

_LATER = {"load": "plaudit.loading", "score": "plaudit.engine"}
_PACKAGES = {
    "agents",
    "checks",
    "compose",
    "engine",
    "loading",
    "report",
    "rewards",
    "rollouts",
    "sandbox",
    "shaping",
    "testing",
    "training",
}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"plaudit.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'plaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
