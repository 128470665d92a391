"""verifiers rewards: functions of any of prompt, completion, answer, state, info, task, parser (up to 0.1, legacy), or
of `(task, trace)` (v1).

A completion is a list of messages, as its environments have it; a function that cannot take that is given text. A
rubric, or an environment that has one, is the weighted sum of its functions. prime-rl trains on such environments.
"""

import inspect
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from plaudit.contract.combination import CompositeReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters
from plaudit.dialects.export import Export, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.sample_export import AsyncSampleExport
from plaudit.dialects.standins import Later
from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory, message_text

__all__ = ["SYSTEM", "VerifiersExport", "VerifiersLegacyExport", "VerifiersReward", "VerifiersTraceReward"]

_WRONG_FORM = (TypeError, AttributeError, KeyError, IndexError)
_OF_RUBRIC = "; its rubric knows it: name that, or an environment, or put a `parser` into the file"
_OWN = {"completion", "state", "parser"}


class VerifiersReward(ForeignReward):
    """A function of a rubric; `objects` are what the rubric gives its functions, such as a parser."""

    def __init__(self, foreign: Any, objects: Mapping[str, Any] | None = None) -> None:
        super().__init__(foreign)
        self.objects = dict(objects or {})

    async def compute_reward(self, trajectory: Trajectory) -> Any:
        try:
            return await self._call(trajectory, as_chat=True)
        except InvalidTrajectory:
            raise
        except _WRONG_FORM as first:
            try:
                return await self._call(trajectory, as_chat=False)
            except _WRONG_FORM:
                raise first from None

    async def _call(self, trajectory: Trajectory, as_chat: bool) -> Any:
        known = self._known(trajectory, as_chat)
        asked = parameters(self.foreign)
        given = {name: known[name] for name in asked if name in known}
        if any(each.kind is each.VAR_KEYWORD for each in asked.values()):
            given = {**known, **given}
        for name, parameter in asked.items():
            if (
                name not in given
                and parameter.default is parameter.empty
                and parameter.kind is not parameter.VAR_KEYWORD
            ):
                hint = _OF_RUBRIC if name == "parser" else did_you_mean(name, known)
                raise InvalidTrajectory(
                    f"the reward asks for {name!r}, which the sample does not have{hint} (it has {', '.join(known)})"
                )
        returned = self.ask(**given)
        return await returned if inspect.isawaitable(returned) else returned

    def _known(self, trajectory: Trajectory, as_chat: bool) -> dict[str, Any]:
        own = {**trajectory.columns, **trajectory.metadata}
        prompt = trajectory.messages[:-1] if as_chat else trajectory.prompt_text
        completion = trajectory.messages[-1:] if as_chat else trajectory.response
        truth = trajectory.ground_truth
        sample = {
            "prompt": prompt,
            "completion": completion,
            "answer": "" if truth is None else str(truth) if isinstance(truth, int | float) else truth,
            "info": own,
            "task": trajectory.task or "default",
        }
        state = {**own, **sample, "responses": [], "turn": 1, "trajectory": [], "metrics": {}, "reward": None}
        parser = getattr(self.foreign, "__globals__", {}).get("parser")  # of its file; another one would be a guess
        objects = {**({} if parser is None else {"parser": parser}), **self.objects}
        return {**own, **sample, "state": state, **objects}


class VerifiersTraceReward(ForeignReward):
    """A coroutine function of the task's data and the trace of what was said."""

    async def compute_reward(self, trajectory: Trajectory) -> Any:
        asked = parameters(self.foreign)
        if "runtime" in asked and asked["runtime"].default is inspect.Parameter.empty:
            raise InvalidTrajectory(f"{self.name} asks for the runtime of a rollout, which a finished sample has not")
        known = {"task": _task(trajectory), "trace": _trace(trajectory)}
        returned = self.ask(**{name: value for name, value in known.items() if name in asked})
        value = await returned if inspect.isawaitable(returned) else returned
        if not isinstance(value, Mapping):
            return value
        parts = {str(name): RewardOutput(each) for name, each in value.items()}
        return RewardOutput(sum(float(each) for each in value.values()), components=parts)


def _task(trajectory: Trajectory) -> SimpleNamespace:
    own = {**trajectory.columns, **trajectory.metadata}
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
        info={**trajectory.columns, **trajectory.metadata},
    )


def _rubric_reward(candidate: Any) -> RewardFunction:
    """The weighted sum of a rubric's functions; a function of weight 0 is a metric and left out."""
    rubric = getattr(candidate, "rubric", candidate)
    parts = [
        (VerifiersReward(function, {"parser": rubric.parser} if getattr(rubric, "parser", None) else None), weight)
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


def _recognises(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return "completion" in asked and bool(asked & {"state", "parser"})


def _resembles(candidate: Any) -> bool:
    return inspect.isroutine(candidate) and bool(_OWN & set(parameters(candidate)))


def _recognises_trace(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return inspect.isroutine(candidate) and "trace" in asked <= {"task", "trace", "runtime"}


class VerifiersExport(AsyncSampleExport):
    """A reward for a v1 task (`taskset.task.rewards`); components and status are recorded as metrics of the trace."""

    async def __call__(self, task: Any, trace: Any) -> float:
        """The reward of one trace; without a number it raises, which verifiers records as an error of the trace."""
        row = task.model_dump() if hasattr(task, "model_dump") else dict(vars(task))
        prompt = row.pop("prompt", None)
        rated = await self.rate_async(trajectory_of(_plain_prompt(prompt), trace.last_reply, row))
        details = {name: value for name, value in self.details(rated.output).items() if value == value}
        trace.record_metrics({f"{self.__name__}/{name}": value for name, value in details.items()})
        return rated.number


class VerifiersLegacyExport(AsyncSampleExport):
    """A reward for `Rubric(funcs=[…])`; components and status are put into the state."""

    async def __call__(
        self, prompt: Any, completion: Any, answer: Any = None, state: Any = None, info: Any = None, task: Any = None
    ) -> float:
        """The reward of one completion."""
        row = {**(info if isinstance(info, Mapping) else {}), "ground_truth": answer, "data_source": task}
        rated = await self.rate_async(trajectory_of(_plain_prompt(prompt), completion, row))
        if isinstance(state, dict):
            state.setdefault("plaudit", {})[self.__name__] = rated.output.to_dict()
        return rated.number


def _plain_prompt(prompt: Any) -> Any:
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return [each.model_dump(exclude_none=True) if hasattr(each, "model_dump") else dict(each) for each in prompt]


_HOME = frozenset({"verifiers"})
SYSTEM = System(
    name="verifiers",
    title="verifiers",
    distribution="verifiers",
    shape="function of any of `prompt, completion, answer, state, info, parser`; v1: `async r(task, trace)`; rubrics",
    dialects=(
        Dialect("verifiers", "verifiers function", _HOME, VerifiersReward, _recognises, _resembles),
        Dialect("verifiers", "verifiers v1 function", _HOME, VerifiersTraceReward, recognises=_recognises_trace),
        Dialect("verifiers", "verifiers rubric", _HOME, _rubric_reward, resembles=_is_rubric),
    ),
    exports=(
        Export(
            VerifiersExport,
            (OnUnscored.RAISE, OnUnscored.MEAN),
            usage='[taskset.task.rewards.{name}]\nfn = "{file}:reward"',
            grouping=Grouping.NEVER,
        ),
        Export(
            VerifiersLegacyExport,
            (OnUnscored.MEAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\nrubric = vf.Rubric(funcs=[reward])",
            grouping=Grouping.NEVER,
            form="legacy",
        ),
    ),
    stand_ins={"verifiers": Later("plaudit.dialects.packages.verifiers_parsers", "ANSWERS")},
)
