"""verifiers rewards: functions of any of prompt, completion, answer, state, info, task, parser (up to 0.1, legacy), or
of `(task, trace)` (v1).

A completion is a list of messages, as in a chat environment; the form `verifiers:text` gives text, as environments of
`message_type="completion"` do. A rubric, or an environment that has one, is the weighted sum of its functions. prime-rl
trains on such environments.
"""

import inspect
from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, Lookup, own_values
from plaudit.contract.combination import CompositeReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters, truth_as_text
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory, message_text

__all__ = ["SYSTEM"]

_OF_RUBRIC = "; its rubric knows it: name that, or an environment, or put a `parser` into the file"
_OWN = {"completion", "state", "parser"}
_NOTE = "completions are lists of messages; dialect='verifiers:text' (--dialect) gives the function text"


def verifiers_reward(foreign: Any, parser: Any = None, form: str = "") -> ForeignReward:
    """A reward of a function of a rubric; `parser` is the rubric's, or else the one in the function's file."""
    known = parser or getattr(foreign, "__globals__", {}).get("parser")
    names: dict[str, Lookup] = {
        "prompt": attrgetter("prompt_text") if form == "text" else lambda trajectory: trajectory.messages[:-1],
        "completion": attrgetter("response") if form == "text" else lambda trajectory: trajectory.messages[-1:],
        "answer": _answer,
        "info": own_values,
        "task": lambda trajectory: trajectory.task or "default",
    }
    sample = dict(names)
    names["state"] = partial(_state, sample)
    if known is not None:
        names["parser"] = lambda trajectory: known
    convention = Convention(
        names,
        rest=lambda trajectory: {**own_values(trajectory), **{name: read(trajectory) for name, read in names.items()}},
        remedies={"parser": _OF_RUBRIC},
    )
    return ForeignReward(foreign, convention, note="" if form else _NOTE)


def _answer(trajectory: Trajectory) -> Any:
    return "" if trajectory.ground_truth is None else truth_as_text(trajectory)


def _state(sample: Mapping[str, Lookup], trajectory: Trajectory) -> dict[str, Any]:
    values = {name: lookup(trajectory) for name, lookup in sample.items()}
    rollout = {"responses": [], "turn": 1, "trajectory": [], "metrics": {}, "reward": None}
    return {**own_values(trajectory), **values, **rollout}


def trace_reward(foreign: Any) -> ForeignReward:
    """A reward of a coroutine function of the task's data and the trace of what was said."""
    convention = Convention(
        names={"task": _task, "trace": _trace},
        fills_columns=False,
        remedies={"runtime": ", the runtime of a rollout, which a finished sample does not have"},
    )
    return ForeignReward(foreign, convention, _sum_of_parts)


def _sum_of_parts(returned: Any) -> Any:
    if not isinstance(returned, Mapping):
        return returned
    parts = {str(name): RewardOutput(each) for name, each in returned.items()}
    return RewardOutput(sum(float(each) for each in returned.values()), components=parts)


def _task(trajectory: Trajectory) -> SimpleNamespace:
    own = own_values(trajectory)
    fields = {"prompt": trajectory.prompt, "prompt_text": trajectory.prompt_text, "name": trajectory.task}
    return SimpleNamespace(**{"answer": trajectory.ground_truth, **own, **fields})


def _trace(trajectory: Trajectory) -> SimpleNamespace:
    said = [SimpleNamespace(**{**each, "content": message_text(each)}) for each in trajectory.messages]
    assistant = [message for message in said if message.role == "assistant"]
    return SimpleNamespace(
        last_reply=trajectory.response.strip(),
        messages=said,
        assistant_messages=assistant,
        num_turns=len(assistant),
        metrics={},
        rewards={},
        info=own_values(trajectory),
    )


def _rubric_reward(candidate: Any) -> RewardFunction:
    """The weighted sum of a rubric's functions; a function of weight 0 is a metric and left out."""
    rubric = getattr(candidate, "rubric", candidate)
    parts = [
        (verifiers_reward(function, getattr(rubric, "parser", None)), weight)
        for each in getattr(rubric, "rubrics", None) or [rubric]
        for function, weight in zip(_functions(each), _weights(each), strict=True)
        if weight
    ]
    return CompositeReward(parts)


def _functions(rubric: Any) -> list[Any]:
    return list(getattr(rubric, "funcs", None) or getattr(rubric, "reward_funcs", None) or [])


def _weights(rubric: Any) -> list[float]:
    given = getattr(rubric, "weights", None) or getattr(rubric, "reward_weights", None)
    return list(given or [1.0] * len(_functions(rubric)))


def _is_rubric(candidate: Any) -> bool:
    rubric = getattr(candidate, "rubric", candidate)
    if isinstance(candidate, type) or inspect.isroutine(candidate) or isinstance(candidate, RewardFunction):
        return False
    return any(_functions(each) for each in getattr(rubric, "rubrics", None) or [rubric])


def _matches(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return "completion" in asked and bool(asked & {"state", "parser"})


def _matches_if_imported(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and bool(_OWN & set(parameters(candidate)))


def _matches_trace(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return inspect.isroutine(candidate) and "trace" in asked <= {"task", "trace", "runtime"}


SYSTEM = System(
    name="verifiers",
    title="verifiers",
    distribution="verifiers",
    shape="function of any of `prompt, completion, answer, state, info, parser`; v1: `async r(task, trace)`; rubrics",
    dialects=(
        *(
            Dialect(
                "verifiers function", partial(verifiers_reward, form=form), _matches, _matches_if_imported, form=form
            )
            for form in ("", "text")
        ),
        Dialect("verifiers v1 function", trace_reward, _matches_trace),
        Dialect("verifiers rubric", _rubric_reward, matches_if_imported=_is_rubric),
    ),
    stand_ins={"verifiers": Later("plaudit.dialects.packages.verifiers_parsers", "ANSWERS")},
)
