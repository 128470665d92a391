"""Inspect scorers: `async score(state, target) -> Score`, made by a factory that `@scorer` registers.

A value is a number, or a letter that stands for one; NaN means unscored there as a status does here. An exported reward
is such a scorer, registered with the mean and its standard error.
"""

import math
import sys
from collections.abc import Mapping
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.dialect import Dialect, ForeignReward, System, name_of, parameters
from plaudit.dialects.export import Export, ExportSettings, Grouping, OnUnscored, trajectory_of
from plaudit.dialects.packages import inspect_scorers
from plaudit.dialects.sample_export import AsyncSampleExport
from plaudit.dialects.standins import Later
from plaudit.errors import InvalidOutput, require
from plaudit.trajectory import Message, Trajectory

__all__ = ["SYSTEM", "InspectExport", "InspectReward"]

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class InspectReward(ForeignReward):
    """A scorer, or the factory of one that needs no arguments."""

    def __init__(self, foreign: Any) -> None:
        super().__init__(foreign)
        if _is_factory(foreign):
            self.foreign = foreign()

    async def compute_reward(self, trajectory: Trajectory) -> Any:
        state, target = _real_sample(trajectory) if _is_installed() else _sample(trajectory)
        return _output(await self.ask(state, target))


def _is_installed() -> bool:
    return getattr(sys.modules.get("inspect_ai"), "__file__", None) is not None


def _sample(trajectory: Trajectory) -> tuple[Any, Any]:
    target = inspect_scorers.Target(_target(trajectory))
    metadata = {**trajectory.columns, **trajectory.metadata}
    prompt, messages = trajectory.prompt, trajectory.messages
    return inspect_scorers.sample_state(prompt, messages, trajectory.response, metadata, target), target


def _real_sample(trajectory: Trajectory) -> tuple[Any, Any]:
    model, scorer, solver = (sys.modules[f"inspect_ai.{name}"] for name in ("model", "scorer", "solver"))
    kinds = {"system": model.ChatMessageSystem, "user": model.ChatMessageUser, "assistant": model.ChatMessageAssistant}
    said = [_message(kinds, message) for message in trajectory.messages]
    target = scorer.Target(_target(trajectory))
    state = solver.TaskState(
        model=model.ModelName("none/none"),
        sample_id=trajectory.group or 1,
        epoch=1,
        input=trajectory.prompt if isinstance(trajectory.prompt, str) else said[:-1],
        messages=said,
        target=target,
        output=model.ModelOutput.from_content("none/none", trajectory.response),
        metadata={**trajectory.columns, **trajectory.metadata},
    )
    return state, target


def _message(kinds: Mapping[str, Any], message: Message) -> Any:
    return kinds.get(message["role"], kinds["user"])(content=message.get("content") or "")


def _target(trajectory: Trajectory) -> str | list[str]:
    truth = trajectory.ground_truth
    if isinstance(truth, list):
        return [str(each) for each in truth]
    return "" if truth is None else str(truth)


def _output(score: Any) -> RewardOutput:
    if score is None:
        return RewardOutput.unscored(Status.SKIPPED, "the scorer returned None")
    value = getattr(score, "value", score)
    metadata = dict(getattr(score, "metadata", None) or {})
    answer, explanation = getattr(score, "answer", None), getattr(score, "explanation", None) or ""
    if answer is not None:
        metadata["answer"] = answer
    if isinstance(value, float) and math.isnan(value):
        reason = getattr(score, "reason", None) or explanation or "the scorer gave no value"
        return RewardOutput.unscored(Status.SKIPPED, str(reason), metadata=metadata)
    number = _number(value)
    return RewardOutput(
        number, score=number if 0.0 <= number <= 1.0 else None, reason=str(explanation), metadata=metadata
    )


def _number(value: Any) -> float:
    """What a value counts there; a text that is no number counts nothing here rather than 0."""
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, Mapping) and len(value) == 1:
        return _number(next(iter(value.values())))
    if isinstance(value, str):
        known = _LETTERS.get(value, _WORDS.get(value.lower()))
        try:
            return float(value) if known is None else known
        except ValueError:
            pass
    raise InvalidOutput(f"the scorer's value {value!r:.60} is not one number; a reward needs one")


class InspectExport(AsyncSampleExport):
    """A scorer for `Task(scorer=…)`; components and status are in the metadata of its scores."""

    async def __call__(self, state: Any, target: Any) -> Any:
        """The score of a finished sample, unscored where there is no number."""
        score = require("inspect_ai.scorer", package="inspect-ai", purpose="a scorer for Inspect").Score
        rated = await self.rate_async(_trajectory(state, target))
        output = rated.output
        details = {key: value for key, value in self.details(output).items() if not math.isnan(value)}
        metadata = {**details, "status": output.status.value}
        if rated.value is None or math.isnan(rated.value):
            return score.unscored(reason=output.status.value, explanation=output.reason, metadata=metadata)
        return score(value=rated.value, explanation=output.reason, metadata=metadata)


def _trajectory(state: Any, target: Any) -> Trajectory:
    truth = list(target) if len(target) > 1 else target.text
    prompt = state.input if isinstance(state.input, str) else [_chat(message) for message in state.input]
    return trajectory_of(prompt, state.output.completion, {**state.metadata, "ground_truth": truth})


def _chat(message: Any) -> Message:
    return {"role": message.role, "content": message.text}


def make_scorer(settings: ExportSettings) -> InspectExport:
    """The exported reward, registered under its own name."""
    scoring = require("inspect_ai.scorer", package="inspect-ai", purpose="a scorer for Inspect")

    def factory() -> InspectExport:
        return InspectExport(settings)

    registered = scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name=settings.name)(factory)
    exported: InspectExport = registered()
    return exported


def _is_factory(candidate: Any) -> bool:
    """Whether `@scorer` was put on it: by a stand-in's mark, or by Inspect's own registry."""
    if getattr(candidate, inspect_scorers.MARK, False):
        return True
    info = getattr(candidate, "__registry_info__", None)
    return getattr(info, "type", None) == "scorer" and list(parameters(candidate))[:2] != ["state", "target"]


def _recognises(candidate: Any) -> bool:
    if isinstance(candidate, type):
        return False
    return list(parameters(candidate))[:2] == ["state", "target"] or (
        _is_factory(candidate) and name_of(candidate) != ""
    )


SYSTEM = System(
    name="inspect",
    title="Inspect",
    distribution="inspect-ai",
    shape="scorer of `(state, target)`, or the factory that `@scorer` stands on",
    dialects=(Dialect("inspect", "Inspect scorer", frozenset({"inspect_ai"}), InspectReward, recognises=_recognises),),
    exports=(
        Export(
            make_scorer,
            (OnUnscored.NAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\ntask = Task(dataset=…, solver=generate(), scorer=reward)",
            grouping=Grouping.NEVER,
        ),
    ),
    stand_ins={"inspect_ai": Later("plaudit.dialects.packages.inspect_scorers", "ANSWERS")},
)
