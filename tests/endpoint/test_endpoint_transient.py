"""Which errors are worth another try, told by the errors that real clients raise."""

import asyncio
import errno
import pickle
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import httpx2
import pytest

from plaudit.endpoint.transient import fault_of, status_of
from plaudit.errors import TransientError

REQUEST = httpx2.Request("POST", "http://127.0.0.1")


def answered(status: int, **headers: str) -> httpx2.HTTPStatusError:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.HTTPStatusError("", request=REQUEST, response=httpx2.Response(status, headers=told))


class Carrying(Exception):
    """Stands for the errors of clients that keep the status on the error itself."""

    def __init__(self, **carried: object) -> None:
        super().__init__("answered")
        self.__dict__.update(carried)


class APIConnectionError(Exception):
    """What openai and anthropic call it."""


class APITimeoutError(APIConnectionError):
    """What openai and anthropic call it."""


PASSING = {
    "408": answered(408),
    "425": answered(425),
    "429": answered(429),
    "500": answered(500),
    "503": answered(503),
    "529, which has no name": answered(529),
    "status on the error": Carrying(status=502),
    "status_code on the error": Carrying(status_code=429),
    "refused": ConnectionRefusedError(),
    "reset": ConnectionResetError(),
    "unreachable": OSError(errno.EHOSTUNREACH, "No route to host"),
    "all addresses refuse": OSError("Multiple exceptions: [Errno 111], [Errno 111]"),
    "name not resolved": socket.gaierror(socket.EAI_AGAIN, "try again"),
    "httpx cannot connect": httpx2.ConnectError("refused"),
    "httpx loses the connection": httpx2.ReadError("reset"),
    "httpx gets half an answer": httpx2.RemoteProtocolError("closed"),
    "the client's own connection error": APIConnectionError(),
    "ours": TransientError("loading"),
}
LASTING = {
    "400": answered(400),
    "401": answered(401),
    "404": answered(404),
    "422": answered(422),
    "status on the error": Carrying(status=404),
    "status that is text": Carrying(status="503"),
    "status out of range": Carrying(status=5000),
    "response that is a dict": Carrying(response={"status_code": 503}),
    "file not found": FileNotFoundError(errno.ENOENT, "no file"),
    "not permitted": PermissionError(errno.EACCES, "no"),
    "disk full": OSError(errno.ENOSPC, "full"),
    "a wrong address": httpx2.UnsupportedProtocol("no http://"),
    "a bug": KeyError("score"),
    "an answer that is not JSON": ValueError("Expecting value"),
    "cancelled": asyncio.CancelledError(),
    "interrupted": KeyboardInterrupt(),
}


@pytest.mark.parametrize("error", PASSING.values(), ids=PASSING)
def test_a_transient_fault_is_retried(error):
    assert fault_of(error) is not None


@pytest.mark.parametrize("error", LASTING.values(), ids=LASTING)
def test_a_permanent_fault_is_not_retried(error):
    assert fault_of(error) is None


@pytest.mark.parametrize(
    "error", [TimeoutError(), httpx2.ReadTimeout(""), httpx2.ConnectTimeout(""), APITimeoutError()]
)
def test_a_timeout_is_recognised(error):
    assert fault_of(error).timeout


def test_other_faults_are_no_timeouts():
    assert not any(fault_of(error).timeout for error in PASSING.values())


def test_only_429_says_slow_down():
    assert [name for name, error in PASSING.items() if fault_of(error).throttled] == ["429", "status_code on the error"]


def test_an_http_fault_is_reported_by_number_and_name():
    assert fault_of(answered(503)).message == "HTTP 503 Service Unavailable"
    assert fault_of(answered(529)).message == "HTTP 529"
    assert status_of(answered(404)) == 404


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (answered(429, retry_after="7"), 7.0),
        (answered(503, Retry_After="1.5"), 1.5),
        (answered(503), 0.0),
        (answered(503, retry_after="soon"), 0.0),
        (answered(503, retry_after="-3"), 0.0),
        (answered(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), 0.0),
        (answered(503, retry_after=""), 0.0),
        (Carrying(status=429, headers={"Retry-After": 4}), 4.0),
        (Carrying(status=429, response=SimpleNamespace(headers={"retry-after": "9"})), 9.0),
        (Carrying(status=429, headers="Retry-After: 4"), 0.0),
        (TransientError("loading", retry_after_s=2.0), 2.0),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_wait_that_the_endpoint_requests_is_read(error, seconds):
    assert fault_of(error).retry_after_s == seconds


def test_a_retry_after_date_is_read():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=1000), usegmt=True)
    assert 900.0 < fault_of(answered(503, retry_after=later)).retry_after_s <= 1000.0


def test_our_own_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(TransientError("loading", retry_after_s=2.0)))
    assert (str(error), error.retry_after_s) == ("loading", 2.0)
