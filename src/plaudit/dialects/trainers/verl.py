"""verl rewards: `compute_score(data_source, solution_str, ground_truth, extra_info)`, or all four in the plural.

They return a number, or a dict whose `score` is the reward and whose other keys are logged.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignBatchReward, ForeignReward, parameters, required_names
from plaudit.dialects.standins import Packages
from plaudit.errors import InvalidOutput, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["DIALECTS", "STAND_INS", "VerlBatchReward", "VerlReward"]

_ARGUMENTS: dict[str, Callable[[Trajectory], Any]] = {
    "data_source": lambda trajectory: trajectory.task or trajectory.columns.get("data_source", ""),
    "solution_str": lambda trajectory: trajectory.response,
    "ground_truth": lambda trajectory: _truth(trajectory),
    "extra_info": lambda trajectory: {**trajectory.columns, **trajectory.metadata},
}
_PLURALS = {f"{name}s": read for name, read in _ARGUMENTS.items()}


class VerlReward(ForeignReward):
    """A function of one solution."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        asked = parameters(self.foreign)
        returned = self.ask(**{name: read(trajectory) for name, read in _ARGUMENTS.items() if name in asked})
        return _await_output(returned) if inspect.isawaitable(returned) else _read(returned)


class VerlBatchReward(ForeignBatchReward):
    """A function of many solutions."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        asked = parameters(self.foreign)
        columns = {name: read for name, read in _PLURALS.items() if name in asked}
        return self.ask(**{name: [read(each) for each in trajectories] for name, read in columns.items()})

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return [_read(each) for each in returned]


async def _await_output(returned: Awaitable[Any]) -> Any:
    return _read(await returned)


def _read(returned: Any) -> Any:
    if not isinstance(returned, Mapping):
        return returned
    if returned.get("score") is None:
        hint = did_you_mean("score", map(str, returned))
        raise InvalidOutput(f"it returned no 'score' but {', '.join(map(str, returned)) or 'nothing'}{hint}")
    return RewardOutput(
        returned["score"], metadata={str(key): each for key, each in returned.items() if key != "score"}
    )


def _truth(trajectory: Trajectory) -> Any:
    truth = trajectory.ground_truth
    return str(truth) if isinstance(truth, int | float) and not isinstance(truth, bool) else truth


def _recognises(candidate: Any) -> bool:
    asked = parameters(candidate)
    return {"solution_str", "ground_truth"} <= set(asked) and required_names(asked) <= set(_ARGUMENTS)


def _recognises_batch(candidate: Any) -> bool:
    asked = parameters(candidate)
    return {"solution_strs", "ground_truths"} <= set(asked) and required_names(asked) <= set(_PLURALS)


_HOME = frozenset({"verl"})
DIALECTS = (
    Dialect("verl", "verl function", _HOME, VerlReward, recognises=_recognises),
    Dialect("verl", "verl batch function", _HOME, VerlBatchReward, recognises=_recognises_batch),
)
STAND_INS: Packages = {"verl": {"verl": {}}}
