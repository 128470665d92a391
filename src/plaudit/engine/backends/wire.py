"""Frames between a scorer and its workers: a length, then a pickle.

Both ends run the same trusted code on one machine; what a model wrote travels inside as plain text. Frames of the
parent are units of work, frames of a worker are the outputs of one unit's next samples.
"""

import os
import pickle
import struct
from collections.abc import Iterator
from typing import Any

from plaudit.contract.output import RewardOutput, Status

__all__ = ["Frames", "packed", "read_exactly", "restored", "slim", "write_all"]

_LENGTH = struct.Struct("<Q")


def packed(value: Any) -> bytes:
    """A value as one frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def slim(output: RewardOutput) -> Any:
    """An output as it travels: the usual kind as a few numbers, since pickling whole outputs costs the most."""
    if output.status is Status.OK and not output.metadata and not output.components and output.token_rewards is None:
        return output.reward, output.score, output.reason, output.latency_s
    return output


def restored(travelled: Any) -> RewardOutput:
    """The output that `slim` was given."""
    if isinstance(travelled, RewardOutput):
        return travelled
    reward, score, reason, latency_s = travelled
    return RewardOutput(reward, score=score, reason=reason, latency_s=latency_s)


def write_all(descriptor: int, frame: bytes) -> None:
    """Write a frame to a blocking descriptor."""
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]


def read_exactly(descriptor: int) -> Any:
    """The value of the next frame of a blocking descriptor; EOFError when the other end is gone."""
    (length,) = _LENGTH.unpack(_bytes(descriptor, _LENGTH.size))
    return pickle.loads(_bytes(descriptor, length))


def _bytes(descriptor: int, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = os.read(descriptor, min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError("the other end is gone")
        parts += part
    return bytes(parts)


class Frames:
    """Bytes as they arrive, given back as whole values; half a frame waits for its rest."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, part: bytes) -> Iterator[Any]:
        self._bytes += part
        place = 0
        while len(self._bytes) - place >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._bytes, place)
            end = place + _LENGTH.size + length
            if len(self._bytes) < end:
                break
            with memoryview(self._bytes) as view, view[place + _LENGTH.size : end] as body:
                value = pickle.loads(body)
            place = end
            yield value
        del self._bytes[:place]
