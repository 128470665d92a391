"""A running endpoint, and time that passes at once."""

import threading
from collections.abc import Iterator

import pytest

from tests.endpoint.judging import Endpoint, Server, Time


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    server = Server(("127.0.0.1", 0), endpoint.handler())
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield endpoint
    endpoint.ended.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def quick() -> Time:
    return Time()
