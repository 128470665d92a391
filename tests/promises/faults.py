"""What each fault of `misbehaviour` must lead to, and where it can be tried at all."""

from dataclasses import dataclass
from typing import Literal

from tests.promises import misbehaviour
from tests.promises.styles import Style

Kind = Literal["raise", "value", "effect", "stop", "call"]


@dataclass(frozen=True)
class Fault:
    name: str
    kind: Kind
    status: str

    def response(self, text: str) -> str:
        return f"FAULT:{self.name}:{text}"

    @property
    def is_scored(self) -> bool:
        """Whether the sample has its usual number: the fault only touches what is around it."""
        return self.kind == "effect"

    @property
    def fails_call(self) -> bool:
        """Whether all samples of the call fail, where a call has several."""
        return self.kind in ("raise", "stop", "call")

    @property
    def may_be_repeated(self) -> bool:
        """Whether the call may be made again: a worker out of memory may be so because of earlier calls."""
        return self.status == "memory"

    @property
    def ends_worker(self) -> bool:
        """Whether a worker is replaced, which costs more than all other faults together."""
        return self.kind == "stop" or self.may_be_repeated

    def suits(self, style: Style, *, is_async: bool = True, isolated: bool = True) -> bool:
        """Whether the style can have the fault, and the path survives a trial: others would end the test itself."""
        if self.name.startswith("await") and not is_async:
            return False
        if self.kind == "call" and style.kind == "sample":
            return False
        return isolated or not (self.kind == "stop" or self.name in NEEDS_PROCESS)


NEEDS_PROCESS = {"keyboard_interrupt", "leaves_alarm"}
STATUSES = {"memory_error": "memory", "none": "skipped"}
STATUSES |= dict.fromkeys(("spin", "sleep", "regex", "await", "await_uncancellable"), "timeout")

TABLES: dict[Kind, dict[str, object]] = {
    "raise": misbehaviour.RAISES,
    "value": misbehaviour.VALUES,
    "effect": misbehaviour.EFFECTS,
    "stop": misbehaviour.STOPS,
    "call": misbehaviour.CALLS,
}
FAULTS = {
    name: Fault(name, kind, STATUSES.get(name, "ok" if kind == "effect" else "error"))
    for kind, table in TABLES.items()
    for name in table
}
