"""Limits of what a server holds at once: requests and bytes of their bodies."""

from plaudit.serving.protocols.protocol import RequestRefused

__all__ = ["Admission", "LoadLimits"]


class LoadLimits:
    """Counts requests and bytes under way; `admit()` gives one request its share of both."""

    def __init__(self, most_requests: int, most_bytes: int) -> None:
        self.most_requests, self.most_bytes = most_requests, most_bytes
        self.requests = self.bytes = 0

    def admit(self) -> "Admission":
        """Take in one more request; RequestRefused (503) if the server has as many as it may."""
        if self.requests >= self.most_requests:
            raise RequestRefused(503, f"{self.requests} requests are under way; try again later", retry_after_s=1)
        return Admission(self)


class Admission:
    """The share of one request, until the end of the `with` block."""

    def __init__(self, limits: LoadLimits) -> None:
        self._limits, self._bytes = limits, 0
        limits.requests += 1

    def reserve(self, size: int) -> None:
        """Take room for more bytes of the body; RequestRefused (503) if there is none."""
        limits = self._limits
        if limits.bytes + size > limits.most_bytes:
            raise RequestRefused(503, "the server holds as many bytes of requests as it may; try again later", 1)
        limits.bytes += size
        self._bytes += size

    def __enter__(self) -> "Admission":
        return self

    def __exit__(self, *_: object) -> None:
        self._limits.requests -= 1
        self._limits.bytes -= self._bytes
