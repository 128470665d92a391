"""plaudit's own protocol: trajectories as in a rollouts file, outputs with statuses.

In JSON or msgpack; msgpack also carries what JSON cannot: NaN, bytes, keys that are not text. Columns may have the
names of other systems, unless the request says `exact`, as our client does.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.columns import ColumnMapping
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory
from plaudit.serving.protocols.protocol import About, Samples, decode_message, invalid_sample
from plaudit.trajectory import Trajectory

_OWN_NAMES = ColumnMapping(usual_names=False)
_TEXT = frozenset({str})


class ScoreRequest(msgspec.Struct):
    """{"trajectories": [{"prompt": …, "response": …}, …]}"""

    trajectories: list[Any]
    exact: bool = False


class ScoreAnswer(msgspec.Struct):
    """One output for each trajectory, in order."""

    outputs: list[RewardOutput]
    reward: str
    key: str
    version: str


class NativeProtocol:
    """`{"trajectories": [...]}` → `{"outputs": [...], "reward", "key", "version"}`."""

    path, packs, title = "score", True, "plaudit: trajectories to outputs"
    messages: tuple[Any, Any] = ScoreRequest, ScoreAnswer

    def read(self, body: bytes, *, packed: bool) -> Samples:
        request = decode_message(body, ScoreRequest, packed=packed)
        read: list[Trajectory | None] = []
        invalid: dict[int, RewardOutput] = {}
        for index, plain in enumerate(request.trajectories):
            try:
                read.append(_read_sample(plain, request.exact))
            except InvalidTrajectory as error:
                read.append(None)
                invalid[index] = invalid_sample(index, error)
        return Samples(read, invalid)

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        plain = {
            "outputs": [output.to_dict() for output in outputs],
            "reward": about.name,
            "key": about.key,
            "version": about.version,
        }
        return msgspec.msgpack.encode(plain) if packed else jsonline.encode(plain)


def _read_sample(plain: Any, exact: bool) -> Trajectory:
    if type(plain) is not dict:
        raise InvalidTrajectory(f"expected an object with prompt and response, got {type(plain).__name__}")
    if not _TEXT.issuperset(map(type, plain)):
        raise InvalidTrajectory("the names of columns must be text")
    return Trajectory.from_dict(plain, _OWN_NAMES) if exact else Trajectory.from_dict(plain)
