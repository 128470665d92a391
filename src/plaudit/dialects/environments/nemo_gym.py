"""NeMo Gym resource servers: `async verify(body)` gives the body back with a `reward`.

The package is not published; the shapes follow its documentation. A body holds the prompt in `responses_create_params`,
what the model said in `response`, and the row's other columns beside them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters, parameters
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import AsyncSampleExport
from plaudit.errors import InvalidOutput
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "NemoGymExport", "NemoGymReward"]

_NOT_COLUMNS = ("responses_create_params", "response")


class NemoGymReward(ForeignReward):
    """A `verify` coroutine, or a server that has one, of a body as plain data."""

    method = "verify"

    async def compute_reward(self, trajectory: Trajectory) -> Any:
        answered = _plain(await self.ask(_body(trajectory)))
        if answered.get("reward") is None:
            raise InvalidOutput(f"verify gave no 'reward' but {', '.join(answered)}")
        return answered["reward"]


class NemoGymExport(AsyncSampleExport):
    """The `verify` of a resource server; components and status are in `reward_components`."""

    async def __call__(self, body: Any) -> dict[str, Any]:
        """The body, with the reward of what it holds."""
        plain = _plain(body)
        row = {name: value for name, value in plain.items() if name not in _NOT_COLUMNS}
        prompt = (plain.get("responses_create_params") or {}).get("input", "")
        rated = await self.rate_async(trajectory_of(_prompt(prompt), _said(plain.get("response") or {}), row))
        details = {name: value for name, value in self.details(rated.output).items() if value == value}
        return {**plain, "reward": rated.number, "reward_components": details}


def _plain(body: Any) -> dict[str, Any]:
    return dict(body.model_dump()) if hasattr(body, "model_dump") else dict(body)


def _prompt(given: Any) -> Any:
    return given if isinstance(given, str) else [dict(message) for message in given]


def _said(response: Mapping[str, Any]) -> str:
    """The text of every output of a response, as the Responses API has it."""
    outputs: Sequence[Any] = response.get("output") or []
    contents = [part for output in outputs if output.get("type") == "message" for part in output.get("content") or []]
    return "".join(str(part.get("text", "")) for part in contents)


def _body(trajectory: Trajectory) -> dict[str, Any]:
    content = [{"type": "output_text", "text": trajectory.response, "annotations": []}]
    message = {"type": "message", "role": "assistant", "status": "completed", "id": "msg", "content": content}
    return {
        **trajectory.columns,
        **trajectory.metadata,
        "expected_answer": trajectory.ground_truth,
        "responses_create_params": {"input": trajectory.prompt},
        "response": {"output": [message]},
    }


def _recognises(candidate: Any) -> bool:
    asked = method_parameters(candidate, "verify") or parameters(candidate)
    return list(asked) == ["body"]


_SETUP = """

class {title}Server(SimpleResourcesServer):
    async def verify(self, body):
        return BaseVerifyResponse(**await reward(body))


if __name__ == "__main__":
    {title}Server.run_webserver()
"""
SYSTEM = System(
    name="nemo_gym",
    title="NeMo Gym",
    distribution="nemo-gym",
    shape="`async verify(body)` of a resource server",
    dialects=(Dialect("nemo_gym", "NeMo Gym verify", frozenset({"nemo_gym"}), NemoGymReward, resembles=_recognises),),
    exports=(
        Export(
            NemoGymExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage="python {file}    # a resource server: name it in the config of ng_run",
            grouping=Grouping.NEVER,
            imports="from nemo_gym.base_resources_server import BaseVerifyResponse, SimpleResourcesServer",
            setup=_SETUP,
        ),
    ),
    stand_ins={"nemo_gym": {"nemo_gym": {}}},
)
