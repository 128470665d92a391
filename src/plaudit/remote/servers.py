"""The servers of a remote reward: connections, circuit breakers, and the choice of a server.

Connections are urllib3's: kept alive, and shared by all threads of the process. Requests go to the least busy server;
servers that fail are left out for a while, and are asked for their health before they get samples again.
"""

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.endpoint.channel import Breaker, EndpointPolicy, Permission
from plaudit.endpoint.transient import HttpRefusal, fault_of, status_of
from plaudit.errors import RewardNotLoaded, TransientError, require
from plaudit.remote.tokens import environment_token, split_token

CONNECTIONS = 32
PIECE = 1 << 20
HEALTH_S = 2.0
OVERLOADED = 503  # with Retry-After: the server is up and has too much to do


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a server."""

    body: bytes
    headers: Mapping[str, str]


class ServerLink:
    """Connections to one server; `load` is the number of requests under way."""

    def __init__(self, url: str, policy: EndpointPolicy) -> None:
        urllib3: Any = require("urllib3", extra="serve", purpose="a reward at a URL")
        usual_token = environment_token()
        self.url, own_token = split_token(url)
        self._policy, self._exceptions = policy, urllib3.exceptions
        token = own_token or usual_token
        try:
            self._pool = urllib3.connection_from_url(self.url, maxsize=CONNECTIONS)
            self._path = urllib3.util.parse_url(self.url).request_uri.rstrip("/")
        except urllib3.exceptions.LocationParseError as error:
            raise RewardNotLoaded(f"{self.url} is not a URL: {error}") from None
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self.breaker = Breaker(policy.breaker_after, policy.breaker_rest_s, time.monotonic)
        self._lock = threading.Lock()
        self.load = 0

    def ask(
        self, body: bytes | None, headers: Mapping[str, str], path: str = "", timeout_s: float | None = None
    ) -> Reply:
        """POST a body, or GET if there is none; HttpRefusal and OSError if that fails."""
        with self._lock:
            self.load += 1
        try:
            return self._request(body, headers, path, timeout_s or self._policy.attempt_s)
        finally:
            with self._lock:
                self.load -= 1

    def _request(self, body: bytes | None, headers: Mapping[str, str], path: str, timeout_s: float) -> Reply:
        method, until = "GET" if body is None else "POST", time.monotonic() + timeout_s
        try:
            answer = self._pool.urlopen(
                method,
                self._path + path or "/",
                body=body,
                headers={**self._headers, **headers},
                timeout=timeout_s,
                redirect=False,
                retries=False,
                preload_content=False,
            )
            data = _read_all(answer, until)
        except self._exceptions.NewConnectionError as error:  # urllib3 counts it among its time-outs
            raise ConnectionError(f"{self.url}: {_cause(error)}") from error
        except (self._exceptions.TimeoutError, TimeoutError) as error:
            raise TimeoutError(f"{self.url} did not answer within {timeout_s:g} s") from error
        except self._exceptions.HTTPError as error:
            raise ConnectionError(f"{self.url}: {_cause(error)}") from error
        if answer.status != 200:
            raise HttpRefusal(answer.status, f"{self.url}: HTTP {answer.status}: {_words(data)}", answer.headers)
        return Reply(data, answer.headers)

    def close(self) -> None:
        """Close its connections."""
        self._pool.close()


class Servers:
    """The servers of one reward, shared by the threads of a process."""

    def __init__(self, links: Sequence[ServerLink], *, has_health: bool) -> None:
        self.links, self._has_health = list(links), has_health
        self._turn = 0
        self._lock = threading.Lock()

    def choose(self, tried: Collection[ServerLink] = (), refused: Collection[ServerLink] = ()) -> ServerLink:
        """The least busy server that is up; TransientError if none is.

        If possible one that was not tried for the same samples before, or at least one that has not refused them.
        """
        others = ([link for link in self.links if link not in avoided] for avoided in (tried, refused, ()))
        chosen = next(filter(None, map(self._least_busy, others)), None)
        if chosen is None:
            words = "; ".join(f"{link.url}: {link.breaker.describe()}" for link in self.links)
            rest_s = min(link.breaker.first_rest_s() for link in self.links)
            raise TransientError(f"no server is up: {words}", retry_after_s=rest_s)
        return chosen

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
                link.breaker.record_failure(link, fault.message)
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


def _read_all(answer: Any, until: float) -> bytes:
    """The body of an answer; urllib3 limits the time between two pieces, but not the time of all of them."""
    pieces: list[bytes] = []
    while piece := answer.read1(PIECE):
        pieces.append(piece)
        if time.monotonic() > until:
            answer.close()
            raise TimeoutError
    answer.release_conn()
    return b"".join(pieces)


def _cause(error: Exception) -> str:
    """The cause that urllib3 names, without the repr of its objects."""
    return str(error).rpartition(": ")[2] or type(error).__name__


def _words(body: bytes) -> str:
    return body[:300].decode("utf-8", "replace")
