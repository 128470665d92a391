"""Flux rewards: classes with `compute_reward(trajectory)`.

A class that subclasses `flux.rewards.RewardFunction` through our stand-in is a plaudit reward already; only classes of
an installed Flux, or ones that merely look the same, are wrapped and their outputs converted.
"""

import inspect
from collections.abc import Awaitable
from typing import Any

from plaudit.contract.combination import CompositeReward
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, method_parameters, name_of, required
from plaudit.rewards import FormatReward, KeywordReward, LengthReward, RepetitionPenalty, StructuredOutputReward
from plaudit.trajectory import Trajectory

__all__ = ["FLUX_CLASS", "STAND_INS", "FluxReward"]


class FluxReward(RewardFunction):
    """A foreign object with `compute_reward(trajectory)`; its output objects become ours."""

    def __init__(self, foreign: Any) -> None:
        self.foreign = foreign
        self.name = name_of(foreign)

    def compute_reward(self, trajectory: Trajectory) -> Any:
        returned = self.foreign.compute_reward(trajectory)
        return _convert_awaited(returned) if inspect.isawaitable(returned) else _convert(returned)

    def __repr__(self) -> str:
        return f"{self.name}()"


async def _convert_awaited(returned: Awaitable[Any]) -> Any:
    return _convert(await returned)


def _convert(returned: Any) -> Any:
    """An object with a `reward` as our output; numbers and our own outputs as they are."""
    if isinstance(returned, RewardOutput) or not hasattr(returned, "reward"):
        return returned
    token_rewards = getattr(returned, "token_rewards", None)
    return RewardOutput(
        returned.reward,
        token_rewards=None if token_rewards is None else list(token_rewards),
        metadata=dict(getattr(returned, "metadata", None) or {}),
    )


def _recognises(candidate: Any) -> bool:
    asked = method_parameters(candidate, "compute_reward")
    return bool(asked) and len(required(asked)) <= 1


def _owns(reward: RewardFunction, imports: frozenset[str]) -> bool:
    return isinstance(reward, FluxReward) or ("flux" in imports and not isinstance(reward, FunctionReward))


FLUX_CLASS = Dialect("Flux class", _recognises, FluxReward, _owns)

STAND_INS: dict[str, dict[str, object]] = {
    "flux.rewards": {
        "CompositeReward": CompositeReward,
        "FormatReward": FormatReward,
        "FunctionReward": FunctionReward,
        "KeywordReward": KeywordReward,
        "LengthReward": LengthReward,
        "RepetitionPenalty": RepetitionPenalty,
        "RewardFunction": RewardFunction,
        "RewardOutput": RewardOutput,
        "StructuredOutputReward": StructuredOutputReward,
    },
    "flux.core.trajectory": {"Trajectory": Trajectory},
}
