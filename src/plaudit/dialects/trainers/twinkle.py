"""Twinkle rewards: `(trajectories, ground_truths) -> list[float]`, as classes and as functions.

Twinkle's trajectories are dicts with `messages` and `user_data`, and its ground truths are trajectories too, so its
rewards are given such dicts. A function that returns several lists gives its total first.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from plaudit.contract.function import RewardFunction
from plaudit.dialects.dialect import (
    Dialect,
    ForeignBatchReward,
    System,
    method_parameters,
    parameters,
    read_columns,
)
from plaudit.dialects.export import Export, ExportedReward, OnUnscored, trajectory_of
from plaudit.dialects.packages.twinkle_data import TwinkleTrajectory
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory, message_text

__all__ = ["SYSTEM", "TwinkleExport", "TwinkleReward"]

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


class TwinkleExport(ExportedReward):
    """A reward for Twinkle's loops: a number per trajectory; truths may be given beside them."""

    def __call__(
        self, trajectories: Sequence[Any], ground_truths: Sequence[Any] | None = None, **_: Any
    ) -> list[float]:
        """One number per trajectory."""
        samples = [_trajectory(each) for each in trajectories]
        if ground_truths is not None:
            truths = [_said(each) for each in ground_truths]
            samples = [
                msgspec.structs.replace(each, ground_truth=truth) for each, truth in zip(samples, truths, strict=True)
            ]
        self.check_groups(samples, "give all trajectories of a prompt in one call")
        return self.numbers(samples, self.score(samples))


def _trajectory(trajectory: Mapping[str, Any]) -> Trajectory:
    *prompt, response = trajectory["messages"]
    return trajectory_of(prompt, [response], {str(name): value for name, value in trajectory.get("user_data") or ()})


def _said(truth: Any) -> Any:
    """A plain truth, or what the last message of a trajectory says."""
    messages = truth.get("messages") if isinstance(truth, Mapping) else None
    return message_text(messages[-1]) if messages else truth


_HOME = frozenset({"twinkle"})
SYSTEM = System(
    name="twinkle",
    title="Twinkle",
    distribution="twinkle-kit",
    shape="class or function of `(trajectories, ground_truths)`; dicts with `messages` and `user_data`",
    dialects=(
        Dialect("twinkle", "Twinkle class", _HOME, TwinkleReward, recognises=_recognises_class),
        Dialect("twinkle", "Twinkle function", _HOME, TwinkleReward, _recognises_function, _resembles_function),
    ),
    exports=(
        Export(
            TwinkleExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\nrewards = reward(trajectories)\n"
            "advantages = advantage_fn(rewards, num_generations=…)",
        ),
    ),
    stand_ins={
        "twinkle": Later("plaudit.dialects.packages.twinkle_rewards", "ANSWERS"),
        "twinkle_client": {"twinkle_client": {}},
    },
)
