"""The outcome of one load or one call, as the judge observed it.

`value`, `error` and the printed text come from the program: they are to be compared, never believed.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec

from plaudit.sandbox.confined_process import Tier


class CallStatus(Enum):
    """The end of a load or a call; after all but the first three, and after EXITED, the program is gone."""

    RETURNED = "returned"
    RAISED = "raised"
    MEMORY = "out of memory"
    EXITED = "exited"
    CRASHED = "crashed"
    CPU_LIMIT = "over the limit of processor time"
    WALL_LIMIT = "over the limit of time"
    OUTPUT_LIMIT = "printed too much"
    SCRATCH_LIMIT = "wrote too much"
    RESULT_LIMIT = "returned too much"
    BAD_REPLY = "broke the channel"

    @property
    def is_final(self) -> bool:
        """Whether the program can take no further calls."""
        return self not in _LIVING


_LIVING = (CallStatus.RETURNED, CallStatus.RAISED, CallStatus.MEMORY)  # found by identity, the first most often


UNDEFINED = ("undefined:NameError",)  # the classes of an error that says that the program lacks a name


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of the program: its classes, most derived first, as `module:name`; its text, line and arguments.

    `handle` gives access to its attributes; exceptions of the standard library have `members` instead.
    """

    classes: tuple[str, ...] = ()
    message: str = ""
    line: int | None = None
    args: tuple[Any, ...] = ()
    handle: Any = None
    members: dict[str, Any] = field(default_factory=dict)
    cause: "Raised | None" = None

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.classes[0].rpartition(":")[2] if self.classes else "?"

    def __str__(self) -> str:
        position = f" (line {self.line})" if self.line is not None else ""
        return f"{self.name}: {self.message}{position}" if self.message else f"{self.name}{position}"


class Outcome(msgspec.Struct, frozen=True):
    """One load or call: how it ended, and its value."""

    status: CallStatus
    value: Any = None
    error: Raised | None = None
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    cpu_s: float = 0.0
    tier: Tier = Tier.NONE

    @property
    def reason(self) -> str:
        """The end of the call as a message."""
        details = {
            CallStatus.RAISED: str(self.error),
            CallStatus.EXITED: f"exit code {self.exit_code}",
            CallStatus.CRASHED: f"signal {self.signal}",
            CallStatus.BAD_REPLY: str(self.error) if self.error else "",
            CallStatus.RESULT_LIMIT: self.error.message if self.error else "",
        }
        detail = details.get(self.status, "")
        return f"{self.status.value}: {detail}" if detail else self.status.value
