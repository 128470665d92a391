"""Errors of endpoints: HTTP refusals, and which errors are transient.

Transient are: no connection, a timeout, HTTP 408, 425, 429 and 5xx, and `TransientError`. Errors of HTTP clients are
recognised by the names of their classes and by their attributes, since the clients need not be installed.
"""

import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import responses
from typing import Any

from plaudit.errors import TransientError

MAX_CHARACTERS = 200
THROTTLED = 429
_STATUSES = {408, 425, THROTTLED, *range(500, 600)}
_UNREACHABLE = {None, errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH}
"""None: asyncio and anyio raise an OSError without number when all addresses of a host refuse."""
_TIMEOUTS = {
    "TimeoutException",  # httpx, httpx2
    "APITimeoutError",  # openai, anthropic and clients built like them
}
_CONNECTIONS = {
    "NetworkError", "RemoteProtocolError",  # httpx, httpx2
    "ClientConnectionError", "ClientPayloadError",  # aiohttp
    "APIConnectionError",  # openai, anthropic and clients built like them
}  # fmt: skip


class HttpRefusal(Exception):
    """A server answered with an HTTP status that is not 200; it is in `status`."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str]) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers)


@dataclass(frozen=True, slots=True)
class Fault:
    """A transient error: a retry may help."""

    message: str
    timeout: bool = False
    throttled: bool = False
    retry_after_s: float = 0.0


def fault_of(error: BaseException | None) -> Fault | None:
    """The fault that `error` reports, or None if a retry would not help."""
    if isinstance(error, TransientError):
        return Fault(_message(error), retry_after_s=error.retry_after_s or 0.0)
    if not isinstance(error, Exception):
        return None
    status = status_of(error)
    if status is not None:
        return _http_fault(error, status) if status in _STATUSES else None
    names = {each.__name__ for each in type(error).__mro__}
    if isinstance(error, TimeoutError) or names & _TIMEOUTS:
        return Fault(_message(error), timeout=True)
    return Fault(_message(error)) if _is_connection_lost(error) or names & _CONNECTIONS else None


def is_transient(error: BaseException) -> bool:
    """Whether a retry may help."""
    return fault_of(error) is not None


def status_of(error: BaseException) -> int | None:
    """The HTTP status that the endpoint answered with, where the error carries one."""
    response = getattr(error, "response", None)
    carried = (
        getattr(response, "status_code", None),
        getattr(response, "status", None),
        getattr(error, "status_code", None),
        getattr(error, "status", None),
    )
    return next((status for status in carried if type(status) is int and 100 <= status <= 599), None)


def _http_fault(error: Exception, status: int) -> Fault:
    message = f"HTTP {status} {responses.get(status, '')}".rstrip()
    return Fault(message, throttled=status == THROTTLED, retry_after_s=_retry_after_s(error))


def _retry_after_s(error: Exception) -> float:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    if not isinstance(headers, Mapping):
        return 0.0
    value = next((str(value) for name, value in headers.items() if str(name).lower() == "retry-after"), "")
    return float(value) if value.replace(".", "", 1).isdecimal() else _seconds_until(value)


def _seconds_until(date: str) -> float:
    """Seconds until an HTTP date; 0.0 when it has passed or is none."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _is_connection_lost(error: Exception) -> bool:
    if isinstance(error, ConnectionError | socket.gaierror):
        return True
    return type(error) is OSError and error.errno in _UNREACHABLE


def _message(error: Exception) -> str:
    text = str(error)
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__)[:MAX_CHARACTERS]
