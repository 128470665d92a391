"""rLLM rewards: functions and objects of `(task_info, action)`; they return a number, or an object with a `reward`.

`task_info` is the row of the data, with the truth under its usual names; `action` is the text of the response.
"""

from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention, row_of
from plaudit.dialects.dialect import Dialect, ForeignReward, System, asks_for, read_object
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM"]


def _task_info(trajectory: Trajectory) -> dict[str, Any]:
    texts = dict.fromkeys(("question", "problem", "prompt"), trajectory.prompt_text)
    task = {"data_source": trajectory.task} if trajectory.task else {}
    return {**texts, **task, **row_of(trajectory)}


_CONVENTION = Convention({"task_info": _task_info, "action": attrgetter("response")}, fills_columns=False)


@dataclass
class Output:
    """What its rewards return."""

    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None


SYSTEM = System(
    name="rllm",
    title="rLLM",
    distribution="rllm",
    shape="function or object of `(task_info, action)`; `task_info` is the row",
    dialects=(
        Dialect(
            "rLLM function",
            partial(ForeignReward, convention=_CONVENTION, read=read_object),
            asks_for(_CONVENTION, {"task_info", "action"}),
        ),
    ),
    stand_ins={"rllm": {"rllm": {}, "rllm.rewards.reward_types": {"RewardOutput": Output}}},
)
