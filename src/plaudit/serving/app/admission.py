"""How much the server takes on: bytes and requests, before memory grows."""

import math
import time
from collections import deque

from plaudit.serving.http.messages import Response, refuse

__all__ = ["Admission"]

LONGEST_WAIT_S = 30
RECENT = 64


class Admission:
    """Counts what is held of requests; beyond the limits clients are told when to come back."""

    def __init__(self, most_requests: int, most_bytes: int) -> None:
        self._most_requests, self._most_bytes = most_requests, most_bytes
        self.requests = 0
        self.bytes = 0
        self._by_client: dict[str, int] = {}
        self._bytes_of: dict[str, int] = {}
        self._finished: deque[float] = deque(maxlen=RECENT)

    def reserve(self, size: int, client: str, own: int = 0) -> Response | None:
        """Take bytes for a client; a refusal where there are not as many left. `own` are those of the same request.

        A client that has some already gets no more than half of what others leave, so that there is room for the next:
        bytes are taken when a body is announced, and who announces four of the largest may never send them.
        """
        if self.bytes + size > self._most_bytes and self.bytes > own:
            return self._busy("the server holds as much as it may of the bodies of requests")
        held = self._bytes_of.get(client, 0)
        if held > own and held + size > (self._most_bytes - self.bytes + held) // 2:
            return self._busy("your share of the room for bodies is full")
        self.bytes += size
        self._bytes_of[client] = held + size
        return None

    def release(self, size: int, client: str) -> None:
        """Give bytes back."""
        self.bytes -= size
        left = self._bytes_of[client] - size
        if left:
            self._bytes_of[client] = left
        else:
            del self._bytes_of[client]

    def refusal_for(self, client: str) -> Response | None:
        """What to answer to a client that asks for more than there is room for; None where it may go on."""
        if self.requests >= self._most_requests:
            return self._busy("the queue is full")
        others = len(self._by_client) - (client in self._by_client)
        if others and self._by_client.get(client, 0) >= self._most_requests // (others + 1):
            return self._busy("your share of the queue is full, and others wait too")
        return None

    def begin(self, client: str) -> None:
        """A request of a client is taken on."""
        self.requests += 1
        self._by_client[client] = self._by_client.get(client, 0) + 1

    def end(self, client: str) -> None:
        """It is answered."""
        self.requests -= 1
        self._finished.append(time.monotonic())
        left = self._by_client[client] - 1
        if left:
            self._by_client[client] = left
        else:
            del self._by_client[client]

    def _busy(self, why: str) -> Response:
        return refuse(429, f"{why}; try again later", b"retry-after: %d\r\n" % self._wait_s())

    def _wait_s(self) -> int:
        """How long the queue takes, going by the latest answers."""
        if len(self._finished) < 2:
            return 1
        pace = (self._finished[-1] - self._finished[0]) / (len(self._finished) - 1)
        return min(LONGEST_WAIT_S, max(1, math.ceil(pace * self.requests)))
