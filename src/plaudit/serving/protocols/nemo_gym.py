"""NeMo Gym's `/verify`: the request and the response of a model in the form of the Responses API; adds the reward.

The input of `responses_create_params` is the prompt; the text of the assistant's messages in `response.output` is the
response. The ground truth may have any of its usual names; other fields of the body become columns and are sent back.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

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

_OWN = ("responses_create_params", "response", "reward", "reward_components")
_TRUTHS = ("ground_truth", "expected_answer", *FOREIGN_NAMES["ground_truth"])


class VerifyRequest(msgspec.Struct):
    """{"responses_create_params": {"input": …}, "response": {"output": […]}, …}"""

    responses_create_params: dict[str, Any]
    response: dict[str, Any]


class VerifyAnswer(VerifyRequest):
    """The request and its reward."""

    reward: float | None = None
    reward_components: dict[str, float] = {}


class NemoGymProtocol:
    """One sample per request; the answer is the request and its reward."""

    path, packs, title = "verify", False, "NeMo Gym: /verify"
    messages: tuple[Any, Any] = VerifyRequest, VerifyAnswer

    def read(self, body: bytes, *, packed: bool) -> Samples:
        request = decode_plain(body)
        try:
            msgspec.convert(request, VerifyRequest)
            return Samples([_sample(request)], context=request)
        except msgspec.ValidationError as error:
            raise RequestRefused(422, f"{error}; expected {VerifyRequest.__doc__}") from None
        except InvalidTrajectory as error:
            raise RequestRefused(422, str(error)) from None

    def write(self, samples: Samples, outputs: Sequence[RewardOutput], about: About, *, packed: bool) -> bytes:
        [reward], [output] = numbers_of(outputs, about), outputs
        parts = {name: part.reward for name, part in output.flat_components().items() if part.reward is not None}
        answer = {**samples.context, "reward": reward, **({"reward_components": parts} if parts else {})}
        return encode_numbers(answer) if reward is not None and math.isnan(reward) else jsonline.encode(answer)


def _sample(request: dict[str, Any]) -> Trajectory:
    prompt = request["responses_create_params"].get("input", "")
    named = next((name for name in _TRUTHS if name in request), None)
    columns = {
        name: value
        for name, value in request.items()
        if name not in _OWN and name != named and name not in Trajectory.FIELDS
    }
    return Trajectory(
        _messages(prompt) if type(prompt) is list else prompt,
        _response_text(request["response"]),
        None if named is None else request[named],
        columns=columns,
    )


def _messages(items: list[Any]) -> list[dict[str, Any]]:
    """The chat messages of an input; other items (tool calls and their outputs) have no role and are left out."""
    for index, item in enumerate(items):
        if type(item) is not dict or type(item.get("role", "")) is not str:
            raise InvalidTrajectory(f"responses_create_params.input[{index}] must be an object whose role is text")
    return [item for item in items if "role" in item]


def _response_text(response: dict[str, Any]) -> str:
    """The text of the assistant's messages."""
    output = response.get("output")
    if type(output) is not list or not all(type(item) is dict for item in output):
        raise InvalidTrajectory("response.output must be a list of items, as in the Responses API")
    texts = [
        message_text(item)
        for item in output
        if item.get("type", "message") == "message" and item.get("role", "assistant") == "assistant"
    ]
    return "".join(texts)
