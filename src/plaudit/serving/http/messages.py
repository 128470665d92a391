"""A request and a response, whatever carried them."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from plaudit.serving.protocols.protocol import refusal_body

__all__ = ["JSON", "MSGPACK", "Request", "Response", "refuse"]

JSON, MSGPACK = b"application/json", b"application/msgpack"


class Request:
    """What was asked; `respond` is called once, from the event loop, with the answer and further header lines."""

    __slots__ = (
        "body",
        "headers",
        "holder",
        "id",
        "keep_alive",
        "method",
        "on_abandon",
        "path",
        "peer",
        "received_at",
        "respond",
        "size",
        "ticket",
    )

    def __init__(
        self,
        method: str,
        path: str,
        headers: dict[bytes, bytes],
        body: bytes,
        peer: str,
        received_at: float,
        respond: Callable[["Response", bytes], None],
    ) -> None:
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.peer, self.received_at, self.respond = peer, received_at, respond
        self.id, self.keep_alive = b"", True
        self.size, self.holder = 0, ""  # what it holds of the budget, and for whom
        self.ticket: Any = None  # or the Response that refuses it
        self.on_abandon: Callable[[], None] | None = None  # nobody waits for the answer any more


class Response:
    """What is answered; `head` holds further header lines, each with its line end."""

    __slots__ = ("body", "close", "content_type", "head", "status")

    def __init__(
        self, status: int, body: bytes, content_type: bytes = JSON, head: bytes = b"", *, close: bool = False
    ) -> None:
        self.status, self.body, self.content_type, self.head, self.close = status, body, content_type, head, close

    def encode(self, head: bytes = b"", *, keep_alive: bool, with_body: bool = True) -> bytes:
        """The bytes on the line; `head` holds the header lines of the request that is answered."""
        return b"%b%b\r\ncontent-length: %d\r\n%b%b%b\r\n%b" % (
            _STATUS_LINES[self.status],
            self.content_type,
            len(self.body),
            head,
            self.head,
            b"" if keep_alive else b"connection: close\r\n",
            self.body if with_body else b"",
        )


_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: ".encode() for status in HTTPStatus
}


def refuse(status: int, message: str, head: bytes = b"", *, close: bool = False) -> Response:
    """A response that says what is wrong."""
    return Response(status, refusal_body(message), head=head, close=close)
