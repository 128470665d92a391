"""Messages between a parent and its workers. Both run the same trusted code on one machine.

A sample travels in a pickle of its own: it shares nothing with other samples, and one that cannot be written or read
fails alone. Outputs travel as plain tuples, which pickle reads and writes several times faster than objects.
"""

import pickle
import struct
from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple

from plaudit.contract.output import RewardOutput, Status
from plaudit.trajectory import Trajectory

OUTPUT, STARTED, ENDED, RESULT = b"o", b"s", b"e", b"r"
"""The first byte of a worker's message: the next sample's output, a call that starts or has ended, a unit's result."""

_OK = Status.OK
_NUMBER = struct.Struct("<ccdd")
_MARK = b"n"


def pack_sample(sample: Trajectory) -> bytes:
    """A sample in bytes; raises whatever its values raise if they cannot be pickled."""
    return pickle.dumps(astuple(sample), pickle.HIGHEST_PROTOCOL)


def unpack_sample(packed: bytes) -> Trajectory:
    """The sample that `pack_sample` wrote."""
    return Trajectory(*pickle.loads(packed))


def encode_output(output: RewardOutput) -> bytes:
    """An output as the message OUTPUT; a bare number is packed without pickle."""
    if (
        output.status is _OK
        and output.score is None
        and not output.reason
        and not output.metadata
        and not output.components
        and output.token_rewards is None
        and output.token_unit == "word"
    ):
        return _NUMBER.pack(OUTPUT, _MARK, output.reward, output.latency_s or 0.0)
    return OUTPUT + pickle.dumps(_as_tuple(output), pickle.HIGHEST_PROTOCOL)


def decode_output(message: bytes) -> RewardOutput:
    """The output of a message OUTPUT."""
    if message[1:2] == _MARK and len(message) == _NUMBER.size:
        _, _, reward, latency_s = _NUMBER.unpack(message)
        return RewardOutput(reward, latency_s=latency_s)
    return _as_output(pickle.loads(memoryview(message)[1:]))


def pack_outputs(outputs: Sequence[RewardOutput]) -> bytes:
    """Outputs in bytes."""
    return pickle.dumps(list(map(_as_tuple, outputs)), pickle.HIGHEST_PROTOCOL)


def unpack_outputs(packed: bytes) -> list[RewardOutput]:
    """The outputs that `pack_outputs` wrote."""
    return list(map(_as_output, pickle.loads(packed)))


def _as_tuple(output: RewardOutput) -> tuple[Any, ...]:
    components = {name: _as_tuple(part) for name, part in output.components.items()} if output.components else None
    return (
        output.reward, output.token_rewards, output.metadata or None, output.score,
        None if output.status is _OK else output.status.value, output.reason, components, output.token_unit,
        output.latency_s,
    )  # fmt: skip


def _as_output(plain: tuple[Any, ...]) -> RewardOutput:
    reward, token_rewards, metadata, score, status, reason, components, token_unit, latency_s = plain
    return RewardOutput(
        reward,
        token_rewards,
        metadata or {},
        score,
        _OK if status is None else Status(status),
        reason,
        {name: _as_output(part) for name, part in components.items()} if components else {},
        token_unit,
        latency_s,
    )
