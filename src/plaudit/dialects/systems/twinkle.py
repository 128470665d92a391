"""Twinkle rewards: `(trajectories, ground_truths) -> list[float]`, as classes and as functions.

Twinkle's trajectories are dicts with `messages` and `user_data`, and its ground truths are trajectories too, so its
rewards are given such dicts. A function that returns several lists gives its total first.
"""

import inspect
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.packages.twinkle_data import TwinkleTrajectory
from plaudit.dialects.results import read_columns
from plaudit.dialects.signatures import call_parameters, parameters
from plaudit.dialects.stub_packages import LazyStub
from plaudit.trajectory import Trajectory

_TRUTHS = "ground_truths"


def twinkle_reward(foreign: Any) -> ForeignReward:
    """A reward of an object or function of trajectories and ground truths, which are plain values.

    Where the annotation of the truths asks for trajectories, they are trajectories whose response is the truth.
    """
    truths = [each for name, each in parameters(foreign).items() if name != "trajectories"]
    wants_trajectories = bool(truths) and "Trajectory" in str(truths[0].annotation)  # also where it is text
    truth = _truth_as_trajectory if wants_trajectories else attrgetter("ground_truth")
    convention = Convention(
        plurals={"trajectories": TwinkleTrajectory.of, _TRUTHS: truth},
        by_place=("trajectories", _TRUTHS),
        rest=lambda trajectory: {_TRUTHS: truth(trajectory)},
        batched=True,
        fills_columns=False,
    )
    return ForeignReward(foreign, convention, read_batch=read_columns)


def _truth_as_trajectory(trajectory: Trajectory) -> TwinkleTrajectory:
    return TwinkleTrajectory.saying(trajectory.ground_truth, trajectory.prompt)


def _shape(candidate: Any) -> tuple[str, ...]:
    """The first parameter's name, and `ground_truths` if the function accepts them."""
    accepted = call_parameters(candidate)
    further = any(name == _TRUTHS or each.kind is each.VAR_KEYWORD for name, each in accepted.items())
    return (*list(accepted)[:1], *([_TRUTHS] if further else []))


def _matches_class(candidate: Any) -> bool:
    return not inspect.isroutine(candidate) and _shape(candidate) == ("trajectories", _TRUTHS)


def _matches_function(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and _shape(candidate) == ("trajectories", _TRUTHS)


def _is_function_of_trajectories(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and _shape(candidate)[:1] == ("trajectories",)


SYSTEM = System(
    "twinkle",
    "Twinkle",
    dialects=(
        Dialect("Twinkle class", twinkle_reward, _matches_class),
        Dialect("Twinkle function", twinkle_reward, _matches_function, _is_function_of_trajectories),
    ),
    stubs={
        "twinkle": LazyStub("plaudit.dialects.packages.twinkle_rewards", "STUBS"),
        "twinkle_client": {"twinkle_client": {}},
    },
)
