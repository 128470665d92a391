"""Choose the verifier for each row: `plaudit score auto rows.jsonl`."""

from collections.abc import Sequence

import msgspec

from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import MissingPackage
from plaudit.rewards.built_ins import BUILT_INS
from plaudit.rewards.verifiers.recognisers import BY_COLUMNS, NAMES, recognise
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import columns_of

CHOSEN = "verifier"
"""The key in an output's metadata that names the verifier of the sample."""


class AutoReward(CompoundReward):
    """Scores each row with the verifier for its data set or its columns; a row that none is for is not scored.

    The metadata of an output names the verifier. `plaudit score auto rows.jsonl` prints how many rows each one scored.
    """

    def __init__(self) -> None:
        self.rewards: dict[str, RewardFunction] = {}
        self.missing: dict[str, str] = {}
        for spec in sorted({*NAMES, *(recogniser.spec for recogniser in BY_COLUMNS)}):
            try:
                self.rewards[spec] = BUILT_INS[spec]()
            except MissingPackage as error:  # rows of other kinds can still be scored
                self.missing[spec] = str(error)
        self.set_parts(self.rewards.values())

    def samples_for(self, trajectory: Trajectory) -> list[tuple[RewardFunction, Trajectory | None]]:
        reward = self.rewards.get(recognise(trajectory) or "")
        return [(part, trajectory if part is reward else None) for part in self.parts]

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput | None]) -> RewardOutput:
        output = next((output for output in outputs if output is not None), None)
        spec = recognise(trajectory)
        if output is None or spec is None:
            columns = ", ".join(columns_of(trajectory)) or "none"
            reason = self.missing.get(spec or "", f"no verifier is known for a row with these columns: {columns}")
            return RewardOutput.unscored(Status.SKIPPED, reason)
        chosen: RewardOutput = msgspec.structs.replace(output, metadata={**output.metadata, CHOSEN: spec})
        return chosen

    @staticmethod
    def describe_choice(output: RewardOutput) -> str:
        """Which verifier scored a sample, or why none did."""
        chosen = output.metadata.get(CHOSEN)
        return f"not scored: {output.reason}" if chosen is None else f"scored by {chosen}"

    def __repr__(self) -> str:
        return "AutoReward()"
