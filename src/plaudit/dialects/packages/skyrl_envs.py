"""SkyRL's base of environments: text in, text out, with turns and tools."""

from collections.abc import Sequence
from typing import Any, Generic, TypedDict, TypeVar

__all__ = ["ANSWERS", "BaseTextEnv"]

_Observation = TypeVar("_Observation")
_Action = TypeVar("_Action")


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
        """What an action leads to."""
        raise NotImplementedError

    def close(self) -> None:
        """Free what the environment holds."""

    def get_metrics(self) -> dict[str, Any]:
        """What else was measured in the episode."""
        return {}


class BaseTextEnvStepOutput(TypedDict):
    """What a step gives."""

    observations: list[dict[str, str]]
    reward: float
    done: bool
    metadata: dict[str, Any]


def register(*_: Any, **__: Any) -> None:
    """SkyRL's registry; here an environment is found by its own name."""


ANSWERS: dict[str, dict[str, object]] = {
    "skyrl_gym": {"Env": Env, "register": register},
    "skyrl_gym.envs": {"register": register},
    "skyrl_gym.envs.base_text_env": {
        "BaseTextEnv": BaseTextEnv,
        "BaseTextEnvStepOutput": BaseTextEnvStepOutput,
        "ConversationType": list[dict[str, str]],
        "MessageType": dict[str, str],
    },
}
