"""Tunix rewards: functions of `(prompts, completions, **columns)` in a file that imports Tunix; all of it is text.

Tunix sums the rewards of several functions and counts NaN as nothing, so an exported reward gives the mean of the group
where a sample was not scored. In a file, every public function is a reward: the shim keeps its other names private.
"""

from collections.abc import Callable
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.completions import TextCompletionsExport, TextCompletionsReward, is_completions_function
from plaudit.dialects.dialect import Dialect, System
from plaudit.dialects.export import Export, OnUnscored

__all__ = ["SYSTEM"]


def _register(name: str) -> Callable[[Any], Any]:
    """Tunix's registry, which a file enters its functions in; here they are found by their own names."""
    return lambda function: function


_SETUP = """

def {name}(prompts, completions, **columns):
    return _reward(prompts, completions, **columns)
"""
SYSTEM = System(
    name="tunix",
    title="Tunix",
    distribution="google-tunix",
    shape="function of `(prompts, completions, **columns)` in a file that imports Tunix",
    dialects=(
        Dialect(
            "tunix", "Tunix function", frozenset({"tunix"}), TextCompletionsReward, resembles=is_completions_function
        ),
    ),
    exports=(
        Export(
            TextCompletionsExport,
            (OnUnscored.MEAN, OnUnscored.NAN, OnUnscored.RAISE),
            usage="python -m tunix.cli.grpo_main … reward_functions='[\"{file}\"]'",
            entry="_reward",
            setup=_SETUP,
        ),
    ),
    stand_ins={
        "tunix": {
            "tunix": {},
            "tunix.rl.agentic.rewards.reward": {"register": _register},
            "tunix.rl.agentic.rewards.reward_types": {"RewardOutput": RewardOutput},
        },
    },
)
