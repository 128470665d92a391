"""Reward functions for reinforcement learning of language models: write once, test, score, train."""

from plaudit.contract.function import (
    CompositeReward,
    FunctionReward,
    RewardFunction,
    reward,
)
from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Step, Tokens, Trajectory

__version__ = "0.1.0"

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
    "reward",
]
