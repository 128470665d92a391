"""Ask a server by hand, with nothing but the standard library."""

import contextlib
import http.client
import json
import re
import socket
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Answered(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(address: str, path: str, body: Any = None, method: str | None = None, **headers: str) -> Answered:
    """GET, or POST where there is a body; what is not bytes is sent as JSON."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if data is not None else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method or ("GET" if data is None else "POST"), path, data, {**sent, **named})
        answer = connection.getresponse()
        return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def samples(*responses: str, truth: str = "yes") -> dict[str, Any]:
    """A request for `/score`."""
    return {"trajectories": [{"prompt": "?", "response": each, "ground_truth": truth} for each in responses]}


def metric(address: str, name: str, **labels: str) -> float:
    """The current value of a metric of a server; 0 where it has none."""
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    for line in ask(address, "/metrics").body.decode().splitlines():
        if re.match(rf"{name}[ {{]", line) and all(each in line for each in wanted):
            return float(line.rpartition(" ")[2])
    return 0.0


def send(server: Any, *parts: bytes, wait_s: float = 5.0, pause_s: float = 0.0) -> bytes:
    """Send bytes as they are, part by part; what comes back until the server closes."""
    place = urlsplit(server.address)
    with socket.create_connection((place.hostname, place.port), timeout=wait_s) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = b""
        with contextlib.suppress(ConnectionError):  # it may be closed before the end
            for part in parts:
                connection.sendall(part)
                time.sleep(pause_s)
            while part := connection.recv(65536):
                answer += part
        return answer


def wait_until(true: Callable[[], object]) -> None:
    """Return when something is so."""
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
