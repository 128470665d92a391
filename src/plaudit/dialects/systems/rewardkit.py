"""harbor-rewardkit's criteria: `@criterion def f(workspace: Path, …) -> bool | float`, a check of files in a folder.

A whole folder of criteria, judges and a `reward.toml` (`load("checks/")`) is run by rewardkit itself, which must be
installed; each key of what it returns is a component, and `reward`, or the only key, is the reward.

The workspace of a sample is a new folder with the `files` of its row (path → text) and the response as `response.txt`;
or the folder that its column `workspace` names, as it is. Parameters after `workspace` are settings of the reward
(`file.py:name(path='a.txt')`) or columns.
"""

import functools
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plaudit.contract.binding import Convention
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.results import read_named_rewards
from plaudit.dialects.signatures import parameters
from plaudit.errors import InvalidOutput, InvalidTrajectory, require
from plaudit.trajectory import Trajectory

RESPONSE_FILE = "response.txt"
REWARD = "reward"
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
        with _open_workspace(workspace) as folder:
            return function(folder, *values, **settings)

    return check


@contextmanager
def _open_workspace(trajectory: Trajectory) -> Iterator[Path]:
    """The folder that a sample is judged by."""
    folder = trajectory.columns.get("workspace")
    if folder is not None:
        if not isinstance(folder, str) or not Path(folder).is_dir():
            raise InvalidTrajectory(f"workspace is the path of a folder, got {folder!r:.60}")
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(prefix="plaudit-workspace-") as made:
        _write_files(Path(made), trajectory)
        yield Path(made)


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


class RewardkitFolder(RewardFunction):
    """A folder of rewardkit's inputs, run by the installed package for each sample."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self._load()

    def _load(self) -> Any:
        # without this, litellm waits about 10 s for a list of prices where there is no network
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        purpose = f"the folder {self.folder} of rewardkit's criteria (Python 3.12 or newer)"
        return require("rewardkit", purpose=purpose, package="harbor-rewardkit")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        """The value that rewardkit writes to reward.json for the workspace of the sample."""
        with _open_workspace(trajectory) as workspace, tempfile.TemporaryDirectory(prefix="plaudit-rewards-") as out:
            rewards = self._load().run(self.folder, workspace=workspace, output=Path(out) / "reward.json")
        remedy = f'add a [[reward]] with name = "{REWARD}" to {self.folder / "reward.toml"}'
        return read_named_rewards(rewards, REWARD, remedy)


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
