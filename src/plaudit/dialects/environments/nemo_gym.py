"""NeMo Gym resource servers: `async verify(body)` gives the body back with a `reward`.

The package is not published; the shapes follow its sources. A body holds the prompt in `responses_create_params`, what
the model said in `response`, and the row's other columns beside them; it is plain data, or what `verify` says it is.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.columns import our_name
from plaudit.dialects.dialect import Dialect, ForeignReward, System, method_parameters, parameters
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import AsyncSampleExport
from plaudit.dialects.standins import Later
from plaudit.errors import InvalidOutput, InvalidTrajectory
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "NemoGymExport", "NemoGymReward"]

_NOT_COLUMNS = ("responses_create_params", "response")
_ANSWERED = {
    "id": "resp", "object": "response", "created_at": 0, "model": "", "tools": [], "tool_choice": "auto",
    "parallel_tool_calls": False,
}  # fmt: skip
"""What a response of the Responses API must have besides its output."""


class NemoGymReward(ForeignReward):
    """A `verify` coroutine, or a server that has one."""

    method = "verify"

    async def compute_reward(self, trajectory: Trajectory) -> Any:
        asked = inspect.signature(getattr(self.foreign, self.method, self.foreign)).parameters
        if "request" in asked:
            raise InvalidTrajectory(f"{self.name} asks for the request of a session, which a finished sample has not")
        answered = _plain(await self.ask(self._body(trajectory)))
        if answered.get("reward") is None:
            raise InvalidOutput(f"verify gave no 'reward' but {', '.join(answered)}")
        return answered["reward"]

    def _body(self, trajectory: Trajectory) -> Any:
        """The sample as the class that `verify` says its body is, or as plain data."""
        plain = _body(trajectory)
        kind = _body_class(getattr(self.foreign, self.method, self.foreign))
        if kind is None:
            return plain
        if trajectory.ground_truth is not None:
            truths = [name for name in kind.model_fields if "ground_truth" in (name, our_name(name))]
            plain = {**dict.fromkeys(truths, trajectory.ground_truth), **plain}
        absent = [name for name, each in kind.model_fields.items() if each.is_required() and name not in plain]
        if absent:
            raise InvalidTrajectory(
                f"the reward asks for {', '.join(absent)}, which the sample does not have (it has "
                f"{', '.join(trajectory.columns) or 'no further columns'})"
            )
        return kind.model_validate(plain)


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


def _body_class(verify: Any) -> Any:
    """The model that `verify` says its body is; None where it says nothing."""
    try:
        annotated = inspect.signature(verify, eval_str=True).parameters["body"].annotation
    except NameError:  # an annotation that is no name of its file
        return None
    return annotated if hasattr(annotated, "model_validate") else None


def _body(trajectory: Trajectory) -> dict[str, Any]:
    content = [{"type": "output_text", "text": trajectory.response, "annotations": []}]
    message = {"type": "message", "role": "assistant", "status": "completed", "id": "msg", "content": content}
    truth = {} if trajectory.ground_truth is None else {"expected_answer": trajectory.ground_truth}
    return {
        **truth,
        **trajectory.columns,
        **trajectory.metadata,
        "responses_create_params": {"input": trajectory.prompt},
        "response": {**_ANSWERED, "output": [message]},
    }


def _recognises(candidate: Any) -> bool:
    asked = method_parameters(candidate, "verify") or parameters(candidate)
    return list(asked) in (["body"], ["request", "body"])


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
            usage="python {argument}    # a resource server: name it in the config of ng_run",
            grouping=Grouping.NEVER,
            imports="from nemo_gym.base_resources_server import BaseVerifyRequest, BaseVerifyResponse, "
            "SimpleResourcesServer",
            setup=_SETUP,
        ),
    ),
    stand_ins={"nemo_gym": Later("plaudit.dialects.packages.nemo_gym_servers", "ANSWERS")},
)
