"""Messages between plaudit and a workspace: a JSON head and bytes, over a stream socket."""

import json
import socket
import struct
from typing import Any

_SIZES = struct.Struct("<IQ")


class Lost(ConnectionError):
    """The other side is gone."""


def send(channel: socket.socket, head: dict[str, Any], body: bytes = b"") -> None:
    """Send one message."""
    text = json.dumps(head).encode()
    channel.sendall(_SIZES.pack(len(text), len(body)) + text)
    channel.sendall(body)


def receive(channel: socket.socket) -> tuple[dict[str, Any], bytes]:
    """Wait for one message."""
    head_size, body_size = _SIZES.unpack(_exactly(channel, _SIZES.size))
    head: dict[str, Any] = json.loads(_exactly(channel, head_size))
    return head, _exactly(channel, body_size)


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = channel.recv(min(size - len(data), 1 << 20))
        if not part:
            raise Lost("the connection was closed")
        data += part
    return bytes(data)
