"""Length-prefixed frames: how processes of plaudit talk over pipes and sockets.

A frame is a length and that many bytes; what the bytes mean is the business of both ends. Depends on nothing, since
the process that runs untrusted programs imports it too.
"""

import os
import select
import struct
import time
from collections.abc import Callable

CHUNK = 1 << 16
_LENGTH = struct.Struct("<I")


class FrameTooLong(ValueError):
    """The declared length of a frame exceeds the receiver's limit."""


class FrameBuffer:
    """Bytes as they arrive, given back as whole frames; half a frame waits for its rest."""

    def __init__(self, limit: int | None = None) -> None:
        self._bytes, self._limit = bytearray(), limit

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, part: bytes) -> None:
        """Add bytes that have arrived."""
        self._bytes += part

    def next(self) -> bytes | None:
        """The body of the next frame; None while it is not whole, FrameTooLong where it is over the limit."""
        waiting = self._bytes
        if len(waiting) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(waiting)
        self._check(length)
        end = _LENGTH.size + length
        if len(waiting) < end:
            return None
        body = bytes(memoryview(waiting)[_LENGTH.size : end])
        del waiting[:end]
        return body

    def take_all(self) -> list[bytes]:
        """The bodies of all frames that are whole."""
        bodies, begin, size = list[bytes](), 0, len(self._bytes)
        with memoryview(self._bytes) as waiting:
            while size - begin >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(waiting, begin)
                self._check(length)
                end = begin + _LENGTH.size + length
                if end > size:
                    break
                bodies.append(bytes(waiting[begin + _LENGTH.size : end]))
                begin = end
        del self._bytes[:begin]
        return bodies

    def _check(self, length: int) -> None:
        if self._limit is not None and length > self._limit:
            raise FrameTooLong(f"a frame of {length} bytes where {self._limit} are allowed")


def frame(body: bytes) -> bytes:
    """A body as one frame."""
    return _LENGTH.pack(len(body)) + body


def write_all(descriptor: int, data: bytes) -> None:
    """Write bytes to a blocking descriptor, all of them."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def write_frame(descriptor: int, body: bytes = b"") -> None:
    """Write one frame to a blocking descriptor, whole."""
    write_all(descriptor, frame(body))


def read_frame(descriptor: int, deadline: float | None = None) -> bytes:
    """The next frame; EOFError when the other end is gone, TimeoutError past the deadline (of `time.monotonic`)."""
    (length,) = _LENGTH.unpack(_read_exactly(descriptor, _LENGTH.size, deadline))
    return _read_exactly(descriptor, length, deadline)


def _read_exactly(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        if deadline is not None and not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError("no frame within the deadline")
        part = os.read(descriptor, min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError("the other end is gone")
        parts += part
    return bytes(parts)


def frame_reader(descriptor: int) -> Callable[[], bytes | None]:
    """A function that gives the next frame's body, or None when the other end is gone.

    What it needs is bound here, so that a program which replaces `os.read` by accident is still answered, and memory is
    made once, since a forked process pays for every page it writes.
    """
    read, unpack, size = os.readv, _LENGTH.unpack_from, _LENGTH.size
    waiting, chunk = bytearray(), bytearray(CHUNK)
    chunks, view = (chunk,), memoryview(chunk)

    def next_body() -> bytes | None:
        while True:
            if len(waiting) >= size:
                end = size + unpack(waiting)[0]
                if len(waiting) >= end:
                    body = bytes(memoryview(waiting)[size:end])
                    del waiting[:end]
                    return body
            count = read(descriptor, chunks)
            if not count:
                return None
            waiting.extend(view[:count])

    return next_body


def frame_writer(descriptor: int) -> Callable[[bytes], None]:
    """A function that writes a body as a frame."""
    write, pack = os.write, frame

    def put(body: bytes) -> None:
        left = memoryview(pack(body))
        while left:
            left = left[write(descriptor, left) :]

    return put
