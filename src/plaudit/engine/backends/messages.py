"""Messages between a scorer and its workers: units of work there, outputs back, each a pickle in a frame.

Both ends run the same trusted code on one machine; what a model wrote travels inside as plain text.
"""

import pickle
import struct
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.frames import FrameBuffer, frame, read_frame

__all__ = ["OUTGROWN", "Answers", "encode_answer", "encode_value", "read_value"]

OUTGROWN = 75
"""The exit code of a worker that asks to be replaced, since what its reward keeps has outgrown its limit."""

_OK = Status.OK
_BARE = struct.Struct("<cdd")
_BARE_MARK = b"n"  # no pickle begins so


def encode_value(value: Any) -> bytes:
    """A value as one frame."""
    return frame(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def encode_answer(output: RewardOutput) -> bytes:
    """An output as one frame; a bare number travels as such, since pickling costs more than scoring may."""
    if (
        output.status is _OK
        and output.score is None
        and not output.reason
        and not output.metadata
        and not output.components
        and output.token_rewards is None
    ):
        return frame(_BARE.pack(_BARE_MARK, output.reward, output.latency_s or 0.0))
    return encode_value(output)


def read_value(descriptor: int) -> Any:
    """The value of the next frame of a blocking descriptor; EOFError when the other end is gone."""
    return pickle.loads(read_frame(descriptor))


class Answers:
    """Bytes as they arrive, given back as whole values."""

    def __init__(self) -> None:
        self._buffer = FrameBuffer()

    def feed(self, part: bytes) -> list[Any]:
        """The values that are whole with this part."""
        self._buffer.feed(part)
        values: list[Any] = []
        while (body := self._buffer.next()) is not None:
            values.append(_decode(body))
        return values


def _decode(body: bytes) -> Any:
    if body[:1] == _BARE_MARK:
        _, reward, latency_s = _BARE.unpack(body)
        return RewardOutput(reward, latency_s=latency_s)
    return pickle.loads(body)
