"""slime's remote reward (`--rm-type remote_rm`): `{"prompt", "response", "label"}` → the reward as a bare number."""

from collections.abc import Sequence
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.serving.protocols.protocol import (
    About,
    RequestRefused,
    Samples,
    Scored,
    decode_plain,
    encode_numbers,
    numbers_of,
)
from plaudit.trajectory import Trajectory

__all__ = ["SlimeProtocol"]


class SlimeProtocol:
    """One sample a request; its answer is what slime takes for the reward."""

    path, packs, plain = "remote_rm", False, True

    def read(self, body: bytes, *, packed: bool) -> Samples:
        asked = decode_plain(body)
        if type(asked) is not dict or "response" not in asked:
            raise RequestRefused(422, 'expected {"prompt": …, "response": …, "label": …}')
        return Samples([_sample(asked)])

    def write(self, samples: Samples, outputs: Sequence[Scored], about: About, *, packed: bool) -> bytes:
        return encode_numbers(numbers_of(outputs, about)[0])


def _sample(asked: dict[str, Any]) -> Trajectory:
    metadata = asked.get("metadata")
    try:
        return Trajectory(
            asked.get("prompt", ""),
            asked["response"],
            asked.get("label"),
            metadata if type(metadata) is dict else {},
        )
    except InvalidTrajectory as error:
        raise RequestRefused(422, str(error)) from None
