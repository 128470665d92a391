"""slime's remote reward (`--rm-type remote_rm`): `{"prompt", "response", "label"}` → the reward as a bare number."""

from collections.abc import Sequence
from typing import Any

import msgspec

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory
from plaudit.serving.protocols.protocol import (
    About,
    RequestRefused,
    Samples,
    decode_message,
    encode_numbers,
    numbers_of,
)
from plaudit.trajectory import Trajectory


class RemoteRewardRequest(msgspec.Struct):
    """{"prompt": …, "response": …, "label": …}"""

    response: Any
    prompt: str | list[Any] = ""
    label: Any = None
    metadata: Any = None


class SlimeProtocol:
    """One sample per request; the answer is the reward."""

    path, packs, title = "remote_rm", False, "slime: --rm-type remote_rm"
    messages: tuple[Any, Any] = RemoteRewardRequest, float | None

    def read(self, body: bytes, *, packed: bool) -> Samples:
        request = decode_message(body, RemoteRewardRequest)
        metadata = request.metadata if type(request.metadata) is dict else {}
        try:
            return Samples([Trajectory(request.prompt, request.response, request.label, metadata)])
        except InvalidTrajectory as error:
            raise RequestRefused(422, str(error)) from None

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        return encode_numbers(numbers_of(outputs, about)[0])
