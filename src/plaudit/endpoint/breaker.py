"""A circuit breaker: an endpoint that is down costs seconds, not hours.

Samples that find it open are held until one of them, the prober, has been sent. If the prober fails, the endpoint is
down, and whoever comes while it rests again is turned away at once: only the first rest is waited for.

This is our own because none on PyPI holds callers until the prober is back, and none is shared by several event loops;
aiobreaker and purgatory are no longer kept, and circuitbreaker lets everyone through after the rest.
"""

import enum
import threading
from collections.abc import Callable

__all__ = ["Breaker", "Permission"]

POLL_S = 0.05
"""How often those who are held look whether the prober has come back; it may run in another event loop."""


class Permission(enum.Enum):
    """What a caller is to do."""

    SEND = "send"
    WAIT = "wait"
    DOWN = "down"


class Breaker:
    """Opens after `after` failures in a row, and lets one caller try again after `rest_s`.

    Callers are told apart by identity; one that was told to send ends with `succeeded`, `failed` or `left`.
    """

    def __init__(self, after: int, rest_s: float, clock: Callable[[], float]) -> None:
        self._after, self._rest_s, self._clock = after, rest_s, clock
        self._failures, self._last = 0, ""
        self._rests_until: float | None = None  # None: closed
        self._probe_failed = False
        self._prober: object = None
        self._lock = threading.Lock()

    @property
    def is_closed(self) -> bool:
        """Whether everybody may send."""
        return self._rests_until is None

    def ask(self, caller: object) -> Permission:
        """What `caller` is to do now; the first to ask after the rest becomes the prober."""
        with self._lock:
            if self._rests_until is None or self._prober is caller:
                return Permission.SEND
            resting = self._clock() < self._rests_until
            if not resting and self._prober is None:
                self._prober = caller
                return Permission.SEND
            return Permission.DOWN if resting and self._probe_failed else Permission.WAIT

    def wait_s(self) -> float:
        """How long to wait before asking again."""
        with self._lock:
            return max(POLL_S, (self._rests_until or 0.0) - self._clock())

    def first_rest_s(self) -> float:
        """How much is left of the first rest, which is worth waiting for; 0.0 once a prober has failed."""
        with self._lock:
            return 0.0 if self._probe_failed else max(0.0, (self._rests_until or 0.0) - self._clock())

    def record_success(self) -> None:
        """The endpoint answered: all may send."""
        with self._lock:
            self._failures, self._rests_until, self._probe_failed, self._prober = 0, None, False, None

    def record_failure(self, caller: object, words: str) -> None:
        """The endpoint did not answer `caller`."""
        with self._lock:
            self._failures, self._last = self._failures + 1, words
            if self._prober is caller:
                self._prober, self._probe_failed = None, True
                self._rests_until = self._clock() + self._rest_s
            elif self._rests_until is None and self._failures >= self._after:
                self._rests_until = self._clock() + self._rest_s

    def left(self, caller: object) -> None:
        """`caller` ended without learning anything about the endpoint; if it was the prober, another one may be."""
        with self._lock:
            if self._prober is caller:
                self._prober = None

    def words(self) -> str:
        """Why nothing is sent."""
        with self._lock:
            return f"endpoint is down: {self._failures} failures in a row, the last one {self._last}"
