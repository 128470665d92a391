"""Encode samples for a server and decode its answer: plaudit's protocol, or OpenRLHF's."""

import json
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from plaudit import jsonline
from plaudit.contract.output import RewardOutput
from plaudit.dialects.systems.openrlhf import read_outputs, request_columns
from plaudit.errors import InvalidOutput
from plaudit.remote.servers import Reply
from plaudit.trajectory import Trajectory

_JSON, _MSGPACK = "application/json", "application/msgpack"
_NOT_PACKED = (OverflowError, UnicodeEncodeError, TypeError, ValueError)


class ClientProtocol(Protocol):
    """One protocol, from the client's side."""

    path: str

    def encode(self, trajectories: Sequence[Trajectory]) -> tuple[bytes, str]:
        """The body of a request and its content type; NotPlain if a sample cannot be sent."""

    def read(self, reply: Reply, count: int) -> list[RewardOutput]:
        """One output per sample; InvalidOutput if the answer cannot be read."""


class NativeClientProtocol:
    """Outputs with statuses, in msgpack; in JSON where msgpack cannot hold a sample (numbers over 64 bits)."""

    path = "/score"

    def encode(self, trajectories: Sequence[Trajectory]) -> tuple[bytes, str]:
        request = {"trajectories": [trajectory.to_dict() for trajectory in trajectories], "exact": True}
        try:
            return msgspec.msgpack.encode(request), _MSGPACK
        except _NOT_PACKED:
            return jsonline.encode(request), _JSON

    def read(self, reply: Reply, count: int) -> list[RewardOutput]:
        packed = _MSGPACK in reply.headers.get("content-type", "")
        try:
            answer = _scored.decode(reply.body) if packed else msgspec.convert(jsonline.decode(reply.body), _Scored)
        except (msgspec.DecodeError, ValueError, TypeError, RecursionError) as error:
            raise InvalidOutput(f"the server's answer cannot be read: {error}") from None
        if len(answer.outputs) != count:
            raise InvalidOutput(f"the server answered {len(answer.outputs)} outputs for {count} samples")
        return answer.outputs


class _Scored(msgspec.Struct):
    """The part of an answer that is used."""

    outputs: list[RewardOutput]


_scored = msgspec.msgpack.Decoder(_Scored)


class OpenRLHFClientProtocol:
    """Numbers for texts: any server that OpenRLHF's `--remote_rm_url` could name."""

    path = ""

    def encode(self, trajectories: Sequence[Trajectory]) -> tuple[bytes, str]:
        return jsonline.encode(request_columns(trajectories)), _JSON

    def read(self, reply: Reply, count: int) -> list[RewardOutput]:
        try:
            answered = msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            answered = _decode_with_nan(reply.body)
        return read_outputs(answered, count)


def _decode_with_nan(body: bytes) -> Any:
    """JSON as Python servers write it, where a reward may be NaN."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidOutput(f"the server's answer is not JSON: {error}") from None
