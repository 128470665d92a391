"""The head of a request that was read before.

A trainer sends the same head with every request of a connection, but for the length of the body. The grammar is a
machine without memory: where nothing but the digits of that length differs, it would read the same, so it need not.
"""

import re
from typing import Any

__all__ = ["KnownHead"]

_LENGTH = re.compile(rb"\r\ncontent-length: ?(\d+)(?=\r\n)", re.IGNORECASE)
_DIGITS = 9


class KnownHead:
    """What the head said; `ticket` is what the server last made of it."""

    __slots__ = ("_before", "_behind", "headers", "method", "path", "ticket")

    def __init__(self, before: bytes, behind: bytes, method: str, path: str, headers: dict[bytes, bytes]) -> None:
        self._before, self._behind = before, behind
        self.method, self.path, self.headers = method, path, headers
        self.ticket: Any = None

    @classmethod
    def of(cls, head: bytes, method: str, path: str, headers: dict[bytes, bytes]) -> "KnownHead | None":
        """A head as it came and as it was read; None where the next one like it may mean something else."""
        found = list(_LENGTH.finditer(head))
        if len(found) != 1 or head.find(b"\r\n\r\n") != len(head) - 4:
            return None
        if b"transfer-encoding" in headers or b"expect" in headers or b"upgrade" in headers:
            return None
        start, end = found[0].span(1)
        return cls(head[:start], head[end:], method, path, headers)

    def body_of(self, data: bytes) -> bytes | None:
        """The body where the data is one whole request with this head, and nothing else."""
        start = len(self._before)
        if not data.startswith(self._before):
            return None
        end = data.find(b"\r", start, start + _DIGITS)
        length = data[start:end]
        begin = end + len(self._behind)
        if (
            end < 0
            or not length.isdigit()
            or not data.startswith(self._behind, end)
            or len(data) - begin != int(length)
        ):
            return None
        return data[begin:]
