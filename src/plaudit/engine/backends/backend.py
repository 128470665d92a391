"""What a backend is: it takes units of work, scores them somewhere, and gives results in any order."""

from dataclasses import dataclass, field
from typing import Protocol

from plaudit.engine.stats import ScorerStats
from plaudit.engine.stream import OrderedStream, Unit, UnitResult
from plaudit.errors import InvalidSettings

__all__ = ["Backend", "BackendSettings", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sample may cost."""

    deadline_s: float | None = None
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        if self.deadline_s is not None and self.deadline_s <= 0:
            raise InvalidSettings(f"deadline_s must be positive, got {self.deadline_s}")
        if self.memory_mb is not None and self.memory_mb < 1:
            raise InvalidSettings(f"memory_mb must be positive, got {self.memory_mb}")


@dataclass(frozen=True, slots=True)
class BackendSettings:
    """What backends are built from, beside the reward; `by_sample` where each output comes before the next sample."""

    workers: int
    limits: Limits = Limits()
    by_sample: bool = True
    address: str | None = None
    stats: ScorerStats = field(default_factory=ScorerStats)


class Backend(Protocol):
    """Where units are scored. Its methods are never called by two threads at once."""

    survives_fork: bool
    """Whether a process that forked can build another one of these."""

    def wants_more(self, units: int, samples: int) -> bool:
        """Whether it would take another unit beside so many that are ready to be submitted."""

    def submit(self, unit: Unit) -> None:
        """Take a unit."""

    def collect(self, timeout_s: float) -> list[UnitResult]:
        """Wait for results, at most so long, and give those that are there."""

    def discard(self, stream: OrderedStream) -> None:
        """Forget the units of a stream, also those under way."""

    def shutdown(self) -> None:
        """End everything that was started."""
