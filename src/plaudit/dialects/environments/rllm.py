"""rLLM rewards: functions and objects of `(task_info, action)`; they return a number, or an object with a `reward`.

`task_info` is the row of the data, with the truth under its usual names; `action` is the text of the response.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.columns import FOREIGN_NAMES
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters, parameters, required_names
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "RLLMReward"]

_ARGUMENTS = {"task_info", "action"}
_TRUTHS = ("ground_truth", *(name for name in FOREIGN_NAMES["ground_truth"] if "." not in name))


class RLLMReward(ForeignReward):
    """A function or object of the task's row and the response."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        truths = {} if trajectory.ground_truth is None else dict.fromkeys(_TRUTHS, trajectory.ground_truth)
        texts = dict.fromkeys(("question", "problem", "prompt"), trajectory.prompt_text)
        own = {**trajectory.columns, **trajectory.metadata}
        row = {**truths, **texts, **({"data_source": trajectory.task} if trajectory.task else {}), **own}
        returned = self.ask(task_info=row, action=trajectory.response)
        return _await(returned) if inspect.isawaitable(returned) else _read(returned)


async def _await(returned: Any) -> Any:
    return _read(await returned)


def _read(returned: Any) -> Any:
    """A number as it is; of an object the reward, and its metadata as ours."""
    if not hasattr(returned, "reward") or isinstance(returned, RewardOutput):
        return returned
    metadata = getattr(returned, "metadata", None)
    found = dict(metadata) if isinstance(metadata, Mapping) else {}
    if getattr(returned, "is_correct", None) is not None:
        found["is_correct"] = bool(returned.is_correct)
    return RewardOutput(returned.reward, metadata=found)


@dataclass
class Output:
    """What its rewards return."""

    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None


def _recognises(candidate: Any) -> bool:
    is_class = isinstance(candidate, type)
    asked = method_parameters(candidate, "__call__") if is_class else parameters(candidate)
    return set(asked) >= _ARGUMENTS and required_names(asked) <= _ARGUMENTS


SYSTEM = System(
    name="rllm",
    title="rLLM",
    distribution="rllm",
    shape="function or object of `(task_info, action)`; `task_info` is the row",
    dialects=(Dialect("rllm", "rLLM function", frozenset({"rllm"}), RLLMReward, _recognises),),
    stand_ins={"rllm": {"rllm": {}, "rllm.rewards.reward_types": {"RewardOutput": Output}}},
)
