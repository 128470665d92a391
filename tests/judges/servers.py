"""Chat servers on this machine that answer as a test says; what they were asked is kept."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}


@dataclass
class Reply:
    """What a server does with one request: an HTTP status, and a body that is made from the text unless it is given."""

    text: str | None = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    finish_reason: str | None = "stop"
    message: dict[str, Any] = field(default_factory=dict)
    wait_s: float = 0.0
    drop: bool = False

    def encode(self) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.text, **self.message}
        choice = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        return json.dumps({"object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()


class ChatServer(ThreadingHTTPServer):
    """Answers with what `answer` makes of a request's body."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, answer: Callable[[dict[str, Any]], Reply | str]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_under_way = self._under_way = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # headers and body are two packets: the second would wait for 40 ms

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with server.under_way():
                    server.requests.append(body)
                    server.headers.append({name.lower(): value for name, value in self.headers.items()})
                    reply = server.answer(body)
                    reply = Reply(reply) if isinstance(reply, str) else reply
                    if reply.wait_s:
                        time.sleep(reply.wait_s)
                    if reply.drop:
                        self.close_connection = True
                        return
                    content = reply.encode()
                    self.send_response(reply.status)
                    for name, value in {**reply.headers, "content-length": str(len(content))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Say nothing."""

        super().__init__(("127.0.0.1", 0), Handler)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        with self._lock:
            self._under_way += 1
            self.most_under_way = max(self.most_under_way, self._under_way)
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no error of a test."""


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Reply | str]) -> Iterator[ChatServer]:
    server = ChatServer(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def code_of(body: dict[str, Any]) -> str:
    """The code that a request names, as a judge finds it before the material."""
    return str(body["messages"][-1]["content"]).partition("tags that end in -")[2].partition(",")[0]


def verdict(body: dict[str, Any], **values: Any) -> str:
    """An honest verdict in JSON."""
    return json.dumps({"code": code_of(body), "reasoning": "because", **values})
