"""One connection of a client: requests are read one after the other, and answered in that order, refusals included.

Sizes and times are bounded at every point: a client that writes slowly, reads slowly or never ends is cut off, and what
it wants to send is reserved from a common budget before it is read. The grammar of HTTP/1.1 is httptools' (llhttp).
"""

import asyncio
import time
from collections import deque
from typing import Any, Protocol, cast

import httptools

from plaudit.serving.http.heads import ONLY_ONCE, head_without_offer, plain_path, unfit_head
from plaudit.serving.http.known_head import KnownHead
from plaudit.serving.http.messages import Request, Response, refuse
from plaudit.serving.settings import HttpLimits

__all__ = ["Connection", "Gate"]

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
WAITING = 8  # pipelined requests
SMALL = 1 << 20  # a body that is read although its request is refused, to keep the connection
LINGER_S = 2.0
STRANGE = 8  # heads that are unlike the one before, until it is no use to remember them


class Gate(Protocol):
    """What a connection asks of the server."""

    draining: bool
    connections: set["Connection"]

    def check(self, method: str, path: str, headers: dict[bytes, bytes], peer: str, last: Any = None) -> Any:
        """A ticket, or the Response that refuses the request before its body is read.

        `last` is the ticket that a request with the same head got on the same connection.
        """

    def handle(self, request: Request, ticket: Any) -> None:
        """Answer a request that got a ticket, now or later."""

    def reserve(self, size: int, ticket: Any, own: int = 0) -> Response | None:
        """Take bytes for the client of a ticket, whose request has `own` already; a refusal where there are too few."""

    def release(self, size: int, client: str) -> None:
        """Give bytes back."""

    def refused(self, response: Response, headers: dict[bytes, bytes], ticket: Any = None) -> Response:
        """A refusal of a request, or of what is none, with the headers that every answer has."""


class Connection(asyncio.Protocol):
    """Reads requests and writes responses; `deadline` is the moment by which something must happen."""

    def __init__(self, gate: Gate, limits: HttpLimits) -> None:
        self._gate, self._limits = gate, limits
        self._parser: Any = httptools.HttpRequestParser(self)  # None once the connection is lost
        self._transport: asyncio.Transport | None = None
        self._peer = ""
        self._waiting: deque[Request] = deque()
        self._current: Request | None = None
        self._ended = self._unread_answers = self._reading_paused = False
        self._deaf = False  # what still comes is not read
        self._reserved, self._holder = 0, ""  # of the request that is being read, and for which client
        self._refusal: Response | None = None  # to be told when the body has gone by
        self._known: KnownHead | None = None
        self._begun = self._strange = 0  # requests that began in the data at hand; heads that were not the known one
        self._known_client = False  # whether a request of it was let in, which takes a token where there are any
        self._quiet_since = time.monotonic()
        self.deadline = self._quiet_since + limits.head_s
        self._begin()

    def _begin(self) -> None:
        self._path = b""
        self._method = self._plain = ""
        self._reading = False
        self._twice = b""
        self._expected = False  # the client wants to be told before it sends the body
        self._ticket: Any = None
        self._headers: dict[bytes, bytes] = {}
        self._head_bytes = 0
        self._parts: list[bytes] = []
        self._size = 0

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        peer = transport.get_extra_info("peername")
        self._peer = str(peer[0]) if isinstance(peer, tuple) and peer else "local"
        if len(self._gate.connections) >= self._limits.connections and not self._make_room():
            self._deaf = self._ended = True  # and nobody looks after it: it is closed at once
            full = self._gate.refused(refuse(503, "too many connections", b"retry-after: 1\r\n"), {})
            transport.write(full.encode(keep_alive=False))
            transport.close()
            return
        self._gate.connections.add(self)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        is_first = self._current is None and not self._reading
        if is_first and self._known is not None and self._take_known(self._known, data):
            return
        self._begun = 0
        try:
            self._parse(data)
        except httptools.HttpParserError as error:
            self._refuse(self._refusal_of(400, f"not HTTP/1.1: {error}"))
        if is_first and self._begun == 1 and not self._reading and not self._deaf:
            self._remember(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._deaf = self._ended = True
        self._gate.connections.discard(self)
        self._give_back(self._reserved, self._holder)
        for request in (self._current, *self._waiting):
            if request is not None:
                self._give_back(request.size, request.holder)
                if request.on_abandon is not None:
                    request.on_abandon()
        self._reserved, self._current = 0, None
        self._waiting.clear()
        self._parser = self._transport = None  # each knows us: nothing of a connection shall wait for the collector
        self._begin()

    def pause_writing(self) -> None:
        self._unread_answers = True
        self.deadline = time.monotonic() + self._limits.write_s
        self._pause_reading()  # who does not read answers may not ask for more

    def resume_writing(self) -> None:
        self._unread_answers = False
        self.deadline = time.monotonic() + self._limits.idle_s
        self._go_on()

    # What the parser calls

    def on_message_begin(self) -> None:
        self._begin()
        self._reading = True
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        self._path += url
        self._head_bytes += len(url)
        if self._head_bytes > self._limits.head_bytes:
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > self._limits.head_bytes:
            self._refuse_head()
        if self._method:
            return  # behind the body: what was checked stays as it was
        name = name.lower()
        if name in self._headers and name in ONLY_ONCE:
            self._twice = name
        elif name == b"connection" and name in self._headers:
            value = self._headers[name] + b"," + value
        self._headers[name] = value

    def on_headers_complete(self) -> None:
        if self._deaf or self._is_to_be_read_again():
            return
        if self._current is None:
            self.deadline = time.monotonic() + self._limits.body_s
        self._method, self._plain = self._parser.get_method().decode("latin-1"), plain_path(self._path)
        declared = self._headers.get(b"content-length", b"0").strip()
        size = int(declared) if declared.isdigit() else 0
        unfit = unfit_head(self._headers, self._twice, self._parser.get_http_version())
        refusal = None if unfit is None else self._refusal_of(*unfit)
        if refusal is None:
            self._ticket = self._gate.check(self._method, self._plain, self._headers, self._peer)
            refusal = self._ticket if isinstance(self._ticket, Response) else None
            self._known_client = self._known_client or (refusal is None and bool(self._ticket.client))
        if refusal is None and size > self._limits.body_bytes:
            refusal = self._too_large()
        if refusal is None and size:
            refusal = self._reserve(size)
        if refusal is not None:
            is_long = size > SMALL or b"transfer-encoding" in self._headers or b"expect" in self._headers
            if is_long or self._parser.should_upgrade():  # then the parser does not read the body
                self._refuse(refusal)
            else:
                self._refusal = refusal
        elif self._headers.get(b"expect", b"").lower() == b"100-continue":
            self._expected = True
            self._go_on()

    def on_body(self, part: bytes) -> None:
        if self._deaf or self._refusal is not None:
            return
        self._size += len(part)
        if self._size > self._limits.body_bytes:
            self._refuse(self._too_large())
        elif self._size > self._reserved and (refusal := self._reserve(self._size - self._reserved)) is not None:
            self._refuse(refusal)
        else:
            self._parts.append(part)

    def on_message_complete(self) -> None:
        if self._deaf or self._is_to_be_read_again():
            return
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts = []  # or the connection would hold the body until the next one
        request = Request(self._method, self._plain, self._headers, body, self._peer, time.monotonic(), self._respond)
        request.ticket = self._refusal or self._ticket
        request.keep_alive = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self._deaf = not request.keep_alive
        self._refusal, self._reading, self._expected = None, False, False
        request.size, request.holder, self._reserved = self._reserved, self._holder, 0
        if self._current is None:
            self._start(request)
            return
        self._waiting.append(request)
        if len(self._waiting) >= WAITING:
            self._pause_reading()

    # Ours

    def _parse(self, data: bytes) -> None:
        """Give data to the parser; who offers another protocol is read, and answered, in this one.

        The parser takes what follows such a head for that protocol: it gets the head once more, without the offer.
        """
        for _ in range(WAITING):
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                if self._deaf or not self._is_to_be_read_again():
                    self._deaf = True  # it was answered, and is closed
                    return
                start = self._parser.get_method(), self._path, self._parser.get_http_version().encode()
                data = head_without_offer(start, self._headers) + data[upgrade.args[0] :]
                self._parser = httptools.HttpRequestParser(self)
        self._refuse(self._refusal_of(400, "too many offers of another protocol at once; this is HTTP/1.1"))

    def _is_to_be_read_again(self) -> bool:
        """Whether the head offers to go on in another protocol, which is not followed."""
        return bool(self._parser.should_upgrade()) and b"upgrade" in self._headers and not self._twice

    def _take_known(self, known: KnownHead, data: bytes) -> bool:
        """Take on a request whose head was read before; False where it must be read."""
        body = known.body_of(data)
        if body is None or len(body) > self._limits.body_bytes:
            self._known, self._strange = None, self._strange + 1
            return False
        known.ticket = ticket = self._gate.check(known.method, known.path, known.headers, self._peer, known.ticket)
        request = Request(known.method, known.path, known.headers, body, self._peer, time.monotonic(), self._respond)
        if not isinstance(ticket, Response) and body:
            refusal = self._gate.reserve(len(body), ticket)
            if refusal is None:
                request.size, request.holder = len(body), ticket.client
            else:
                ticket = self._gate.refused(refusal, known.headers, ticket)
        request.ticket = ticket
        self._start(request)
        return True

    def _remember(self, data: bytes) -> None:
        """Remember the head of the request that this data was, all of it and nothing else."""
        if self._strange < STRANGE and self._size and not isinstance(self._ticket, Response):
            self._known = KnownHead.of(data[: -self._size], self._method, self._plain, self._headers)

    def end_if_late(self, now: float) -> None:
        """Cut off a client that has not done in time what it had to do."""
        if now < self.deadline or self._transport is None:
            return
        if self._current is not None and not self._transport.get_write_buffer_size():
            return  # it waits for us
        if self._reading and not self._deaf and self._current is None:
            self._refuse(self._refusal_of(408, "the request took too long to arrive"))
        else:
            self._transport.abort()

    def close_if_idle(self) -> None:
        """Close a connection on which nothing is under way."""
        if self._current is None and self._transport is not None and not self._reserved:
            self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest, those of strangers first; False where all are at work."""
        idle = [other for other in self._gate.connections if other._may_be_closed()]
        if not idle:
            return False
        last = min(idle, key=Connection._worth)
        self._gate.connections.discard(last)
        last.abort()
        return True

    def _worth(self) -> tuple[bool, bool, float]:
        return self._known_client, self._known_client and self._reading, self._quiet_since

    def _may_be_closed(self) -> bool:
        """Whether nothing is lost with it: no request is under way, and no answer to a client we know."""
        if self._current is not None or self._reserved or self._transport is None:
            return False
        return not self._known_client or not self._transport.get_write_buffer_size()

    def _refuse_head(self) -> None:
        if not self._deaf:
            self._refuse(self._refusal_of(431, "the headers are too long"))

    def _too_large(self) -> Response:
        return self._refusal_of(
            413, f"the body is larger than {self._limits.body_bytes} bytes; send fewer samples a request"
        )

    def _refusal_of(self, status: int, message: str) -> Response:
        known = (self._headers, self._ticket) if self._reading else ({}, None)  # else those are of the request before
        return self._gate.refused(refuse(status, message), *known)

    def _reserve(self, size: int) -> Response | None:
        refusal = self._gate.reserve(size, self._ticket, self._reserved)
        if refusal is None:
            self._reserved, self._holder = self._reserved + size, self._ticket.client
            return None
        return self._gate.refused(refusal, self._headers, self._ticket)

    def _give_back(self, size: int, client: str) -> None:
        if size:
            self._gate.release(size, client)

    def _start(self, request: Request) -> None:
        self._current = request
        if isinstance(request.ticket, Response):
            self._respond(request.ticket, b"")
        else:
            self._gate.handle(request, request.ticket)

    def _respond(self, response: Response, head: bytes) -> None:
        """Write the answer to the current request, and go on with the next."""
        request, self._current = self._current, None
        if self._transport is None or self._ended or request is None:
            return
        if request.size:
            self._gate.release(request.size, request.holder)
        is_last = self._gate.draining and not self._waiting
        keep_alive = request.keep_alive and not response.close and not is_last
        if keep_alive and b"connection" in request.headers:
            head += b"connection: keep-alive\r\n"  # who asks for it, as HTTP/1.0 must, wants to be told
        self._transport.write(response.encode(head, keep_alive=keep_alive, with_body=request.method != "HEAD"))
        if not keep_alive:
            self._close(at_once=not response.close)
            return
        is_read = self._transport.get_write_buffer_size() == 0
        self._quiet_since = time.monotonic()
        self.deadline = self._quiet_since + (self._limits.idle_s if is_read else self._limits.write_s)
        if self._waiting or self._reading_paused or self._expected:
            self._go_on()

    def _go_on(self) -> None:
        """Take the next request, unless the client has to read first."""
        if self._unread_answers or self._ended or self._transport is None or self._transport.is_closing():
            return
        if self._waiting and self._current is None:
            self._start(self._waiting.popleft())
        if self._expected and self._current is None and not self._deaf:
            self._expected = False
            self._transport.write(CONTINUE)
        if self._reading_paused and len(self._waiting) < WAITING:
            self._reading_paused = False
            self._transport.resume_reading()

    def _pause_reading(self) -> None:
        if self._transport is not None and not self._reading_paused and not self._transport.is_closing():
            self._reading_paused = True
            self._transport.pause_reading()

    def _refuse(self, response: Response) -> None:
        """Answer, when everything before is answered, and close; what comes behind is not read."""
        if self._deaf:
            return
        self._deaf, response.close = True, True
        refused = Request(self._method, self._plain, {}, b"", self._peer, time.monotonic(), self._respond)
        refused.ticket = response
        refused.size, refused.holder, self._reserved = self._reserved, self._holder, 0
        if self._current is None:
            self._start(refused)
        else:
            self._waiting.append(refused)

    def _close(self, *, at_once: bool) -> None:
        """Close; where the client may still be sending it must get to read the answer first."""
        assert self._transport is not None
        self._ended = True
        if at_once or not self._transport.can_write_eof():
            self._transport.close()
        else:
            self._transport.write_eof()
            self.deadline = time.monotonic() + LINGER_S
