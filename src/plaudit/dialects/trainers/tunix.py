"""Tunix rewards: functions of `(prompts, completions, **columns)` in a file that imports Tunix; all of it is text."""

from collections.abc import Callable
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.completions import is_completions_function, text_completions_reward
from plaudit.dialects.dialect import Dialect, System

__all__ = ["SYSTEM"]


def _register(name: str) -> Callable[[Any], Any]:
    """Register a function; plaudit finds it by its own name."""
    return lambda function: function


SYSTEM = System(
    name="tunix",
    title="Tunix",
    distribution="google-tunix",
    shape="function of `(prompts, completions, **columns)` in a file that imports Tunix",
    dialects=(Dialect("Tunix function", text_completions_reward, matches_if_imported=is_completions_function),),
    stand_ins={
        "tunix": {
            "tunix": {},
            "tunix.rl.agentic.rewards.reward": {"register": _register},
            "tunix.rl.agentic.rewards.reward_types": {"RewardOutput": RewardOutput},
        },
    },
)
