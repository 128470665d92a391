"""One server of a remote reward: its connections, its circuit breaker, and how it is asked.

Connections are urllib3's: kept alive, and shared by all threads of the process.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.endpoint.breaker import Breaker
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.errors import RewardNotLoaded, require
from plaudit.remote.tokens import environment_token, split_token

__all__ = ["Reply", "ServerLink"]

CONNECTIONS = 32
PIECE = 1 << 20


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
        """POST a body, or GET where there is none; HttpRefusal and OSError where that fails."""
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
