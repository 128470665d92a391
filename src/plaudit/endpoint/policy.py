"""How an endpoint may be called.

The numbers hold for one process: a reward on four worker processes calls its endpoint four times as often.
"""

from dataclasses import dataclass

from plaudit.errors import InvalidSettings
from plaudit.settings import Count, NonNegative, Positive, check_fields

__all__ = ["EndpointPolicy"]


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """Limits, retries and the circuit breaker of one endpoint."""

    concurrency: Count = 32
    """How many calls may run at once."""
    per_second: Positive | None = None
    """How many calls may start per second, evenly spaced; None sets no limit."""
    tries: Count = 4
    """How often a sample is sent before it is given up."""
    first_wait_s: NonNegative = 0.5
    """Upper bound of the first backoff; doubles per retry, with jitter."""
    longest_wait_s: NonNegative = 30.0
    """Upper bound of every wait between two tries, even if Retry-After is longer."""
    attempt_s: Positive = 60.0
    """Timeout of one try."""
    breaker_after: Count = 10
    """After this many failures in a row, over all samples, the breaker opens and nothing is sent."""
    breaker_rest_s: NonNegative = 30.0
    """How long the breaker stays open before one sample is sent as a probe."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.first_wait_s > self.longest_wait_s:
            raise InvalidSettings(
                f"need first_wait_s <= longest_wait_s, got {self.first_wait_s:g} and {self.longest_wait_s:g}"
            )
