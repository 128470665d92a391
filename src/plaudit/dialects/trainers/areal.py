"""AReaL rewards: `f(prompt, completions, prompt_ids, completion_ids, **row) -> float`, one sample a call.

`completions` is one text there, whatever its name says, and the row's other columns are given by name.
"""

import logging
from types import SimpleNamespace
from typing import Any

from plaudit.columns import our_name
from plaudit.dialects.dialect import Dialect, ForeignReward, parameters
from plaudit.dialects.standins import Packages
from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["DIALECTS", "STAND_INS", "ArealReward"]

_SHAPE = {"prompt", "completions", "prompt_ids", "completion_ids"}


class ArealReward(ForeignReward):
    """A function of one prompt, one completion, their tokens, and the row."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        row = {**trajectory.columns, **trajectory.metadata}
        known = {
            "prompt": trajectory.prompt_text,
            "completions": trajectory.response,
            "prompt_ids": None,
            "completion_ids": None if trajectory.tokens is None else trajectory.tokens.ids,
        }
        asked = parameters(self.foreign)
        takes_all = any(each.kind is each.VAR_KEYWORD for each in asked.values())
        given = {**(row if takes_all else {}), **known}
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


DIALECTS = (Dialect("areal", "AReaL function", frozenset({"areal"}), ArealReward, recognises=_recognises),)
STAND_INS: Packages = {
    "areal": {
        "areal.utils": {"logging": SimpleNamespace(getLogger=lambda name=None, *_: logging.getLogger(name))},
    }
}
