"""Reward functions for reinforcement learning of language models: write once, test, score, train.

`load` and `score` are imported when first used, so that `import plaudit` stays light.
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


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'plaudit' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
