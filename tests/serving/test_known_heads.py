"""A head that a connection has sent before: read once, and understood as if it were read every time."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from plaudit.serving import ServerSettings, ServerThread
from plaudit.serving.http.connection import STRANGE
from plaudit.serving.http.known_head import KnownHead
from tests.serving.asking import wait_until
from tests.serving.conftest import settings

TOKEN, NEXT = "a-token-of-16-characters", "another-token-of-ours"
HEAD = b"POST /get_reward HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
BODY = json.dumps({"query": ["yes"], "labels": ["yes"]}).encode()


def with_length(length: bytes, body: bytes = BODY) -> bytes:
    return HEAD + b"content-length: " + length + b"\r\n\r\n" + body


def post(asked: object) -> bytes:
    body = json.dumps(asked).encode()
    return with_length(b"%d" % len(body), body)


PLAIN = with_length(b"%d" % len(BODY))
LONGER = post({"query": ["yes", "no", "yes!"], "labels": ["yes"] * 3})


class Line:
    """A connection by hand: bytes go out as they are, answers come back whole."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._socket = socket.create_connection((place.hostname, place.port), timeout=10)
        self._read = b""

    def send(self, *parts: bytes) -> None:
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):  # it may be closed before the end
            for part in parts:
                self._socket.sendall(part)

    def answer(self) -> bytes:
        """The next answer, without what differs from one to the next; empty where the connection was closed."""
        while (head := self._read.partition(b"\r\n\r\n"))[1] == b"" or len(head[2]) < _length(head[0]):
            part = b""
            with suppress(ConnectionError):
                part = self._socket.recv(1 << 16)
            if not part:
                return b""
            self._read += part
        self._read = head[2][_length(head[0]) :]
        return re.sub(rb"x-request-id: .*\r\n", b"", head[0] + b"\r\n\r\n" + head[2][: _length(head[0])])

    def ask(self, *parts: bytes) -> bytes:
        self.send(*parts)
        return self.answer()


def _length(head: bytes) -> int:
    found = re.search(rb"content-length: (\d+)", head)
    return int(found[1]) if found else 0


@contextmanager
def line_to(address: str) -> Iterator[Line]:
    line = Line(address)
    try:
        yield line
    finally:
        line._socket.close()


CASES = {
    "the same": [PLAIN],
    "another length": [LONGER],
    "leading zeros": [with_length(b"00%d" % len(BODY))],
    "no digits": [with_length(b"", BODY)],
    "a sign": [with_length(b"+%d" % len(BODY))],
    "no length at all": [HEAD + b"\r\n" + BODY],
    "an empty body": [with_length(b"0", b"")],
    "a length that no number holds": [with_length(b"9" * 30)],
    "a length that is too large": [with_length(b"99999999", b"")],
    "two lengths": [HEAD + b"content-length: 3\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY],
    "a body in two parts": [PLAIN[:-10], PLAIN[-10:]],
    "a head in two parts": [PLAIN[:50], PLAIN[50:]],
    "byte by byte": [bytes([byte]) for byte in PLAIN],
    "two at once": [PLAIN + LONGER],
    "one and a half": [PLAIN + PLAIN[:30], PLAIN[30:]],
    "a body that looks like a request": [with_length(b"%d" % len(PLAIN), PLAIN)],
    "less than a request behind": [with_length(b"%d" % (len(BODY) - 1))],
    "another path": [PLAIN.replace(b"/get_reward", b"/nowhere...")],
    "another method": [PLAIN.replace(b"POST", b"PUT ")],
    "another type": [PLAIN.replace(b"application/json", b"application/text")],
    "one header more": [PLAIN.replace(b"\r\nhost", b"\r\nx-more: 1\r\nhost")],
    "the last one": [PLAIN.replace(b"\r\nhost", b"\r\nconnection: close\r\nhost")],
    "chunks": [HEAD + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)],
    "both": [HEAD + b"transfer-encoding: chunked\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY],
    "no JSON": [with_length(b"4", b"null"), with_length(b"1", b"{")],
}


@pytest.mark.parametrize("case", CASES)
def test_what_follows_a_known_head_is_answered_as_on_a_new_connection(server, case):
    def answers(line: Line) -> list[bytes]:
        line.send(*CASES[case], b"\r\n\r\nno request at all\r\n\r\n")
        return list(iter(line.answer, b""))

    with line_to(server.address) as fresh, line_to(server.address) as used:
        for _ in range(3):
            assert used.ask(PLAIN).startswith(b"HTTP/1.1 200")
        expected = answers(fresh)
        assert expected
        assert answers(used) == expected
    assert server.server.app.admission.requests == 0


def test_line_ends_behind_a_body_are_not_taken_for_a_part_of_it(server):
    """The parser passes over them, so that data may go on where the body ends."""
    next_one = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    start = b" " * (len(next_one) - 4) + b"\r\n\r\n"
    first, second = start + BODY, start + BODY.replace(b"yes", b"yes!")
    with line_to(server.address) as line:
        line.send(with_length(b"%d" % len(first), first) + b"\n" * len(next_one))
        assert line.answer().startswith(b"HTTP/1.1 200")
        line.send(with_length(b"%d" % len(second), second) + next_one)
        assert [line.answer()[:12] for _ in range(2)] == [b"HTTP/1.1 200"] * 2


def test_a_request_with_a_known_head_does_not_pass_the_parser(server):
    with line_to(server.address) as line:
        assert line.ask(PLAIN).startswith(b"HTTP/1.1 200")
        [connection] = [each for each in server.server.app.connections if each._known is not None]
        connection._parser = None  # whoever fed it now would fail
        assert line.ask(LONGER).endswith(b'"scores":[1.0,0.0,0.0],"extra_logs":{}}')


def test_heads_that_differ_each_time_are_remembered_no_longer(server):
    with line_to(server.address) as line:
        for number in range(3 * STRANGE):
            assert line.ask(PLAIN.replace(b"\r\nhost", b"\r\nx-more: %d\r\nhost" % number)).startswith(b"HTTP/1.1 200")
        [connection] = server.server.app.connections
        assert connection._known is None


def test_a_token_that_was_taken_back_is_refused_on_a_connection_that_used_it():
    with ServerThread(settings("mark", workers=1, tokens=(TOKEN,))) as running, line_to(running.address) as line:
        shown = PLAIN.replace(b"\r\nhost", b"\r\nauthorization: Bearer %b\r\nhost" % TOKEN.encode())
        assert [line.ask(shown)[:12] for _ in range(3)] == [b"HTTP/1.1 200"] * 3
        running.server.app.admit((NEXT,))
        assert [line.ask(shown)[:12] for _ in range(2)] == [b"HTTP/1.1 401"] * 2
        running.server.app.admit((TOKEN, NEXT))
        assert line.ask(shown).startswith(b"HTTP/1.1 200")


def test_a_reward_that_was_reloaded_answers_on_connections_that_knew_the_old_one(tmp_path):
    file = tmp_path / "version.py"
    file.write_text("def version(response): return 1.0\n")
    with (
        ServerThread(ServerSettings(rewards=(f"{file}:version",), port=0, workers=1)) as running,
        line_to(running.address) as line,
    ):
        old = [line.ask(PLAIN) for _ in range(3)][-1]
        file.write_text("def version(response): return 2.0\n")
        running.run(running.server.reload())
        new = line.ask(PLAIN)
    assert (b'"rewards":[1.0]' in old, b'"rewards":[2.0]' in new) == (True, True)
    assert re.search(rb"x-plaudit-key: .*", old)[0] != re.search(rb"x-plaudit-key: .*", new)[0]


def test_a_full_queue_refuses_known_heads_too():
    with ServerThread(settings("mark", workers=1, queue_requests=1)) as running, line_to(running.address) as line:
        assert [line.ask(PLAIN)[:12] for _ in range(2)] == [b"HTTP/1.1 200"] * 2
        with line_to(running.address) as other:
            other.send(post({"query": ["slow"]}))
            wait_until(lambda: running.server.app.admission.requests)
            assert line.ask(PLAIN).startswith(b"HTTP/1.1 429")
            assert other.answer().startswith(b"HTTP/1.1 200")
        assert line.ask(PLAIN).startswith(b"HTTP/1.1 200")
        assert running.server.app.admission.bytes == running.server.app.admission.requests == 0


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"\r\n",
        HEAD + b"content-length: 1\r\ncontent-length: 1\r\n\r\n",
        HEAD + b"content-length:  1\r\n\r\n",
        HEAD + b"content-length: 1\n\n",
    ],
)
def test_a_head_is_known_only_with_one_length_in_its_usual_place(head):
    assert KnownHead.of(head, "POST", "/get_reward", {}) is None


def test_a_connection_holds_no_body_that_was_answered(server):
    body = json.dumps({"query": ["yes" * 100_000]}).encode()
    with line_to(server.address) as line:
        assert line.ask(with_length(b"%d" % len(body), body)).startswith(b"HTTP/1.1 200")
        [connection] = server.server.app.connections
        assert sum(map(len, connection._parts)) == 0
