"""What an export is: how a trainer calls a reward, and which policies it can follow."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from plaudit import dialects
from plaudit.exports.exported import Call, ExportedReward, ExportSettings, OnUnscored

MEAN = (OnUnscored.MEAN, OnUnscored.RAISE)
"""The policies of a trainer that needs a finite number for every sample."""


class Grouping(StrEnum):
    """The form in which the samples of a group reach an exported reward."""

    CALL = "in one call"
    COLLECTED = "collected"  # one sample a call, in one process: they wait for each other
    NEVER = "never together"


@dataclass(frozen=True, slots=True)
class Export:
    """How rewards are called by a system (a name of `dialects.known_systems()`): see `exported` for `convert`.

    The first of the `policies` is the default. `build` makes the object that the trainer is given. `form` distinguishes
    several exports of a system. `shims.toml` has the file that is written for each export.
    """

    system: str
    convert: Callable[..., Call]
    policies: tuple[OnUnscored, ...] = MEAN
    build: Callable[[ExportSettings], ExportedReward] = ExportedReward
    grouping: Grouping = Grouping.NEVER
    form: str = ""

    @property
    def name(self) -> str:
        """The name for `plaudit export`: `verl`, `verl:batch`."""
        return f"{self.system}:{self.form}" if self.form else self.system

    @property
    def title(self) -> str:
        """The name of its system in a sentence."""
        return dialects.known_systems()[self.system].title
