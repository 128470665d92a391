"""Several servers of one reward: requests go to the least busy one; servers that fail are left out for a while.

A server that was left out is asked for its health before it gets samples again.
"""

import threading
from collections.abc import Collection, Mapping, Sequence

from plaudit.endpoint.breaker import Permission
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.endpoint.transient import fault_of, status_of
from plaudit.errors import TransientError
from plaudit.remote.server_link import Reply, ServerLink

__all__ = ["Servers"]

HEALTH_S = 2.0
OVERLOADED = 503  # with Retry-After: the server is up and has too much to do


class Servers:
    """The servers of one reward, shared by the threads of a process."""

    def __init__(self, links: Sequence[ServerLink], *, has_health: bool) -> None:
        self.links, self._has_health = list(links), has_health
        self._turn = 0
        self._lock = threading.Lock()

    def choose(self, asked: Collection[ServerLink] = (), refused: Collection[ServerLink] = ()) -> ServerLink:
        """The least busy server that is up; TransientError where none is.

        If possible one that was not asked for the same samples before, or at least one that has not refused them.
        """
        others = ([link for link in self.links if link not in avoided] for avoided in (asked, refused, ()))
        found = next(filter(None, map(self._least_busy, others)), None)
        if found is None:
            words = "; ".join(f"{link.url}: {link.breaker.words()}" for link in self.links)
            rest_s = min(link.breaker.first_rest_s() for link in self.links)
            raise TransientError(f"no server is up: {words}", retry_after_s=rest_s)
        return found

    def ask(self, link: ServerLink, body: bytes, headers: Mapping[str, str], path: str) -> Reply:
        """Ask one server, and remember whether it answered."""
        try:
            reply = link.ask(body, headers, path)
        except (HttpRefusal, OSError) as error:
            fault = fault_of(error)
            is_overloaded = status_of(error) == OVERLOADED and fault is not None and fault.retry_after_s > 0
            if fault is None or fault.throttled or is_overloaded:
                link.breaker.record_success()  # it answers
            else:
                link.breaker.record_failure(link, fault.words)
            raise
        link.breaker.record_success()
        return reply

    def _least_busy(self, links: Sequence[ServerLink]) -> ServerLink | None:
        up = [link for link in links if self._is_up(link)]
        if not up:
            return None
        with self._lock:
            self._turn += 1
            turn = self._turn
        return min((up[(turn + offset) % len(up)] for offset in range(len(up))), key=lambda link: link.load)

    def _is_up(self, link: ServerLink) -> bool:
        caller = object()
        if link.breaker.is_closed:
            return True
        if link.breaker.ask(caller) is not Permission.SEND:
            return False
        try:  # its rest is over, and this caller finds out whether it is back
            if self._has_health:
                link.ask(None, {}, timeout_s=HEALTH_S)
            link.breaker.record_success()
        except (HttpRefusal, OSError) as error:
            link.breaker.record_failure(caller, str(error)[:200])
            return False
        return True
