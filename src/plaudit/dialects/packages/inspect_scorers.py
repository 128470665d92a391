"""What reward files import of `inspect_ai`, as far as scoring a finished sample needs it.

Metrics and tasks are for evaluations, which plaudit does not run: metrics can be made and are ignored.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from plaudit.dialects.standins import Answers

__all__ = ["ANSWERS", "Score", "Target", "TaskState", "sample_state"]

MARK = "__plaudit_scorer__"
CORRECT, INCORRECT, PARTIAL, NOANSWER, UNCHANGED = "C", "I", "P", "N", "U"


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


class Target(Sequence[str]):
    """One or several right answers; `text` is all of them together."""

    def __init__(self, target: str | Sequence[str]) -> None:
        self.target = [target] if isinstance(target, str) else list(target)

    def __getitem__(self, index: Any) -> Any:
        return self.target[index]

    def __len__(self) -> int:
        return len(self.target)

    def __iter__(self) -> Iterator[str]:
        return iter(self.target)

    @property
    def text(self) -> str:
        return "".join(self.target)


@dataclass
class TaskState:
    """A finished sample: what was asked, what was said, and what is known about it."""

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
    said = [SimpleNamespace(**{"text": str(each.get("content") or ""), **each}) for each in messages]
    output = SimpleNamespace(completion=response, message=said[-1], stop_reason="stop", error=None)
    return TaskState(prompt if isinstance(prompt, str) else said[:-1], said, output, metadata, target)


def _scorer(metrics: Any = None, name: str | None = None, **_: Any) -> Callable[[Any], Any]:
    def mark(factory: Any) -> Any:
        setattr(factory, MARK, True)
        return factory

    return mark


def _metric(*_: Any, **__: Any) -> Any:
    """A metric, which nothing here computes; as a decorator it leaves the function as it is."""
    return _[0] if _ and callable(_[0]) else SimpleNamespace()


def _leave(definition: Any = None, **_: Any) -> Any:
    """A decorator of something that is no scorer, with and without arguments: the definition as it is."""
    return definition if callable(definition) else lambda decorated: decorated


_SCORING = {
    "Score": Score, "Target": Target, "scorer": _scorer, "Scorer": Callable, "SampleScore": Score, "Value": Any,
    "CORRECT": CORRECT, "INCORRECT": INCORRECT, "PARTIAL": PARTIAL, "NOANSWER": NOANSWER, "UNCHANGED": UNCHANGED,
    **dict.fromkeys(("accuracy", "mean", "std", "stderr", "var", "bootstrap_stderr", "grouped", "metric"), _metric),
}  # fmt: skip
ANSWERS: Answers = {
    "inspect_ai": {"task": _leave},
    "inspect_ai.scorer": _SCORING,
    "inspect_ai.solver": {"TaskState": TaskState, "solver": _leave},
    "inspect_ai.tool": {"tool": _leave},
    "inspect_ai.agent": {"agent": _leave},
    "inspect_ai.model": {},
    "inspect_ai.dataset": {},
    "inspect_ai.util": {},
}
