"""EasyR1 rewards: `compute_score(reward_inputs)` of many dicts, or `compute_score(reward_input)` of one.

A dict holds `response`, `response_length` and `ground_truth`; what comes back has the reward as `overall`, the other
numbers are logged. Files for its earlier releases take `(predict_str, ground_truth)` or both in the plural.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import (
    Dialect,
    ForeignBatchReward,
    ForeignReward,
    System,
    name_of,
    parameters,
    required_names,
    truth_as_text,
)
from plaudit.errors import InvalidOutput, InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "EasyR1BatchReward", "EasyR1Reward"]

_PREDICTIONS = ("predict_str", "predict")
_MANY_PREDICTIONS = ("predict_strs", "predicts")


class EasyR1Reward(ForeignReward):
    """A function of one response."""

    def compute_reward(self, trajectory: Trajectory) -> Any:
        first = next(iter(parameters(self.foreign)))
        if first in _PREDICTIONS:
            return _read(self.ask(trajectory.response, truth_as_text(trajectory)))
        _check_settings(self.foreign, first)
        return _read(self.ask(_input(trajectory)))


class EasyR1BatchReward(ForeignBatchReward):
    """A function of many responses."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        first = next(iter(parameters(self.foreign)))
        if first in _MANY_PREDICTIONS:
            return self.ask([each.response for each in trajectories], [truth_as_text(each) for each in trajectories])
        _check_settings(self.foreign, first)
        return self.ask([_input(each) for each in trajectories])

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return [_read(each) for each in returned]


def _check_settings(foreign: Any, first: str) -> None:
    """Name the settings that a function has from EasyR1's config, and that nobody gave it here."""
    settings = [f"{name}=…" for name in parameters(foreign) if name in required_names(parameters(foreign)) - {first}]
    if settings:
        name = name_of(foreign)
        raise InvalidTrajectory(
            f"{name} has settings that EasyR1 takes from a config; give them behind its name: "
            f"{name}({', '.join(settings)})"
        )


def _input(trajectory: Trajectory) -> dict[str, Any]:
    """What EasyR1 hands over; a length is in tokens, or in words where the sample has no tokens."""
    length = len(trajectory.response.split()) if trajectory.tokens is None else len(trajectory.tokens)
    return {
        **trajectory.columns,
        **trajectory.metadata,
        "response": trajectory.response,
        "response_length": length,
        "ground_truth": truth_as_text(trajectory),
    }


def _read(returned: Any) -> Any:
    if not isinstance(returned, Mapping):
        return returned
    if returned.get("overall") is None:
        hint = did_you_mean("overall", map(str, returned))
        raise InvalidOutput(f"it returned no 'overall' but {', '.join(map(str, returned)) or 'nothing'}{hint}")
    others = {str(key): each for key, each in returned.items() if key != "overall"}
    return RewardOutput(returned["overall"], metadata=others)


def _recognises(candidate: Any) -> bool:
    asked = parameters(candidate)
    if list(asked)[:1] == ["reward_input"]:
        return True
    return list(asked)[:1] in ([name] for name in _PREDICTIONS) and required_names(asked) == {
        next(iter(asked)), "ground_truth",
    }  # fmt: skip


def _recognises_batch(candidate: Any) -> bool:
    asked = parameters(candidate)
    if list(asked)[:1] == ["reward_inputs"]:
        return True
    return list(asked)[:1] in ([name] for name in _MANY_PREDICTIONS) and required_names(asked) == {
        next(iter(asked)), "ground_truths",
    }  # fmt: skip


_HOME = frozenset({"mathruler"})
SYSTEM = System(
    name="easy_r1",
    title="EasyR1",
    distribution="",
    shape="`compute_score(reward_inputs)` of dicts with `response` and `ground_truth`; the reward is `overall`",
    dialects=(
        Dialect("easy_r1", "EasyR1 function", _HOME, EasyR1Reward, recognises=_recognises),
        Dialect("easy_r1", "EasyR1 batch function", _HOME, EasyR1BatchReward, recognises=_recognises_batch),
    ),
)
