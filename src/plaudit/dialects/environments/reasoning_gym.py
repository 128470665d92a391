"""reasoning-gym: a data set scores answers itself, `score_answer(answer, entry)`.

The answer is what stands in the last `<answer>` tags of a response, as its own trainers extract it, or the whole
response where there are none. An entry is a row of the data set: question, answer, metadata.
"""

import re
from collections.abc import Mapping
from typing import Any

from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters, parameters
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "ReasoningGymReward"]

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_SHAPE = ["answer", "entry"]


class ReasoningGymReward(ForeignReward):
    """A data set, or the `score_answer` function of one."""

    method = "score_answer"

    def compute_reward(self, trajectory: Trajectory) -> Any:
        return self.ask(_answer(trajectory.response), _entry(trajectory))


def _answer(response: str) -> str:
    tagged = _ANSWER.findall(response)
    return (tagged[-1] if tagged else response).strip()


def _entry(trajectory: Trajectory) -> dict[str, Any]:
    given = trajectory.columns.get("entry")
    if isinstance(given, Mapping):
        return dict(given)
    return {
        **trajectory.columns,
        "question": trajectory.prompt_text,
        "answer": trajectory.ground_truth,
        "metadata": trajectory.metadata,
    }


def _recognises(candidate: Any) -> bool:
    return not isinstance(candidate, type) and list(method_parameters(candidate, "score_answer")) == _SHAPE


def _resembles(candidate: Any) -> bool:
    return list(parameters(candidate))[:2] == _SHAPE


SYSTEM = System(
    name="reasoning_gym",
    title="reasoning-gym",
    distribution="reasoning-gym",
    shape="data set with `score_answer(answer, entry)`: `reasoning_gym:create_dataset('leg_counting')`",
    dialects=(
        Dialect(
            "reasoning_gym", "reasoning-gym data set", frozenset({"reasoning_gym"}), ReasoningGymReward,
            _recognises, _resembles,
        ),
    ),
    stand_ins={"reasoning_gym": {"reasoning_gym": {}}},
)  # fmt: skip
