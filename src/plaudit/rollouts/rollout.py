"""One line of a rollouts file: a trajectory and, once it is scored, what the reward said about it.

The output stands under the key `reward_output` beside the trajectory's own keys; every other key is kept as it came.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidOutput, RolloutsError
from plaudit.trajectory import Trajectory

__all__ = ["OUTPUT_KEY", "Rollout"]

OUTPUT_KEY = "reward_output"


class Rollout(msgspec.Struct, frozen=True):
    """A trajectory and its reward output; None while it is not scored."""

    trajectory: Trajectory
    output: RewardOutput | None = None

    def __post_init__(self) -> None:
        if OUTPUT_KEY in self.trajectory.columns:
            raise RolloutsError(f"a column may not be called {OUTPUT_KEY!r}: the reward output of a rollout goes there")

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
    def from_dict(cls, plain: Mapping[str, Any]) -> "Rollout":
        """The rollout that `to_dict` wrote."""
        told = plain.get(OUTPUT_KEY)
        if told is not None and not isinstance(told, Mapping):
            raise InvalidOutput(f"{OUTPUT_KEY} must be an object, got {type(told).__name__} {told!r:.60}")
        trajectory = Trajectory.from_dict({name: value for name, value in plain.items() if name != OUTPUT_KEY})
        return cls(trajectory, None if told is None else RewardOutput.from_dict(told))
