"""Inspect scorers: `async score(state, target) -> Score`, made by a factory that `@scorer` registers.

A value is a number, or a letter that stands for one; NaN means that the sample was not scored.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from plaudit.contract.binding import Convention, own_values
from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.dialect import Dialect, ForeignReward, System, name_of
from plaudit.dialects.signatures import parameters
from plaudit.dialects.stub_packages import StubTable
from plaudit.errors import InvalidOutput
from plaudit.trajectory import Message, Trajectory

MARK = "__plaudit_scorer__"
CORRECT, INCORRECT, PARTIAL, NOANSWER, UNCHANGED = "C", "I", "P", "N", "U"


_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def inspect_reward(foreign: Any) -> ForeignReward:
    """A reward of a scorer, or of the factory of one that needs no arguments."""
    reward = ForeignReward(foreign() if _is_factory(foreign) else foreign, _CONVENTION, _output)
    reward.name = name_of(foreign)
    return reward


def _is_installed() -> bool:
    return getattr(sys.modules.get("inspect_ai"), "__file__", None) is not None


def _target(trajectory: Trajectory) -> Any:
    kind = sys.modules["inspect_ai.scorer"].Target if _is_installed() else Target
    truth = trajectory.ground_truth
    return kind([str(each) for each in truth] if isinstance(truth, list) else "" if truth is None else str(truth))


def _state(trajectory: Trajectory) -> Any:
    target, metadata = _target(trajectory), own_values(trajectory)
    if not _is_installed():
        prompt, chat = trajectory.prompt, trajectory.messages
        return sample_state(prompt, chat, trajectory.response, metadata, target)
    model, solver = (sys.modules[f"inspect_ai.{name}"] for name in ("model", "solver"))
    kinds = {"system": model.ChatMessageSystem, "user": model.ChatMessageUser, "assistant": model.ChatMessageAssistant}
    messages = [_message(kinds, message) for message in trajectory.messages]
    return solver.TaskState(
        model=model.ModelName("none/none"),
        sample_id=trajectory.group or 1,
        epoch=1,
        input=trajectory.prompt if isinstance(trajectory.prompt, str) else messages[:-1],
        messages=messages,
        target=target,
        output=model.ModelOutput.from_content("none/none", trajectory.response),
        metadata=metadata,
    )


_CONVENTION = Convention({"state": _state, "target": _target}, by_place=("state", "target"), fills_columns=False)


def _message(kinds: Mapping[str, Any], message: Message) -> Any:
    return kinds.get(message["role"], kinds["user"])(content=message.get("content") or "")


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
    """The number that Inspect's metrics count for a value; a text that is no number is an error, not 0."""
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


def _is_factory(candidate: Any) -> bool:
    """Whether `@scorer` was put on it: by a stub's mark, or by Inspect's own registry."""
    if getattr(candidate, MARK, False):
        return True
    info = getattr(candidate, "__registry_info__", None)
    return getattr(info, "type", None) == "scorer" and list(parameters(candidate))[:2] != ["state", "target"]


def _matches(candidate: Any) -> bool:
    if isinstance(candidate, type):
        return False
    return list(parameters(candidate))[:2] == ["state", "target"] or (
        _is_factory(candidate) and name_of(candidate) != ""
    )


@dataclass
class Score:
    """The value of a sample: a number, a letter (C, I, P, N), or several of them."""

    value: Any
    answer: str | None = None
    explanation: str | None = None
    metadata: dict[str, Any] | None = None
    reason: str | None = None

    @classmethod
    def unscored(cls, *, explanation: str | None = None, reason: str | None = None, **further: Any) -> "Score":
        """No value: the sample could not be scored."""
        return cls(float("nan"), explanation=explanation, reason=reason, metadata=further.get("metadata"))

    @property
    def text(self) -> str:
        return str(self.value)


class Target(list[str]):
    """One or several right answers; `text` is all of them together."""

    def __init__(self, target: str | Sequence[str]) -> None:
        super().__init__([target] if isinstance(target, str) else target)

    @property
    def target(self) -> list[str]:
        return list(self)

    @property
    def text(self) -> str:
        return "".join(self)


@dataclass
class TaskState:
    """A finished sample: the input, the output, and the metadata."""

    input: Any
    messages: list[Any]
    output: Any
    metadata: dict[str, Any] = field(default_factory=dict)
    target: Any = None
    sample_id: Any = None
    epoch: int = 1
    completed: bool = True
    store: dict[str, Any] = field(default_factory=dict)

    @property
    def input_text(self) -> str:
        return self.input if isinstance(self.input, str) else "\n".join(message.text for message in self.input)

    @property
    def user_prompt(self) -> Any:
        return next(message for message in self.messages if message.role == "user")


def sample_state(
    prompt: Any, messages: Sequence[Mapping[str, Any]], response: str, metadata: dict[str, Any], target: Target
) -> TaskState:
    """The state of a sample after the model has answered."""
    objects = [SimpleNamespace(**{"text": str(each.get("content") or ""), **each}) for each in messages]
    output = SimpleNamespace(completion=response, message=objects[-1], stop_reason="stop", error=None)
    return TaskState(prompt if isinstance(prompt, str) else objects[:-1], objects, output, metadata, target)


def _scorer(metrics: Any = None, name: str | None = None, **_: Any) -> Callable[[Any], Any]:
    def mark(factory: Any) -> Any:
        setattr(factory, MARK, True)
        return factory

    return mark


def _leave(definition: Any = None, **_: Any) -> Any:
    """A decorator that changes nothing, for objects that are no scorer, and for metrics, which are not used here."""
    return definition if callable(definition) else lambda decorated: decorated


_SCORING = {
    "Score": Score, "Target": Target, "scorer": _scorer, "Scorer": Callable, "SampleScore": Score, "Value": Any,
    "CORRECT": CORRECT, "INCORRECT": INCORRECT, "PARTIAL": PARTIAL, "NOANSWER": NOANSWER, "UNCHANGED": UNCHANGED,
    **dict.fromkeys(("accuracy", "mean", "std", "stderr", "var", "bootstrap_stderr", "grouped", "metric"), _leave),
}  # fmt: skip
_STUBS: StubTable = {
    "inspect_ai": {"task": _leave},
    "inspect_ai.scorer": _SCORING,
    "inspect_ai.solver": {"TaskState": TaskState, "solver": _leave},
    "inspect_ai.tool": {"tool": _leave},
    "inspect_ai.agent": {"agent": _leave},
    "inspect_ai.model": {},
    "inspect_ai.dataset": {},
    "inspect_ai.util": {},
}
SYSTEM = System(
    "inspect",
    "Inspect",
    dialects=(Dialect("Inspect scorer", inspect_reward, _matches),),
    stubs={"inspect_ai": _STUBS},
)
