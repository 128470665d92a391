"""What a backend is: it takes units of work, scores them somewhere, and gives results in any order."""

from dataclasses import dataclass, field
from typing import Protocol

from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.processes.pool import NO_LIMITS, Limits

__all__ = ["Backend", "BackendSettings", "Limits"]


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """The settings of backends."""

    workers: int
    limits: Limits = NO_LIMITS
    address: str | None = None
    stats: ScorerStats = field(default_factory=ScorerStats)


class Backend(Protocol):
    """A place where units are scored. Its methods are never called by two threads at once."""

    survives_fork: bool
    """Whether a process that forked can build another one of these."""

    def wants_more(self, units: int) -> bool:
        """Whether the backend would take another unit in addition to `units` that are ready to be submitted."""

    def submit(self, unit: Unit) -> None:
        """Take a unit."""

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Wait for results, at most so long, and give those that are there."""

    def discard(self, stream: OrderedStream) -> None:
        """Forget the units of a stream, also those under way."""

    def shutdown(self) -> None:
        """End everything that was started."""
