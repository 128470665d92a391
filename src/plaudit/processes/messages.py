"""Messages between a parent and its workers. Both run the same trusted code on one machine.

A sample travels in a pickle of its own: it shares nothing with other samples, and one that cannot be written or read
fails alone. Outputs travel in msgpack, which is several times faster, or as a pickle if they hold what msgpack cannot.
"""

import pickle
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import astuple

from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

OUTPUT, STARTED, ENDED, RESULT = b"o", b"s", b"e", b"r"
"""The first byte of a worker's message: the next sample's output, a call that starts or has ended, a unit's result."""

_PICKLE = pickle.dumps(None, pickle.HIGHEST_PROTOCOL)[0]  # begins neither an output nor a list in msgpack
_NOT_PACKED = (OverflowError, UnicodeEncodeError, TypeError, ValueError, RecursionError)
_encoder = msgspec.msgpack.Encoder()
_output, _outputs = msgspec.msgpack.Decoder(RewardOutput), msgspec.msgpack.Decoder(list[RewardOutput])


def pack_sample(sample: Trajectory) -> bytes:
    """A sample in bytes; raises whatever its values raise if they cannot be pickled."""
    return pickle.dumps(astuple(sample), pickle.HIGHEST_PROTOCOL)


def unpack_sample(packed: bytes) -> Trajectory:
    """The sample that `pack_sample` wrote."""
    return Trajectory(*pickle.loads(packed))


def encode_output(output: RewardOutput) -> bytes:
    """An output as the message OUTPUT."""
    return OUTPUT + _encode(output)


def decode_output(message: bytes) -> RewardOutput:
    """The output of a message OUTPUT."""
    packed = memoryview(message)[1:]
    output: RewardOutput = pickle.loads(packed) if packed[0] == _PICKLE else _output.decode(packed)
    return output


def pack_outputs(outputs: Sequence[RewardOutput]) -> bytes:
    """Outputs in bytes."""
    return _encode(list(outputs))


def unpack_outputs(packed: bytes) -> list[RewardOutput]:
    """The outputs that `pack_outputs` wrote."""
    outputs: list[RewardOutput] = pickle.loads(packed) if packed[0] == _PICKLE else _outputs.decode(packed)
    return outputs


def _encode(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except _NOT_PACKED:  # integers of more than 64 bits, lone surrogates
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
