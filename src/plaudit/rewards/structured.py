"""Reward output that a program can read: data of a format, with the schema, keys and values that are asked for."""

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.rewards.verifiers.verifier_reward import VerifierReward
from plaudit.trajectory import Trajectory
from plaudit.verify.structured.structured import Structured


class StructuredOutputReward(Structured, VerifierReward):
    __doc__ = Structured.__doc__

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        """The output has a score only where the row has requirements: form alone does not make an answer right."""
        output = super().compute_reward(trajectory)
        if not output.ok or self.read(trajectory).of_row:
            return output
        formed: RewardOutput = msgspec.structs.replace(output, score=None)
        return formed
