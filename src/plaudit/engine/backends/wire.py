"""Frames between a scorer and its workers: a length, then a pickle.

Both ends run the same trusted code on one machine; what a model wrote travels inside as plain text. Frames of the
parent are units of work, frames of a worker are outputs, one by one.
"""

import os
import pickle
import struct
from typing import Any

from plaudit.contract.output import RewardOutput, Status

__all__ = ["Frames", "packed", "packed_output", "read_exactly", "write_all"]

_LENGTH = struct.Struct("<Q")
_BARE = struct.Struct("<Qdd")
_BARE_MARK = (1 << 63) | 16  # a length that no pickle has


def packed(value: Any) -> bytes:
    """A value as one frame."""
    body = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def packed_output(output: RewardOutput) -> bytes:
    """An output as one frame; a bare number travels as such, since pickling costs more than scoring may."""
    if (
        output.status is Status.OK
        and output.score is None
        and not output.reason
        and not output.metadata
        and not output.components
        and output.token_rewards is None
    ):
        return _BARE.pack(_BARE_MARK, output.reward, output.latency_s or 0.0)
    return packed(output)


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

    def feed(self, part: bytes) -> list[Any]:
        """The values that are whole with this part."""
        self._bytes += part
        values: list[Any] = []
        place, end = 0, len(self._bytes)
        with memoryview(self._bytes) as view:
            while end - place >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(view, place)
                if length == _BARE_MARK:
                    if end - place < _BARE.size:
                        break
                    _, reward, latency_s = _BARE.unpack_from(view, place)
                    values.append(RewardOutput(reward, latency_s=latency_s))
                    place += _BARE.size
                    continue
                start = place + _LENGTH.size
                if end - start < length:
                    break
                values.append(pickle.loads(view[start : start + length]))
                place = start + length
        del self._bytes[:place]
        return values
