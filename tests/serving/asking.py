"""Ask a server by hand, with nothing but the standard library."""

import http.client
import json
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


def wait_until(true: Callable[[], object]) -> None:
    """Return when something is so."""
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
