"""Answers by the key that a client gave its request, so that one sent again is not scored again.

A client that lost its connection asks again under the same key: it gets the answer that was formed meanwhile, or waits
for it with the first one. Only whole answers are kept; a refusal may be followed by a new attempt.
"""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from plaudit.serving.http.messages import Request, Response

__all__ = ["Replays"]

KEPT_S = 600.0
KEPT_BYTES = 64 << 20
LONGEST_KEY = 200


@dataclass(slots=True)
class _Entry:
    digest: bytes
    began: float
    response: Response | None = None
    waiting: list[Request] = field(default_factory=list)


class Replays:
    """Kept answers, the oldest thrown out first."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, str, bytes], _Entry] = OrderedDict()
        self._bytes = 0

    def join(self, place: tuple[str, str, bytes], request: Request) -> Response | bool | None:
        """The kept answer; True where the request now waits for one; False where the key was used for another body.

        None where it is new: then `finish` must be called for it.
        """
        self._throw_out()
        digest = hashlib.blake2b(request.body, digest_size=16).digest()
        entry = self._entries.get(place)
        if entry is None:
            self._entries[place] = _Entry(digest, time.monotonic())
            return None
        if entry.digest != digest:
            return False
        if entry.response is None:
            entry.waiting.append(request)
            return True
        return entry.response

    def finish(self, place: tuple[str, str, bytes], response: Response) -> list[Request]:
        """Keep an answer; who else waits for it."""
        entry = self._entries.get(place)
        if entry is None:
            return []
        waiting, entry.waiting = entry.waiting, []
        if response.status == 200:
            entry.response = response
            self._bytes += len(response.body)
        else:
            del self._entries[place]
        return waiting

    def _throw_out(self) -> None:
        oldest_kept = time.monotonic() - KEPT_S
        while self._entries:
            place, entry = next(iter(self._entries.items()))
            if entry.response is None or (entry.began > oldest_kept and self._bytes < KEPT_BYTES):
                return
            del self._entries[place]
            self._bytes -= len(entry.response.body)
