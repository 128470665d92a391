"""Spread calls evenly over time, for all threads and event loops of this process.

The limiters for asyncio that exist (aiolimiter among them) belong to one event loop, but a reward meets a new loop with
every batch, and a limiter made anew for each would let every batch begin with a burst.
"""

import threading
from collections.abc import Callable

__all__ = ["Pace"]


class Pace:
    """At most `per_second` beginnings a second; None lets everything through."""

    def __init__(self, per_second: float | None, clock: Callable[[], float]) -> None:
        self._interval_s = 1.0 / per_second if per_second else 0.0
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take the next free place; the seconds until it comes."""
        with self._lock:
            now = self._clock()
            place = max(now, self._next)
            self._next = place + self._interval_s
        return place - now
