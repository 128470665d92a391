"""SkyRL environments: `env.step(action)` gives a reward with the next observation.

The environment class is instantiated for each sample and given the response as its one action.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar

from plaudit.contract.binding import Convention, own_values
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.signatures import method_parameters
from plaudit.dialects.stub_packages import StubTable
from plaudit.trajectory import Trajectory

_Observation = TypeVar("_Observation")
_Action = TypeVar("_Action")


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


class Env(Generic[_Observation, _Action]):
    """An environment of any observations and actions."""


class BaseTextEnv(Env[Any, str]):
    """An environment of messages; a subclass defines `step`."""

    def __init__(self) -> None:
        self.turns, self.max_turns = 0, 1
        self.init_tool_groups()

    def init_tool_groups(self, tool_groups: Sequence[Any] = ()) -> None:
        """Make the tools of these groups known."""
        self.tool_groups = list(tool_groups)
        self.tool_to_toolgroup: dict[str, Any] = {}
        for group in tool_groups:
            self.tool_to_toolgroup.update(group.get_tool_to_group_mapping())

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """The first prompt for the model, and metadata."""
        return prompt, {}

    def step(self, action: str) -> Any:
        """The result of an action."""
        raise NotImplementedError

    def close(self) -> None:
        """Free what the environment holds."""

    def get_metrics(self) -> dict[str, Any]:
        """Other metrics of the episode."""
        return {}


class BaseTextEnvStepOutput(TypedDict):
    """The result of a step."""

    observations: list[dict[str, str]]
    reward: float
    done: bool
    metadata: dict[str, Any]


def register(*_: Any, **__: Any) -> None:
    """SkyRL's registry; here an environment is found by its own name."""


_STUBS: StubTable = {
    "skyrl_gym": {"Env": Env, "register": register},
    "skyrl_gym.envs": {"register": register},
    "skyrl_gym.envs.base_text_env": {
        "BaseTextEnv": BaseTextEnv,
        "BaseTextEnvStepOutput": BaseTextEnvStepOutput,
        "ConversationType": list[dict[str, str]],
        "MessageType": dict[str, str],
    },
}
SYSTEM = System(
    "skyrl",
    "SkyRL",
    dialects=(Dialect("SkyRL environment", skyrl_reward, matches_if_imported=_matches_if_imported, of_class=True),),
    stubs={"skyrl_gym": _STUBS},
)
