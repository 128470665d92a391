"""AReaL rewards: `f(prompt, completions, prompt_ids, completion_ids, **row) -> float`, one sample a call.

`completions` is one text there, whatever its name says, and the row's other columns are given by name.
"""

import inspect
import logging
from types import SimpleNamespace
from typing import Any

from plaudit.columns import our_name
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import SampleExport
from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "ArealExport", "ArealReward"]

_SHAPE = {"completions", "prompt_ids", "completion_ids"}


class ArealReward(ForeignReward):
    """A function of one prompt, one completion, their tokens, and the row."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        row = {**trajectory.columns, **trajectory.metadata}
        known: dict[str, Any] = {
            "completions": trajectory.response,
            "prompt_ids": None,
            "completion_ids": None if trajectory.tokens is None else trajectory.tokens.ids,
        }
        asked = parameters(self.foreign)
        takes_all = any(each.kind is each.VAR_KEYWORD for each in asked.values())
        known["prompts" if "prompts" in asked else "prompt"] = trajectory.prompt_text  # AReaL passes it by place
        given = {**row, **known} if takes_all else {name: value for name, value in known.items() if name in asked}
        for name, parameter in asked.items():
            if name in given or parameter.kind is parameter.VAR_KEYWORD:
                continue
            value = row.get(name, trajectory.ground_truth if our_name(name) == "ground_truth" else None)
            if value is not None:
                given[name] = value
            elif parameter.default is parameter.empty:
                hint = did_you_mean(name, row)
                raise InvalidTrajectory(f"the reward asks for {name!r}, which the sample does not have{hint}")
        return self.ask(**given)


def _recognises(candidate: Any) -> bool:
    return set(parameters(candidate)) >= _SHAPE


def _resembles(candidate: Any) -> bool:
    """Whether a function of one completion leaves out the tokens, as those do that an agent calls."""
    return inspect.isroutine(candidate) and "completions" in parameters(candidate)


class ArealExport(SampleExport):
    """A reward for AReaL's workflows, called in a pool of processes; it arrives in each of them once."""

    def __call__(
        self, prompt: Any, completions: str, prompt_ids: Any = None, completion_ids: Any = None, **row: Any
    ) -> float:
        """The reward of one completion."""
        return self.rate(trajectory_of(prompt or "", completions, row, completion_ids)).number


SYSTEM = System(
    name="areal",
    title="AReaL",
    distribution="areal",
    shape="function of `(prompt, completions, prompt_ids, completion_ids, **row)`",
    dialects=(Dialect("areal", "AReaL function", frozenset({"areal"}), ArealReward, _recognises, _resembles),),
    exports=(
        Export(
            ArealExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage='workflow_kwargs = {{"reward_fn": "{module}.reward", …}}    # of an RLVRWorkflow',
            grouping=Grouping.NEVER,
        ),
    ),
    stand_ins={
        "areal": {
            "areal.utils": {"logging": SimpleNamespace(getLogger=lambda name=None, *_: logging.getLogger(name))},
        }
    },
)
