"""Twinkle rewards: `(trajectories, ground_truths) -> list[float]`, as classes and as functions.

Twinkle's trajectories are dicts with `messages` and `user_data`, and its ground truths are trajectories too. Its
rewards are therefore given views that answer both ways and compare by their response.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from plaudit.contract.boundary import Style
from plaudit.contract.function import RewardFunction
from plaudit.dialects.dialect import Dialect, is_a, method_parameters, name_of, parameters
from plaudit.rewards import FormatReward, MathReward
from plaudit.trajectory import Trajectory

__all__ = ["STAND_INS", "TWINKLE_CLASS", "TWINKLE_FUNCTION", "Reward", "TwinkleReward", "TwinkleTrajectory", "view"]

_MISSING = object()


class TwinkleTrajectory(Trajectory, frozen=True):
    """A trajectory that is also read like Twinkle's dict: `t["messages"]`, `t.get("user_data")`.

    It equals whatever has, or is, the same response: that is how Twinkle's rewards compare with a ground truth.
    """

    @property
    def user_data(self) -> list[tuple[str, Any]]:
        """The ground truth, the columns and the metadata as (key, value) pairs."""
        known = {**self.columns, **self.metadata}
        if self.ground_truth is not None:
            known = {"ground_truth": self.ground_truth, **known}
        return list(known.items())

    def get(self, key: str, default: Any = None) -> Any:
        """What `trajectory[key]` gives, or `default`."""
        if key in ("messages", "user_data", *self.FIELDS):
            return getattr(self, key)
        return self.columns.get(key, self.metadata.get(key, default))

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, _MISSING)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def __contains__(self, key: str) -> bool:
        return self.get(key, _MISSING) is not _MISSING

    def __eq__(self, other: object) -> bool:
        return self.response == (other.response if isinstance(other, Trajectory) else _text(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.response)


class Reward(RewardFunction):
    """What Twinkle's files subclass: define `__call__(trajectories, ground_truths)`, and it is given views."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if cls.style is Style.PAIRED:  # scored through a method that makes the views
            cls.style = Style.BATCH
            cls.compute_rewards = _through_views  # type: ignore[method-assign, assignment]


class TwinkleReward(Reward):
    """A foreign object or function of Twinkle's shape; called directly, it passes on the truths it is given."""

    def __init__(self, foreign: Any) -> None:
        self.foreign = foreign
        self.name = name_of(foreign)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> Any:
        return _call(self.foreign, trajectories)

    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        if ground_truths is None or isinstance(trajectories, Trajectory):
            return RewardFunction.__call__(self, trajectories, ground_truths)
        return _call(self.foreign, trajectories, ground_truths)

    def __repr__(self) -> str:
        return self.name


def view(trajectory: Trajectory) -> TwinkleTrajectory:
    """The trajectory as Twinkle's rewards read it."""
    if isinstance(trajectory, TwinkleTrajectory):
        return trajectory
    fields = {name: getattr(trajectory, name) for name in Trajectory.__struct_fields__}
    return TwinkleTrajectory(**fields)


def _through_views(reward: RewardFunction, trajectories: Sequence[Trajectory]) -> Any:
    return _call(reward, trajectories)


def _call(foreign: Any, trajectories: Sequence[Trajectory], given: Any = None) -> Any:
    """Call with views, and with the truths (as given, or the samples' own) where the signature asks for them."""
    asked = list(parameters(foreign).values())
    positional = [p for p in asked if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_keyword = [p for p in asked if p.kind is p.VAR_KEYWORD or (p.kind is p.KEYWORD_ONLY and p.name == _TRUTHS)]
    views = [view(each) if isinstance(each, Trajectory) else each for each in trajectories]
    if len(positional) > 1:
        return foreign(views, _truths(positional[1], trajectories) if given is None else given)
    if by_keyword:
        return foreign(views, **{_TRUTHS: _truths(by_keyword[0], trajectories) if given is None else given})
    return foreign(views)


_TRUTHS = "ground_truths"


def _truths(parameter: inspect.Parameter, trajectories: Sequence[Trajectory]) -> list[Any]:
    """The plain ground truths, or trajectories that say them where the annotation asks for trajectories."""
    if "Trajectory" not in str(parameter.annotation):  # also where the annotation is text
        return [trajectory.ground_truth for trajectory in trajectories]
    return [
        TwinkleTrajectory(
            prompt=trajectory.prompt,
            response="" if trajectory.ground_truth is None else str(trajectory.ground_truth),
            ground_truth=trajectory.ground_truth,
        )
        for trajectory in trajectories
    ]


def _text(value: object) -> object:
    """A number as its text, since truths read from data files may be either."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _has_shape(asked: dict[str, inspect.Parameter]) -> bool:
    names = list(asked)
    if names[:1] != ["trajectories"]:
        return False
    return _TRUTHS in names or any(p.kind is p.VAR_KEYWORD for p in asked.values())


def _recognises_class(candidate: Any) -> bool:
    return not inspect.isroutine(candidate) and _has_shape(method_parameters(candidate, "__call__"))


def _recognises_function(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and _has_shape(parameters(candidate))


TWINKLE_CLASS = Dialect("Twinkle class", _recognises_class, TwinkleReward, is_a(Reward))
TWINKLE_FUNCTION = Dialect("Twinkle function", _recognises_function, TwinkleReward)

STAND_INS: dict[str, dict[str, object]] = {
    "twinkle.reward": {"FormatReward": FormatReward, "MathReward": MathReward, "Reward": Reward},
    "twinkle.data_format": {"Trajectory": TwinkleTrajectory},
}
