"""plaudit's own protocol: trajectories as lines of a rollouts file hold them, outputs as they are, statuses included.

In JSON or msgpack; msgpack also carries what JSON cannot: NaN, bytes, keys that are no text. Columns may have the names
of other systems, unless the request says `exact`, as our client does, whose samples have been read before.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidOutput, InvalidTrajectory, RolloutsError
from plaudit.rollouts import Rollout
from plaudit.rollouts.mapping import ColumnMapping
from plaudit.serving.protocols.protocol import About, RequestRefused, Samples, decode_plain, invalid_sample
from plaudit.trajectory import Trajectory

__all__ = ["NativeProtocol"]

_USUAL_NAMES = ColumnMapping()


class NativeProtocol:
    """`{"trajectories": [...]}` → `{"outputs": [...], "reward", "key", "version"}`."""

    path, packs, plain = "score", True, False

    def read(self, body: bytes, *, packed: bool) -> Samples:
        given = decode_plain(body, packed=packed)
        listed = given.get("trajectories") if type(given) is dict else None
        if type(listed) is not list:
            raise RequestRefused(422, 'expected {"trajectories": [{"prompt": …, "response": …}, …]}')
        if type(given.get("exact", False)) is not bool:
            raise RequestRefused(422, "exact is true or false")
        read_one = Trajectory.from_dict if given.get("exact") is True else _read_row
        samples = Samples([None] * len(listed))
        read: list[Trajectory | None] = []
        for place, plain in enumerate(listed):
            try:
                read.append(read_one(_expect_object(plain)))
            except (InvalidTrajectory, InvalidOutput, RolloutsError) as error:
                read.append(None)
                samples.invalid[place] = invalid_sample(place, error)
        samples.trajectories = read
        return samples

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        plain = {
            "outputs": [output.to_dict() for output in outputs],
            "reward": about.name,
            "key": about.key,
            "version": about.version,
        }
        return msgspec.msgpack.encode(plain) if packed else jsonline.encode(plain)


def _expect_object(plain: Any) -> dict[str, Any]:
    if type(plain) is not dict:
        raise InvalidTrajectory(f"expected an object with prompt and response, got {type(plain).__name__}")
    if not all(type(name) is str for name in plain):
        raise InvalidTrajectory("the names of columns are text")
    return plain


def _read_row(plain: dict[str, Any]) -> Trajectory:
    return Rollout.from_dict(_USUAL_NAMES.rename(plain)).trajectory
