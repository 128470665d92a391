"""SkyRL environments: `env.step(action)` gives a reward with the next observation.

The environment class is instantiated for each sample and given the response as its one action.
"""

from functools import partial
from typing import Any

from plaudit.contract.binding import Convention, own_values
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM"]


def skyrl_reward(foreign: Any) -> ForeignReward:
    """A reward of an environment class of one turn."""
    return ForeignReward(foreign, _CONVENTION, _read, call=partial(_play, foreign))


def _play(environment: Any, trajectory: Trajectory) -> Any:
    row = own_values(trajectory)
    extras = {"reward_spec": {"ground_truth": trajectory.ground_truth}, "extra_info": row, **row}
    made = environment(env_config={}, extras=extras)
    made.init(trajectory.messages[:-1])
    return made.step(trajectory.response)


def _read(step: Any) -> RewardOutput:
    return RewardOutput(step["reward"], metadata=dict(step.get("metadata") or {}))


_CONVENTION = Convention(names={"trajectory": lambda trajectory: trajectory}, fills_columns=False)


def _matches_if_imported(candidate: Any) -> bool:
    return isinstance(candidate, type) and list(method_parameters(candidate, "step"))[:1] == ["action"]


SYSTEM = System(
    name="skyrl",
    title="SkyRL",
    distribution="skyrl-gym",
    shape="environment class with `init(prompt)` and `step(action)`, of one turn",
    dialects=(Dialect("SkyRL environment", skyrl_reward, matches_if_imported=_matches_if_imported, of_class=True),),
    stand_ins={"skyrl_gym": Later("plaudit.dialects.packages.skyrl_envs", "ANSWERS")},
)
