"""Predibase rewards: `reward(prompt, completion, example) -> float`, where `example` is the row of the data."""

import inspect
from typing import Any

from plaudit.columns import FOREIGN_NAMES
from plaudit.dialects.dialect import Dialect, ForeignReward, System, await_result, parameters, required_names
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "PredibaseReward"]

_ARGUMENTS = {"prompt", "completion", "example"}
_TRUTHS = ("ground_truth", *(name for name in FOREIGN_NAMES["ground_truth"] if "." not in name))


class PredibaseReward(ForeignReward):
    """A function of one completion, its prompt and its row; prompt and completion are text."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        truths = {} if trajectory.ground_truth is None else dict.fromkeys(_TRUTHS, trajectory.ground_truth)
        row = {**truths, "prompt": trajectory.prompt_text, **trajectory.columns, **trajectory.metadata}
        known = {"prompt": trajectory.prompt_text, "completion": trajectory.response, "example": row}
        asked = parameters(self.foreign)
        returned = self.ask(**{name: value for name, value in known.items() if name in asked})
        return await_result(returned) if inspect.isawaitable(returned) else returned


def _recognises(candidate: Any) -> bool:
    asked = parameters(candidate)
    return {"completion", "example"} <= set(asked) and required_names(asked) <= _ARGUMENTS


SYSTEM = System(
    name="predibase",
    title="Predibase",
    distribution="predibase",
    shape="function of `(prompt, completion, example)`; `example` is the row",
    dialects=(Dialect("predibase", "Predibase function", frozenset({"predibase"}), PredibaseReward, _recognises),),
)
