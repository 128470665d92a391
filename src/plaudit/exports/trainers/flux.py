"""Flux: `compute_reward(trajectory)`, and the same when it is called."""

from typing import Any

from plaudit.contract.output import RewardOutput
from plaudit.exports.convention import Export
from plaudit.exports.exported import Call, ExportedReward
from plaudit.trajectory import Trajectory

__all__ = ["EXPORTS"]


class FluxExport(ExportedReward):
    """A reward with the names that Flux's trainer and composites use."""

    @property
    def name(self) -> str:
        """What Flux's composites list it by."""
        return self.__name__

    compute_reward = ExportedReward.__call__


def flux_call(reward: ExportedReward, trajectory: Any) -> Call:
    """The output of one trajectory, with a number whatever happened; status and reason are in its metadata."""
    if not isinstance(trajectory, Trajectory):
        row = getattr(trajectory, "metadata", None) or {}
        trajectory = reward.sample(trajectory.prompt, trajectory.response, row)
    output, value = yield trajectory
    status = {} if output.ok else {"status": output.status.value, "reason": output.reason}
    return RewardOutput(value, metadata={**output.metadata, **status}, components=output.components)


EXPORTS = (
    Export(
        "flux",
        flux_call,
        "from {module} import reward\n\ntrainer = FluxTrainer(…, reward_function=reward)",
        build=FluxExport,
    ),
)
