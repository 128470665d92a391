"""Flux rewards: classes with `compute_reward(trajectory)`, and functions of a trajectory.

Classes of an installed Flux, of our stand-in, and ones that merely look the same are wrapped alike: they are given
trajectories with Flux's attributes, and their outputs become ours, scaled and clipped as Flux's trainer does.
"""

import inspect
from collections.abc import Awaitable, Mapping
from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters, parameters, required_names
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.packages.flux_base import FluxTrajectory
from plaudit.dialects.sample_export import SampleExport
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "FluxExport", "FluxReward"]


class FluxReward(ForeignReward):
    """A foreign object with `compute_reward(trajectory)`, or a function of a trajectory."""

    method = "compute_reward"

    def compute_reward(self, trajectory: Trajectory) -> Any:
        returned = self.ask(_as_flux(trajectory))
        return self._await_output(returned) if inspect.isawaitable(returned) else self._convert(returned)

    async def _await_output(self, returned: Awaitable[Any]) -> Any:
        return self._convert(await returned)

    def _convert(self, returned: Any) -> Any:
        """An object with a `reward` as our output; numbers and our own outputs as they are."""
        if isinstance(returned, RewardOutput) or not hasattr(returned, "reward"):
            return returned
        metadata = dict(getattr(returned, "metadata", None) or {})
        return RewardOutput(
            self._scale(returned.reward),
            token_rewards=list(getattr(returned, "token_rewards", None) or ()) or None,
            components=_components(metadata),
            metadata=metadata,
        )

    def _scale(self, reward: Any) -> Any:
        """What calling the object would make of its raw reward; untouched where its `__init__` was never called."""
        apply = getattr(self.foreign, "_apply_scale_and_clip", None)
        return apply(reward) if callable(apply) and "scale" in vars(self.foreign) else reward


def _as_flux(trajectory: Trajectory) -> FluxTrajectory:
    return FluxTrajectory(**{name: getattr(trajectory, name) for name in Trajectory.__struct_fields__})


def _components(metadata: Mapping[str, Any]) -> dict[str, RewardOutput]:
    """The parts of a composite, which Flux keeps in the metadata."""
    parts = metadata.get("components")
    if not isinstance(parts, Mapping) or not all(
        isinstance(part, Mapping) and "raw" in part for part in parts.values()
    ):
        return {}
    return {str(name): RewardOutput(part["raw"]) for name, part in parts.items()}


def _recognises_class(candidate: Any) -> bool:
    asked = method_parameters(candidate, "compute_reward")
    return bool(asked) and len(required_names(asked)) <= 1


def _resembles_function(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and list(required_names(parameters(candidate))) == ["trajectory"]


class FluxExport(SampleExport):
    """A reward for Flux's trainer: `compute_reward(trajectory)`, and the same when it is called."""

    @property
    def name(self) -> str:
        """What Flux's composites list it by."""
        return self.__name__

    def compute_reward(self, trajectory: Any) -> RewardOutput:
        """The output of one trajectory, with a number whatever happened; status and reason are in its metadata."""
        known = trajectory if isinstance(trajectory, Trajectory) else _as_ours(trajectory)
        rated = self.rate(known)
        status = {} if rated.output.ok else {"status": rated.output.status.value, "reason": rated.output.reason}
        return RewardOutput(
            rated.number, metadata={**rated.output.metadata, **status}, components=rated.output.components
        )

    def __call__(self, trajectory: Any) -> RewardOutput:
        return self.compute_reward(trajectory)


def _as_ours(trajectory: Any) -> Trajectory:
    row = dict(getattr(trajectory, "metadata", None) or {})
    return trajectory_of(trajectory.prompt, trajectory.response, row)


_HOME = frozenset({"flux"})
SYSTEM = System(
    name="flux",
    title="Flux",
    distribution="flux",
    shape="class with `compute_reward(trajectory)`, function of `trajectory`",
    dialects=(
        Dialect("flux", "Flux class", _HOME, FluxReward, recognises=_recognises_class),
        Dialect("flux", "Flux function", _HOME, FluxReward, resembles=_resembles_function),
    ),
    exports=(
        Export(
            FluxExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\ntrainer = FluxTrainer(…, reward_function=reward)",
            grouping=Grouping.NEVER,
        ),
    ),
    stand_ins={"flux": Later("plaudit.dialects.packages.flux_rules", "ANSWERS")},
)
