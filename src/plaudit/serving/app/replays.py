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
AROUND = 512  # bytes that an answer takes beside its body, as measured: most answers are smaller than that
LONGEST_KEY = 200


@dataclass(slots=True)
class _UnderWay:
    digest: bytes
    waiting: list[Request] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Kept:
    digest: bytes
    response: Response
    since: float


class Replays:
    """Kept answers, the oldest thrown out first; those under way are not counted among them."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[str, str, bytes], _UnderWay] = {}
        self._kept: OrderedDict[tuple[str, str, bytes], _Kept] = OrderedDict()
        self._bytes = 0

    def join(self, place: tuple[str, str, bytes], request: Request) -> Response | bool | None:
        """The kept answer; True where the request now waits for one; False where the key was used for another body.

        None where it is new: then `finish` must be called for it.
        """
        self._throw_out()
        digest = hashlib.blake2b(request.body, digest_size=16).digest()
        entry = self._under_way.get(place) or self._kept.get(place)
        if entry is None:
            self._under_way[place] = _UnderWay(digest)
            return None
        if entry.digest != digest:
            return False
        if isinstance(entry, _Kept):
            return entry.response
        entry.waiting.append(request)
        return True

    def finish(self, place: tuple[str, str, bytes], response: Response) -> list[Request]:
        """Keep an answer; who else waits for it."""
        entry = self._under_way.pop(place)
        if response.status == 200:
            self._kept[place] = _Kept(entry.digest, response, time.monotonic())
            self._bytes += len(response.body) + AROUND
        return entry.waiting

    def _throw_out(self) -> None:
        oldest_kept = time.monotonic() - KEPT_S
        while self._kept:
            place, entry = next(iter(self._kept.items()))
            if entry.since > oldest_kept and self._bytes < KEPT_BYTES:
                return
            del self._kept[place]
            self._bytes -= len(entry.response.body) + AROUND
