"""NeMo Gym's `/verify`: the request and the response of a model as the Responses API has them, and the reward beside.

The input of `responses_create_params` is the prompt; the text of the assistant's messages in `response.output` is the
response. The truth stands under any of its usual names; what else the body holds becomes columns and is sent back.
"""

import math
from collections.abc import Sequence
from typing import Any

from plaudit import jsonline
from plaudit.columns import FOREIGN_NAMES
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory
from plaudit.serving.protocols.protocol import (
    About,
    RequestRefused,
    Samples,
    decode_plain,
    encode_numbers,
    numbers_of,
)
from plaudit.trajectory import Trajectory, message_text

__all__ = ["NemoGymProtocol"]

_OWN = ("responses_create_params", "response", "reward", "reward_components")
_TRUTHS = ("ground_truth", "expected_answer", *FOREIGN_NAMES["ground_truth"])


class NemoGymProtocol:
    """One sample a request; the answer is the request and its reward."""

    path, packs, plain = "verify", False, False

    def read(self, body: bytes, *, packed: bool) -> Samples:
        asked = decode_plain(body)
        if type(asked) is not dict or "response" not in asked or "responses_create_params" not in asked:
            raise RequestRefused(
                422, 'expected {"responses_create_params": {"input": …}, "response": {"output": […]}, …}'
            )
        try:
            return Samples([_sample(asked)], context=asked)
        except InvalidTrajectory as error:
            raise RequestRefused(422, str(error)) from None

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        [reward], [output] = numbers_of(outputs, about), outputs
        parts = {name: part.reward for name, part in output.flat_components().items() if part.reward is not None}
        answer = {**samples.context, "reward": reward, **({"reward_components": parts} if parts else {})}
        return encode_numbers(answer) if reward is not None and math.isnan(reward) else jsonline.encode(answer)


def _sample(asked: dict[str, Any]) -> Trajectory:
    params = asked["responses_create_params"]
    if type(params) is not dict:
        raise InvalidTrajectory("responses_create_params must be an object with an input")
    given = params.get("input", "")
    named = next((name for name in _TRUTHS if name in asked), None)
    columns = {
        name: value
        for name, value in asked.items()
        if name not in _OWN and name != named and name not in Trajectory.FIELDS
    }
    return Trajectory(
        _messages(given) if type(given) is list else given,
        _response_text(asked["response"]),
        None if named is None else asked[named],
        columns=columns,
    )


def _messages(given: list[Any]) -> list[dict[str, Any]]:
    """Chat messages; what else the input of a model holds (calls of tools, outputs) has no role and is left out."""
    for place, item in enumerate(given):
        if type(item) is not dict or type(item.get("role", "")) is not str:
            raise InvalidTrajectory(f"responses_create_params.input[{place}] must be an object whose role is text")
    return [item for item in given if "role" in item]


def _response_text(response: Any) -> str:
    """What the assistant said, at the end of its turns."""
    output = response.get("output") if type(response) is dict else None
    if type(output) is not list or not all(type(item) is dict for item in output):
        raise InvalidTrajectory("response.output must be a list of items, as the Responses API has them")
    said = [
        message_text(item)
        for item in output
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant"
    ]
    return "".join(said)
