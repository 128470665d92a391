"""Several servers of one reward: the least busy one that is up is asked, and those that fail are left alone a while.

A server that was left alone is asked for its health before it is sent samples again.
"""

import threading
from collections.abc import Collection, Mapping, Sequence

from plaudit.endpoint.breaker import Permission
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.endpoint.transient import fault_of
from plaudit.errors import TransientError
from plaudit.remote.server_link import Reply, ServerLink

__all__ = ["Servers"]

HEALTH_S = 2.0
UNUSUAL, SHORTEST_PATIENCE_S = 4.0, 0.5
FIRST_PATIENCE_S = 10.0  # before any server has answered


class Servers:
    """The servers of one reward, shared by the threads of a process."""

    def __init__(self, links: Sequence[ServerLink], *, has_health: bool) -> None:
        self.links, self._has_health = list(links), has_health
        self._turn = 0
        self._lock = threading.Lock()

    def choose(self, asked: Collection[ServerLink] = (), refused: Collection[ServerLink] = ()) -> ServerLink:
        """The least busy server that is up; TransientError where none is.

        If possible one that was not asked for the same before, or at least one that has not refused it.
        """
        others = ([link for link in self.links if link not in avoided] for avoided in (asked, refused, ()))
        found = next(filter(None, map(self._least_busy, others)), None)
        if found is None:
            words = "; ".join(f"{link.url}: {link.breaker.words()}" for link in self.links)
            rest_s = min(link.breaker.first_rest_s() for link in self.links)
            raise TransientError(f"no server is up: {words}", retry_after_s=rest_s)
        return found

    def choose_other(self, first: ServerLink) -> ServerLink | None:
        """Another server that is up, if there is one."""
        return self._least_busy([link for link in self.links if link is not first])

    def patience_s(self, link: ServerLink) -> float:
        """How long to wait for a server before another one is asked as well."""
        usual_s = link.usual_s or max(other.usual_s for other in self.links)
        return max(SHORTEST_PATIENCE_S, UNUSUAL * usual_s) if usual_s else FIRST_PATIENCE_S

    def ask(self, link: ServerLink, body: bytes, headers: Mapping[str, str], path: str) -> Reply:
        """Ask one server, and remember whether it answered."""
        try:
            reply = link.ask(body, headers, path)
        except (HttpRefusal, OSError) as error:
            fault = fault_of(error)
            if fault is None or fault.throttled:
                link.breaker.record_success()  # a refusal is an answer too
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
        return min((up[(turn + place) % len(up)] for place in range(len(up))), key=lambda link: link.load)

    def _is_up(self, link: ServerLink) -> bool:
        caller = object()
        if link.breaker.is_closed:
            return True
        if link.breaker.ask(caller) is not Permission.SEND:
            return False
        try:  # its rest is over, and it is ours to look whether it is back
            if self._has_health:
                link.ask(None, {}, timeout_s=HEALTH_S)
            link.breaker.record_success()
        except (HttpRefusal, OSError) as error:
            link.breaker.record_failure(caller, str(error)[:200])
            return False
        return True
