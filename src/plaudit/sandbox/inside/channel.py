"""Frames between the judge and a candidate's process: a length, then that many bytes of text.

The candidate may write whatever it likes here; the judge's end counts bytes and time.
"""

import os
import struct
from collections.abc import Callable

__all__ = ["CHANNEL", "READY", "frame", "reading", "writing"]

CHANNEL = 3  # the descriptor of a child's end
CHUNK = 1 << 16
READY = b"K"  # a child's first byte, written before it has seen anything of a candidate

_LENGTH = struct.Struct("<I")


def frame(text: str) -> bytes:
    """A text as one frame."""
    body = text.encode("utf-8", "surrogatepass")
    return _LENGTH.pack(len(body)) + body


def reading(descriptor: int = CHANNEL) -> Callable[[], str | None]:
    """A function that gives the next frame's text, or None when the other end is gone.

    What it needs is bound here, so that a program which replaces `os.read` by accident is still answered.
    """
    read, unpack, size = os.readv, _LENGTH.unpack_from, _LENGTH.size
    waiting, room = bytearray(), bytearray(CHUNK)  # made once: memory is what a child pays for
    rooms, view = (room,), memoryview(room)

    def next_text() -> str | None:
        while True:
            if len(waiting) >= size:
                end = size + unpack(waiting)[0]
                if len(waiting) >= end:
                    text = waiting[size:end].decode("utf-8", "surrogatepass")
                    del waiting[:end]
                    return text
            count = read(descriptor, rooms)
            if not count:
                return None
            waiting.extend(view[:count])

    return next_text


def writing(descriptor: int = CHANNEL) -> Callable[[str], None]:
    """A function that writes a text as a frame."""
    write, pack = os.write, frame

    def put(text: str) -> None:
        left = memoryview(pack(text))
        while left:
            left = left[write(descriptor, left) :]

    return put
