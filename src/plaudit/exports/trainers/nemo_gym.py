"""NeMo Gym: the `async verify(body)` of a resource server, which gives the body back with a `reward`.

A body holds the prompt in `responses_create_params`, what the model said in `response`, and the row's other columns.
"""

from collections.abc import Mapping
from typing import Any

from plaudit.exports.convention import Export
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward

__all__ = ["EXPORTS"]


def verify_call(reward: ExportedReward, body: Any) -> Call:
    """The body, with the reward of what it holds; components and status are in `reward_components`."""
    row = dict(body.model_dump()) if hasattr(body, "model_dump") else dict(body)
    asked = (row.get("responses_create_params") or {}).get("input", "")
    prompt = asked if isinstance(asked, str) else [dict(message) for message in asked]
    columns = {name: value for name, value in row.items() if name not in ("responses_create_params", "response")}
    output, value = yield reward.sample(prompt, _said(row.get("response") or {}), columns)
    return {**row, "reward": value, "reward_components": reward.details(output, same_keys=False)}


def _said(response: Mapping[str, Any]) -> str:
    """The text of every message of a response, as the Responses API has it."""
    messages = [each for each in response.get("output") or [] if each.get("type") == "message"]
    return "".join(str(part.get("text", "")) for each in messages for part in each.get("content") or [])


_SETUP = """

class Sample(BaseVerifyRequest, extra="allow"):
    pass  # with the columns of its row


class Rewarded(BaseVerifyResponse, extra="allow"):
    pass  # with the components of the reward


class {title}Server(SimpleResourcesServer):
    async def verify(self, body: Sample) -> Rewarded:
        return Rewarded(**await reward(body))


if __name__ == "__main__":
    {title}Server.run_webserver()
"""
EXPORTS = (
    Export(
        "nemo_gym",
        verify_call,
        "python {argument}    # a resource server: name it in the config of ng_run",
        build=AsyncExportedReward,
        imports="from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, "
        "SimpleResourcesServer",
        setup=_SETUP,
    ),
)
