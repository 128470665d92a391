"""A verifier as a reward: the verdict becomes an output, and what is not decided is not scored."""

from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Trajectory
from plaudit.verify.verifier import Verdict, Verifier


class VerifierReward(RewardFunction):
    """Inherit from a verifier and this class, in that order; the settings of the reward are those of the verifier."""

    bounds = (0.0, 1.0)
    deterministic = True

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        cls.__doc__ = cls.__doc__ or next(
            base.__doc__ for base in cls.__mro__ if issubclass(base, Verifier) and base.__doc__
        )

    def verify_sample(self, sample: Trajectory) -> Verdict:
        """The verdict on a sample, from the verifier."""
        raise NotImplementedError

    def value_of(self, verdict: Verdict, score: float) -> float:
        """The reward for a verdict with this score."""
        return score

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return self.output(self.verify_sample(trajectory))

    def output(self, verdict: Verdict) -> RewardOutput:
        """The output for a verdict."""
        if verdict.score is None:
            return output_of(verdict)
        return output_of(verdict, self.value_of(verdict, verdict.score))


def output_of(verdict: Verdict, reward: float | None = None) -> RewardOutput:
    """A verdict as an output; the reward is the score unless another one is set."""
    components = {name: output_of(part) for name, part in verdict.components.items()}
    metadata = dict(verdict.details)
    if verdict.score is None:
        return RewardOutput.unscored(Status.UNPARSED, verdict.reason, metadata=metadata, components=components)
    value = verdict.score if reward is None else reward
    return RewardOutput(value, score=verdict.score, reason=verdict.reason, metadata=metadata, components=components)
