"""Twinkle rewards: `(trajectories, ground_truths) -> list[float]`, as classes and as functions.

Twinkle's trajectories are dicts with `messages` and `user_data`, and its ground truths are trajectories too, so its
rewards are given such dicts. A function that returns several lists gives its total first.
"""

import inspect
from collections.abc import Sequence
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.dialects.dialect import Dialect, ForeignBatchReward, method_parameters, parameters, read_columns
from plaudit.dialects.packages.twinkle_data import TwinkleTrajectory
from plaudit.dialects.standins import Later, Packages
from plaudit.trajectory import Trajectory

__all__ = ["DIALECTS", "STAND_INS", "TwinkleReward"]

_TRUTHS = "ground_truths"


class TwinkleReward(ForeignBatchReward):
    """A foreign object or function of Twinkle's shape; called directly, it passes on the truths it is given."""

    def call(self, trajectories: Sequence[Trajectory]) -> Any:
        return self._call(trajectories)

    def read(self, returned: Any, trajectories: Sequence[Trajectory]) -> Sequence[Any]:
        return read_columns(returned, len(trajectories))

    def __call__(self, trajectories: Any, ground_truths: Any = None) -> Any:
        if ground_truths is None or isinstance(trajectories, Trajectory):
            return RewardFunction.__call__(self, trajectories, ground_truths)
        return self._call(trajectories, ground_truths)

    def _call(self, trajectories: Sequence[Trajectory], given: Any = None) -> Any:
        """Call with dicts, and with the truths (as given, or the samples' own) where the signature asks for them."""
        asked = list(parameters(self.foreign).values())
        positional = [p for p in asked if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        by_keyword = [p for p in asked if p.kind is p.VAR_KEYWORD or (p.kind is p.KEYWORD_ONLY and p.name == _TRUTHS)]
        views = [TwinkleTrajectory.of(each) if isinstance(each, Trajectory) else each for each in trajectories]
        if len(positional) > 1:
            return self.ask(views, _truths(positional[1], trajectories) if given is None else given)
        if by_keyword:
            return self.ask(views, **{_TRUTHS: _truths(by_keyword[0], trajectories) if given is None else given})
        return self.ask(views)


def _truths(parameter: inspect.Parameter, trajectories: Sequence[Trajectory]) -> list[Any]:
    """The plain ground truths, or trajectories that say them where the annotation asks for trajectories."""
    if "Trajectory" not in str(parameter.annotation):  # also where the annotation is text
        return [trajectory.ground_truth for trajectory in trajectories]
    return [TwinkleTrajectory.saying(each.ground_truth, each.prompt) for each in trajectories]


def _shape(candidate: Any) -> tuple[str, ...]:
    """The first parameter's name, and what else tells a Twinkle reward."""
    if isinstance(candidate, type) or not inspect.isroutine(candidate):
        asked = method_parameters(candidate, "__call__")
    else:
        asked = parameters(candidate)
    further = any(name == _TRUTHS or each.kind is each.VAR_KEYWORD for name, each in asked.items())
    return (*list(asked)[:1], *([_TRUTHS] if further else []))


def _recognises_class(candidate: Any) -> bool:
    return not inspect.isroutine(candidate) and _shape(candidate) == ("trajectories", _TRUTHS)


def _recognises_function(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and _shape(candidate) == ("trajectories", _TRUTHS)


def _resembles_function(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and _shape(candidate)[:1] == ("trajectories",)


_HOME = frozenset({"twinkle"})
DIALECTS = (
    Dialect("twinkle", "Twinkle class", _HOME, TwinkleReward, recognises=_recognises_class),
    Dialect("twinkle", "Twinkle function", _HOME, TwinkleReward, _recognises_function, _resembles_function),
)
STAND_INS: Packages = {
    "twinkle": Later("plaudit.dialects.packages.twinkle_rewards", "ANSWERS"),
    "twinkle_client": {"twinkle_client": {}},
}
