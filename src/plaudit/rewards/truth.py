"""What the rewards that judge correctness do with a missing or unusable ground truth: they do not score."""

from collections.abc import Callable

from plaudit.checks.correctness import POLICY
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.math import MathPolicy, MathVerdict, VerdictStatus, verify_math

__all__ = ["judged", "with_truth"]


def judged(
    trajectory: Trajectory, scored: Callable[[MathVerdict], RewardOutput], policy: MathPolicy = POLICY
) -> RewardOutput:
    """The output for the verdict on the response, or an unscored one that says what is wrong with the truth."""

    def verified(given: Trajectory) -> RewardOutput:
        verdict = verify_math(given.ground_truth, given.response, policy, prompt=given.prompt_text)
        if verdict.status is VerdictStatus.UNPARSED_TRUTH:
            return RewardOutput.unscored(Status.UNPARSED, verdict.reason)
        return scored(verdict)

    return with_truth(trajectory, verified)


def with_truth(trajectory: Trajectory, scored: Callable[[Trajectory], RewardOutput]) -> RewardOutput:
    """The output for a trajectory that has a ground truth, or an unscored one where it has none that can be used."""
    truth = trajectory.ground_truth
    if truth is None or truth == [] or (isinstance(truth, str) and not truth.strip()):
        return RewardOutput.unscored(Status.SKIPPED, "the sample has no ground truth")
    try:
        return scored(trajectory)
    except InvalidTrajectory as error:  # the checks say so when they cannot use the truth
        return RewardOutput.unscored(Status.UNPARSED, str(error))
