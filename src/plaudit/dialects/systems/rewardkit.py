"""harbor-rewardkit's criteria: `@criterion def f(workspace: Path, …) -> bool | float`, a check of files in a folder.

The workspace of a sample is a new folder with the `files` of its row (path → text) and the response as `response.txt`;
or the folder that its column `workspace` names, as it is. Parameters after `workspace` are settings of the reward
(`file.py:name(path='a.txt')`) or columns.
"""

import functools
import inspect
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plaudit.contract.binding import Convention
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.signatures import parameters
from plaudit.errors import InvalidOutput, InvalidTrajectory
from plaudit.trajectory import Trajectory

__all__ = ["RESPONSE_FILE", "SYSTEM"]

RESPONSE_FILE = "response.txt"
_MARK = "__plaudit_criterion__"
_CONVENTION = Convention({"workspace": lambda trajectory: trajectory}, fills_columns=True)


def rewardkit_reward(foreign: Any) -> ForeignReward:
    """A reward of a criterion."""
    function = _function_of(foreign)
    reward = ForeignReward(foreign, _CONVENTION, _read, call=_in_workspace(function))
    reward.name = str(getattr(function, "__name__", reward.name))
    return reward


def _in_workspace(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def check(workspace: Trajectory, *values: Any, **settings: Any) -> Any:
        folder = workspace.columns.get("workspace")
        if folder is not None:
            if not isinstance(folder, str) or not Path(folder).is_dir():
                raise InvalidTrajectory(f"workspace is the path of a folder, got {folder!r:.60}")
            return function(Path(folder), *values, **settings)
        with tempfile.TemporaryDirectory(prefix="plaudit-workspace-") as made:
            _write_files(Path(made), workspace)
            return function(Path(made), *values, **settings)

    return check


def _write_files(folder: Path, trajectory: Trajectory) -> None:
    files = trajectory.columns.get("files") or {}
    if not isinstance(files, Mapping):
        raise InvalidTrajectory(f"files is an object of paths and texts, got {files!r:.60}")
    for name, text in {**files, RESPONSE_FILE: trajectory.response}.items():
        path = (folder / str(name)).resolve()
        if not path.is_relative_to(folder.resolve()) or not isinstance(text, str):
            raise InvalidTrajectory(f"files has texts at paths within the workspace, got {name!r:.60}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _read(value: Any) -> RewardOutput:
    """A bool, or a number from 0 to 1."""
    if not isinstance(value, bool | int | float) or not 0.0 <= value <= 1.0:
        raise InvalidOutput(f"a criterion returns a bool or a number from 0 to 1, got {value!r:.60}")
    return RewardOutput(float(value), score=float(value))


def criterion(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    """rewardkit's decorator; here a criterion is found by its own name."""
    if function is None:
        return criterion
    setattr(function, _MARK, True)
    return function


def _function_of(candidate: Any) -> Any:
    """The function of a criterion: itself with our decorator; behind the handle that rewardkit's own returns."""
    if type(candidate).__name__ != "_CriterionHandle":
        return candidate
    registry = inspect.getmodule(type(candidate))
    factories = getattr(registry, "_factory_registry", {})
    return inspect.unwrap(factories[candidate._name])


def _matches(candidate: Any) -> bool:
    return getattr(candidate, _MARK, False) or type(candidate).__name__ == "_CriterionHandle"


def _matches_if_imported(candidate: Any) -> bool:
    return not isinstance(candidate, type) and list(parameters(candidate))[:1] == ["workspace"]


SYSTEM = System(
    "rewardkit",
    "harbor-rewardkit",
    dialects=(Dialect("rewardkit criterion", rewardkit_reward, _matches, _matches_if_imported),),
    stubs={"rewardkit": {"rewardkit": {"criterion": criterion}, "rewardkit.session": {"criterion": criterion}}},
)
