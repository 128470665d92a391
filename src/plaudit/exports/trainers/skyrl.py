"""SkyRL: for every row the trainer calls what makes an environment; it has one turn and is done with the answer."""

from collections.abc import Mapping
from typing import Any

from plaudit.errors import require
from plaudit.exports.convention import Export
from plaudit.exports.exported import Call, ExportedReward

__all__ = ["EXPORTS"]


class SkyRLExport(ExportedReward):
    """Makes environments that score with the reward; their metrics are its components and status."""

    def __call__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> Any:
        """The environment of one row."""
        text_env: Any = require("skyrl_gym.envs.base_text_env", package="skyrl-gym", purpose="an environment for SkyRL")
        score, row = super().__call__, dict(extras or {})

        class Environment(text_env.BaseTextEnv):  # type: ignore[misc]  # SkyRL's base, known only where it is installed
            prompt: Any = ""
            metrics: Mapping[str, float] = {}

            def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
                self.prompt = prompt
                return prompt, {}

            def step(self, action: str) -> Any:
                reward, self.metrics = score(self.prompt, action, row)
                return text_env.BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})

            def get_metrics(self) -> Mapping[str, float]:
                return self.metrics

        return Environment()


def step_call(reward: ExportedReward, prompt: Any, action: str, row: Mapping[str, Any]) -> Call:
    """The reward of an action, and its metrics."""
    spec = row.get("reward_spec") or row.get("reward_model") or {}
    own = {name: value for name, value in row.items() if name not in ("reward_spec", "reward_model")}
    output, value = yield reward.sample(prompt, action, own, ground_truth=spec.get("ground_truth"))
    return value, reward.details(output, same_keys=False)


_SETUP = """

def make_env(env_config=None, extras=None):
    return reward(env_config, extras)


register(id="{name}", entry_point=make_env)
"""
EXPORTS = (
    Export(
        "skyrl",
        step_call,
        'import {module}    # registers the environment {name}\n\nrows = [{{"env_class": "{name}", …}}]',
        build=SkyRLExport,
        imports="from skyrl_gym import register",
        setup=_SETUP,
    ),
)
