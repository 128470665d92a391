"""One line of a rollouts file: a trajectory and, once it is scored, its reward output.

The output has the key `reward_output` beside the keys of the trajectory; all other keys are kept unchanged.
"""

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeAlias

from typing_extensions import TypeVar

from plaudit import jsonline
from plaudit.columns import ColumnMapping
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidOutput, RolloutsError
from plaudit.trajectory import OUTPUT_KEY, Trajectory

_USUAL_NAMES = ColumnMapping()
Output = TypeVar("Output", bound=RewardOutput | None, default=RewardOutput | None, covariant=True)


class Rollout(NamedTuple, Generic[Output]):
    """A trajectory and its reward output; None while it is not scored."""

    trajectory: Trajectory
    output: Output = None  # type: ignore[assignment]  # the default of the type variable

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the trajectory's keys, and `reward_output` when there is one."""
        plain = self.trajectory.to_dict()
        if self.output is not None:
            plain[OUTPUT_KEY] = self.output.to_dict()
        return plain

    def to_line(self) -> bytes:
        """One line of JSON with its newline."""
        try:
            return jsonline.encode(self.to_dict()) + b"\n"
        except jsonline.NotPlain as error:
            name = "" if self.trajectory.id is None else f" with the id {self.trajectory.id!r}"
            raise RolloutsError(f"the rollout{name} cannot be written: {error}") from None

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], columns: ColumnMapping = _USUAL_NAMES) -> "Rollout":
        """The rollout that `to_dict` wrote, or that a row of another system holds."""
        output = plain.get(OUTPUT_KEY)
        if output is not None and not isinstance(output, Mapping):
            raise InvalidOutput(f"{OUTPUT_KEY} must be an object, got {type(output).__name__} {output!r:.60}")
        trajectory = Trajectory.from_dict(plain, columns)
        return cls(trajectory, None if output is None else RewardOutput.from_dict(output))  # type: ignore[arg-type]  # as above


ScoredRollout: TypeAlias = Rollout[RewardOutput]
"""A rollout that has its output."""
