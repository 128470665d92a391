"""What travels between a scorer and its workers, as frames: units of work there, outputs back, each a pickle.

Both ends run the same trusted code on one machine; what a model wrote travels inside as plain text.
"""

import pickle
import struct
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.frames import FrameBuffer, frame, read_frame

__all__ = ["Frames", "packed", "packed_output", "read_exactly"]

_BARE = struct.Struct("<cdd")
_BARE_MARK = b"n"  # no pickle begins so


def packed(value: Any) -> bytes:
    """A value as one frame."""
    return frame(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


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
        return frame(_BARE.pack(_BARE_MARK, output.reward, output.latency_s or 0.0))
    return packed(output)


def read_exactly(descriptor: int) -> Any:
    """The value of the next frame of a blocking descriptor; EOFError when the other end is gone."""
    return pickle.loads(read_frame(descriptor))


class Frames:
    """Bytes as they arrive, given back as whole values."""

    def __init__(self) -> None:
        self._buffer = FrameBuffer()

    def feed(self, part: bytes) -> list[Any]:
        """The values that are whole with this part."""
        self._buffer.feed(part)
        values: list[Any] = []
        while (body := self._buffer.next()) is not None:
            values.append(_value(body))
        return values


def _value(body: bytes) -> Any:
    if body[:1] == _BARE_MARK:
        _, reward, latency_s = _BARE.unpack(body)
        return RewardOutput(reward, latency_s=latency_s)
    return pickle.loads(body)
