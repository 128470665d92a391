"""What a scorer did: how much, how busy its workers were, what waited, what was killed, what came from the cache."""

from array import array
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class ScorerStats:
    """Counts since the scorer was made; `workers_lost` is by reason: deadline, killed by others, how they died.

    `uncached` says why the cache is not used although there is one.
    """

    workers: int = 1
    scored: int = 0
    cached: int = 0
    duplicates: int = 0
    wall_s: float = 0.0
    busy_s: float = 0.0
    workers_lost: dict[str, int] = field(default_factory=dict)
    uncached: str = ""
    queued_s: "array[float]" = field(default_factory=lambda: array("d"), repr=False)

    @property
    def utilisation(self) -> float | None:
        """The share of the workers' time that went into the reward; None before anything was scored."""
        return min(1.0, self.busy_s / (self.wall_s * self.workers)) if self.wall_s else None

    @property
    def hit_rate(self) -> float | None:
        """The share of samples that were not scored because they were known; None before the first sample."""
        total = self.scored + self.cached + self.duplicates
        return (self.cached + self.duplicates) / total if total else None

    def lose(self, how: str) -> None:
        """Count a worker that had to be replaced."""
        self.workers_lost[how] = self.workers_lost.get(how, 0) + 1

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; queue times as quantiles."""
        waits = sorted(self.queued_s)
        queued = {f"p{share}": waits[share * (len(waits) - 1) // 100] for share in (50, 95, 99)} if waits else None
        return {**asdict(self), "utilisation": self.utilisation, "hit_rate": self.hit_rate, "queued_s": queued}
