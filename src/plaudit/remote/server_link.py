"""One server of a remote reward: its connections, whether it is up, and what it takes to ask it.

Connections are urllib3's: kept alive, shared by all threads of the process, closed with it.
"""

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from plaudit.endpoint.breaker import Breaker
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.refusal import HttpRefusal
from plaudit.errors import RewardNotLoaded, require

__all__ = ["Reply", "ServerLink", "hide_tokens", "split_token"]

CONNECTIONS = 32
PIECE = 1 << 20
HIDDEN = "***"
_IN_URL = re.compile(r"(https?://(?:(?!,https?://)[^\s/:])*):(?:(?!,https?://)[^\s/])*@", re.IGNORECASE)
_PORT = re.compile(r".*:\d*|[^:]*|\[.*\]")
_SENDABLE = re.compile("[!-~]*")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    body: bytes
    headers: Mapping[str, str]


class ServerLink:
    """The way to one server; `load` says how much is under way there."""

    def __init__(self, url: str, policy: EndpointPolicy, token: str | None) -> None:
        urllib3: Any = require("urllib3", extra="serve", purpose="a reward at a URL")
        self.url, own_token = split_token(url)
        self._policy, self._exceptions = policy, urllib3.exceptions
        token = own_token or token
        self._pool = urllib3.PoolManager(maxsize=CONNECTIONS, block=False, retries=False)
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self.breaker = Breaker(policy.breaker_after, policy.breaker_rest_s, time.monotonic)
        self._lock = threading.Lock()
        self.load = 0
        self._usual_s = 0.0

    def ask(
        self, body: bytes | None, headers: Mapping[str, str], path: str = "", timeout_s: float | None = None
    ) -> Reply:
        """POST a body, or GET where there is none; HttpRefusal and OSError where that fails."""
        began = time.monotonic()
        with self._lock:
            self.load += 1
        try:
            reply = self._request(body, headers, path, timeout_s or self._policy.attempt_s)
            if body is not None:
                self._learn(time.monotonic() - began)
            return reply
        finally:
            with self._lock:
                self.load -= 1

    def _request(self, body: bytes | None, headers: Mapping[str, str], path: str, timeout_s: float) -> Reply:
        method, until = "GET" if body is None else "POST", time.monotonic() + timeout_s
        try:
            answer = self._pool.request(
                method,
                self.url + path,
                body=body,
                headers={**self._headers, **headers},
                timeout=timeout_s,
                redirect=False,
                preload_content=False,
            )
            data = _read_all(answer, until)
        except self._exceptions.NewConnectionError as error:  # urllib3 counts it among its time-outs
            raise ConnectionError(f"{self.url}: {_cause(error)}") from error
        except (self._exceptions.TimeoutError, TimeoutError) as error:
            raise TimeoutError(f"{self.url} did not answer within {timeout_s:g} s") from error
        except self._exceptions.LocationParseError as error:
            raise RewardNotLoaded(f"{self.url} is no URL: {error}") from None
        except self._exceptions.HTTPError as error:
            raise ConnectionError(f"{self.url}: {_cause(error)}") from error
        if answer.status != 200:
            raise HttpRefusal(answer.status, f"{self.url}: HTTP {answer.status}: {_words(data)}", answer.headers)
        return Reply(data, answer.headers)

    @property
    def usual_s(self) -> float:
        """How long an answer takes, of late."""
        return self._usual_s

    def close(self) -> None:
        """Close its connections."""
        self._pool.clear()

    def _learn(self, seconds: float) -> None:
        self._usual_s += 0.2 * (seconds - self._usual_s) if self._usual_s else seconds


def split_token(url: str) -> tuple[str, str | None]:
    """A URL without the token that stands in it as a password (`http://any:TOKEN@host:8000/name`), and that token.

    One that was hidden is none.
    """
    scheme, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    own, at, host = place.rpartition("@")
    if not at and "@" in path and _PORT.fullmatch(place) is None:
        bare = f"{scheme}://{path.rpartition('@')[2]}"
        raise RewardNotLoaded(f"the token before {bare} holds a slash; write it as %2F")
    if not at:
        return url, None
    token = unquote(own.partition(":")[2])
    if _SENDABLE.fullmatch(token) is None:
        raise RewardNotLoaded(f"the token before {scheme}://{host} holds white space, or characters beyond ASCII")
    return f"{scheme}://{host}{slash}{path}", token if token and token != HIDDEN else None


def hide_tokens(value: Any) -> Any:
    """A text, or plain values that hold texts, with the tokens in URLs hidden, for files and logs that stay."""
    match value:
        case str():
            return _IN_URL.sub(rf"\1:{HIDDEN}@", value)
        case Mapping():
            return {name: hide_tokens(each) for name, each in value.items()}
        case list():
            return [hide_tokens(each) for each in value]
    return value


def _read_all(answer: Any, until: float) -> bytes:
    """The body of an answer; urllib3 bounds the time between two pieces, but not that of all of them."""
    pieces: list[bytes] = []
    while piece := answer.read1(PIECE):
        pieces.append(piece)
        if time.monotonic() > until:
            answer.close()
            raise TimeoutError
    answer.release_conn()
    return b"".join(pieces)


def _cause(error: Exception) -> str:
    """What urllib3 ran into, without its repr of itself."""
    return str(error).rpartition(": ")[2] or type(error).__name__


def _words(body: bytes) -> str:
    return body[:300].decode("utf-8", "replace")
