"""What the server asks of a pool, wherever its workers are: on this machine, or in replicas on a cluster."""

from typing import Any, Protocol

from plaudit.serving.workers.queueing import FairQueue, Job

__all__ = ["ServicePool"]


class ServicePool(Protocol):
    """Answers jobs, each exactly once."""

    queue: FairQueue
    description: dict[str, Any]
    """What the workers say of the reward."""
    failure: str
    """Why no request can be answered; empty while they can."""

    @property
    def busy(self) -> int:
        """How many workers, or replicas, are at work."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def ready(self) -> bool:
        """Whether a request would be answered."""

    async def start(self) -> dict[str, Any]:
        """Start; what is served. Raises where it cannot be."""

    def submit(self, job: Job) -> None:
        """Take on a job."""

    async def drain(self) -> None:
        """Return when nothing waits and nobody works."""

    async def close(self) -> None:
        """End every worker; jobs under way are told that the server stops."""
