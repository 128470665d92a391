"""NeMo Gym resource servers: `async verify(body)` gives the body back with a `reward`.

The package is not published; the shapes follow its sources. A body holds the prompt in `responses_create_params`, what
the model said in `response`, and the row's other columns beside them; it is plain data, or what `verify` says it is.
"""

import inspect
from functools import partial
from typing import Any

from plaudit.columns import our_name
from plaudit.contract.binding import Convention, own_values
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.results import read_result
from plaudit.dialects.signatures import method_parameters, parameters
from plaudit.dialects.stub_packages import LazyStub
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM"]

_ANSWERED = {
    "id": "resp", "object": "response", "created_at": 0, "model": "", "tools": [], "tool_choice": "auto",
    "parallel_tool_calls": False,
}  # fmt: skip
"""What a response of the Responses API must have besides its output."""


def nemo_gym_reward(foreign: Any) -> ForeignReward:
    """A reward of a `verify` coroutine, or of a server that has one."""
    verify = getattr(foreign, "verify", foreign)
    convention = Convention(
        names={"body": partial(_body, _body_class(verify))},
        fills_columns=False,
        remedies={"request": ", the request of a session, which a finished sample does not have"},
    )
    return ForeignReward(foreign, convention, _reward_of, call=verify)


def _reward_of(answered: Any) -> Any:
    return read_result(_plain(answered), "reward").reward


def _body(kind: Any, trajectory: Trajectory) -> Any:
    """The sample as an object of the model that `verify` says its body is, or as plain data where it says none."""
    plain = _plain_body(trajectory)
    if kind is None:
        return plain
    if trajectory.ground_truth is not None:
        truths = [name for name in kind.model_fields if "ground_truth" in (name, our_name(name))]
        plain = {**dict.fromkeys(truths, trajectory.ground_truth), **plain}
    absent = [name for name, each in kind.model_fields.items() if each.is_required() and name not in plain]
    if absent:
        raise InvalidTrajectory(
            f"the reward asks for {', '.join(absent)}, which the sample does not have (it has "
            f"{', '.join(own_values(trajectory)) or 'no further columns'})"
        )
    return kind.model_validate(plain)


def _plain(body: Any) -> dict[str, Any]:
    return dict(body.model_dump()) if hasattr(body, "model_dump") else dict(body)


def _body_class(verify: Any) -> Any:
    """The model that `verify` says its body is; None if it says nothing."""
    try:
        annotated = inspect.signature(verify, eval_str=True).parameters["body"].annotation
    except NameError:  # an annotation that is no name of its file
        return None
    return annotated if hasattr(annotated, "model_validate") else None


def _plain_body(trajectory: Trajectory) -> dict[str, Any]:
    content = [{"type": "output_text", "text": trajectory.response, "annotations": []}]
    message = {"type": "message", "role": "assistant", "status": "completed", "id": "msg", "content": content}
    truth = {} if trajectory.ground_truth is None else {"expected_answer": trajectory.ground_truth}
    return {
        **truth,
        **own_values(trajectory),
        "responses_create_params": {"input": trajectory.prompt},
        "response": {**_ANSWERED, "output": [message]},
    }


def _matches(candidate: Any) -> bool:
    accepted = method_parameters(candidate, "verify") or parameters(candidate)
    return list(accepted) in (["body"], ["request", "body"])


SYSTEM = System(
    "nemo_gym",
    "NeMo Gym",
    dialects=(Dialect("NeMo Gym verify", nemo_gym_reward, matches_if_imported=_matches),),
    stubs={"nemo_gym": LazyStub("plaudit.dialects.packages.nemo_gym_servers", "STUBS")},
)
