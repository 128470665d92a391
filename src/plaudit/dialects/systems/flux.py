"""Flux rewards: classes with `compute_reward(trajectory)`, and functions of a trajectory.

Classes of an installed Flux, of the stub, and others with the same method are wrapped alike: they are given
trajectories with Flux's attributes, and their outputs are scaled and clipped as by Flux's trainer.
"""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from plaudit.contract.binding import Convention
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.packages.flux_data import FluxTrajectory
from plaudit.dialects.results import read_object
from plaudit.dialects.signatures import method_parameters, parameters, required_names
from plaudit.dialects.stub_packages import LazyStub
from plaudit.trajectory import Trajectory


def _as_flux(trajectory: Trajectory) -> FluxTrajectory:
    return FluxTrajectory(**{name: getattr(trajectory, name) for name in Trajectory.__struct_fields__})


_CONVENTION = Convention(names={"trajectory": _as_flux}, by_place=("trajectory",), fills_columns=False)


def flux_reward(foreign: Any) -> ForeignReward:
    """A reward of an object with `compute_reward(trajectory)`, or of a function of a trajectory."""
    call = getattr(foreign, "compute_reward", foreign)
    return ForeignReward(foreign, _CONVENTION, partial(_read, foreign), call=call)


def _read(foreign: Any, returned: Any) -> Any:
    output = read_object(returned)
    if output is returned:
        return returned
    return msgspec.structs.replace(
        output, reward=_scale(foreign, output.reward), components=_components(output.metadata)
    )


def _scale(foreign: Any, reward: Any) -> Any:
    """Scale and clip a raw reward as calling the object would; not where its `__init__` was never called."""
    apply = getattr(foreign, "_apply_scale_and_clip", None)
    return apply(reward) if callable(apply) and "scale" in vars(foreign) else reward


def _components(metadata: Mapping[str, Any]) -> dict[str, RewardOutput]:
    """The parts of a composite, which Flux keeps in the metadata."""
    parts = metadata.get("components")
    if not isinstance(parts, Mapping) or not all(
        isinstance(part, Mapping) and "raw" in part for part in parts.values()
    ):
        return {}
    return {str(name): RewardOutput(part["raw"]) for name, part in parts.items()}


def _matches_class(candidate: Any) -> bool:
    accepted = method_parameters(candidate, "compute_reward")
    return bool(accepted) and len(required_names(accepted)) <= 1


def _is_function_of_trajectory(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and list(required_names(parameters(candidate))) == ["trajectory"]


SYSTEM = System(
    "flux",
    "Flux",
    dialects=(
        Dialect("Flux class", flux_reward, _matches_class),
        Dialect("Flux function", flux_reward, matches_if_imported=_is_function_of_trajectory),
    ),
    stubs={"flux": LazyStub("plaudit.dialects.packages.flux_rewards", "STUBS")},
)
