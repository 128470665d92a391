"""SkyRL environments: `env.step(action)` gives a reward with what comes next; a row makes an environment.

An exported reward is what SkyRL calls for every row: it makes an environment of one turn that is done with its answer.
Imported, an environment class is made anew for each sample and given the response as its one action.
"""

from collections.abc import Mapping
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import SampleExport
from plaudit.dialects.standins import Later
from plaudit.errors import require
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "SkyRLExport", "SkyRLReward"]


class SkyRLReward(ForeignReward):
    """An environment class of one turn."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        row = {**trajectory.columns, **trajectory.metadata}
        extras = {"reward_spec": {"ground_truth": trajectory.ground_truth}, "extra_info": row, **row}
        made = self.ask(env_config={}, extras=extras)
        made.init(trajectory.messages[:-1])
        step = made.step(trajectory.response)
        return RewardOutput(step["reward"], metadata=dict(step.get("metadata") or {}))


class SkyRLExport(SampleExport):
    """Makes environments that score with the reward; their metrics are its components and status."""

    def __call__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> Any:
        """The environment of one row."""
        text_env: Any = require("skyrl_gym.envs.base_text_env", package="skyrl-gym", purpose="an environment for SkyRL")
        exported, row = self, dict(extras or {})

        class Environment(text_env.BaseTextEnv):  # type: ignore[misc]  # SkyRL's base, known only where it is installed
            prompt: Any = ""
            metrics: Mapping[str, float] = {}

            def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
                self.prompt = prompt
                return prompt, {}

            def step(self, action: str) -> Any:
                rated = exported.rate(_trajectory(self.prompt, action, row))
                self.metrics = exported.details(rated.output)
                return text_env.BaseTextEnvStepOutput(observations=[], reward=rated.number, done=True, metadata={})

            def get_metrics(self) -> dict[str, float]:
                return {name: value for name, value in self.metrics.items() if value == value}

        return Environment()


def _trajectory(prompt: Any, action: str, row: Mapping[str, Any]) -> Trajectory:
    spec = row.get("reward_spec") or row.get("reward_model") or {}
    own = {name: value for name, value in row.items() if name not in ("reward_spec", "reward_model")}
    return trajectory_of(prompt, action, {"ground_truth": spec.get("ground_truth"), **own})


def _resembles(candidate: Any) -> bool:
    return isinstance(candidate, type) and list(method_parameters(candidate, "step"))[:1] == ["action"]


_SETUP = """

def make_env(env_config=None, extras=None):
    return reward(env_config, extras)


register(id="{name}", entry_point=make_env)
"""
SYSTEM = System(
    name="skyrl",
    title="SkyRL",
    distribution="skyrl-gym",
    shape="environment class with `init(prompt)` and `step(action)`, of one turn",
    dialects=(
        Dialect(
            "skyrl", "SkyRL environment", frozenset({"skyrl_gym"}), SkyRLReward, resembles=_resembles, of_class=True
        ),
    ),
    exports=(
        Export(
            SkyRLExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage='import {module}    # registers the environment {name}\n\nrows = [{{"env_class": "{name}", …}}]',
            grouping=Grouping.NEVER,
            imports="from skyrl_gym import register",
            setup=_SETUP,
        ),
    ),
    stand_ins={"skyrl_gym": Later("plaudit.dialects.packages.skyrl_envs", "ANSWERS")},
)
