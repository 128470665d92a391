"""What the rewards that judge correctness do with a missing or unusable ground truth: they do not score."""

from collections.abc import Callable

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.comparison import Judgement, judge, read_truth

__all__ = ["judged", "with_truth"]


def judged(trajectory: Trajectory, scored: Callable[[Judgement], RewardOutput]) -> RewardOutput:
    """The output for the judgement on the response, or an unscored one that says what is wrong with the truth."""
    return with_truth(trajectory, lambda given: scored(_judgement(given)))


def with_truth(trajectory: Trajectory, scored: Callable[[Trajectory], RewardOutput]) -> RewardOutput:
    """The output for a trajectory that has a ground truth, or an unscored one where it has none that can be used."""
    truth = trajectory.ground_truth
    if truth is None or truth == [] or (isinstance(truth, str) and not truth.strip()):
        return RewardOutput.unscored(Status.SKIPPED, "the sample has no ground truth")
    try:
        return scored(trajectory)
    except InvalidTrajectory as error:  # the checks say so when they cannot use the truth
        return RewardOutput.unscored(Status.UNPARSED, str(error))


def _judgement(trajectory: Trajectory) -> Judgement:
    return judge(trajectory.response, read_truth(trajectory.ground_truth))
