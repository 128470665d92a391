"""A verifier: does a response do what its row asks for?

A verifier reads the row first and judges the answer second, so these rules hold for every verifier: a row that cannot
be read is declined whatever the response is; thoughts are no part of the answer; a blank answer never passes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import msgspec

from plaudit.columns import KEPT_MESSAGES, Message, find_foreign, look_up, without_arrays
from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.tags import without_thinking
from plaudit.verify.text import remove_invisible, remove_marks

Task = TypeVar("Task")
Response: TypeAlias = str | Message | Sequence[Message]
"""Text, an assistant message, or a list of messages whose last assistant message is the response."""


class Verdict(msgspec.Struct, frozen=True):
    """The degree to which a response is right, in [0, 1], or None if that cannot be decided; and the reason."""

    score: float | None
    reason: str
    components: Mapping[str, "Verdict"] = {}  # a Struct copies it
    """The parts of the verdict by name: constraints, fields, measures."""
    details: Mapping[str, Any] = {}
    """The values read from the response, as plain data."""

    @property
    def passed(self) -> bool:
        """Whether the response is completely right."""
        return self.score == 1.0

    @property
    def decided(self) -> bool:
        """Whether there is a score."""
        return self.score is not None

    @classmethod
    def undecided(cls, reason: str) -> "Verdict":
        """The verdict on a row or a response that cannot be judged."""
        return cls(None, reason)


class Answer(msgspec.Struct, frozen=True):
    """The part of a response that counts."""

    text: str
    """The response without its thoughts."""
    response: str
    """The response with its thoughts."""
    messages: tuple[Message, ...] = ()
    """The messages of a response that is more than text."""

    @property
    def tool_calls(self) -> list[Any]:
        """The `tool_calls` of the assistant messages, as they were sent."""
        assistant = (message for message in self.messages if message.get("role") == "assistant")
        return [call for message in assistant for call in message.get("tool_calls") or []]

    @property
    def is_blank(self) -> bool:
        """Whether the answer has neither a visible character nor a tool call."""
        return not remove_invisible(self.text).strip() and not self.tool_calls


class Verifier(ABC, Generic[Task]):
    """Subclass as a frozen dataclass whose fields are the settings; define `kind`, `read` and `judge`.

    `verify` is a pure function of (row, response). The card of the verifier is `cards/KIND.toml`.
    """

    kind: ClassVar[str]

    @abstractmethod
    def read(self, sample: Trajectory) -> Task:
        """The task that the row states; raises InvalidTrajectory if it states none. Ignores the response."""

    @abstractmethod
    def judge(self, task: Task, answer: Answer) -> Verdict:
        """The verdict on an answer that is not blank."""

    def verify(self, row: Mapping[str, Any], response: Response) -> Verdict:
        """The verdict on a response to a row with the columns of its data set."""
        try:
            sample = sample_of(row, response)
        except InvalidTrajectory as error:
            return Verdict.undecided(str(error))
        return self.verify_sample(sample)

    def verify_sample(self, sample: Trajectory) -> Verdict:
        """The verdict on the response of a sample."""
        prepared = self.prepare(sample)
        if isinstance(prepared, Verdict):
            return prepared
        try:
            return self.judge(*prepared)
        except InvalidTrajectory as error:
            return Verdict.undecided(str(error))

    def prepare(self, sample: Trajectory) -> tuple[Task, Answer] | Verdict:
        """The task of the row and the answer; or the verdict where there is nothing to judge."""
        try:
            task = self.read(sample)
        except InvalidTrajectory as error:
            return Verdict.undecided(str(error))
        answer = answer_of(sample)
        return Verdict(0.0, "the answer is blank") if answer.is_blank else (task, answer)


def sample_of(row: Mapping[str, Any], response: Response) -> Trajectory:
    """A row of a data set and a response as a sample; a row need not have a prompt, and keeps all of its columns."""
    plain = response if isinstance(response, str | Mapping) or not isinstance(response, Sequence) else list(response)
    columns = without_arrays(dict(row))
    if columns.get("prompt") is None and columns.get("messages") is None:
        name = find_foreign(columns, "prompt")
        columns["prompt"] = "" if name is None else look_up(columns, name)
    return Trajectory.from_dict({**columns, "response": plain})


def answer_of(sample: Trajectory) -> Answer:
    """The answer of a sample."""
    return Answer(remove_marks(without_thinking(sample.response)).strip(), sample.response, _messages_of(sample))


def _messages_of(sample: Trajectory) -> tuple[Message, ...]:
    """The messages of a response that is more than text: its own, or those of the conversation after the prompt."""
    kept = sample.columns.get(KEPT_MESSAGES)
    if kept is None:
        prompt = 1 if isinstance(sample.prompt, str) else len(sample.prompt)
        conversation = sample.columns.get("messages")
        kept = conversation[prompt:] if isinstance(conversation, list) else ()
    listed = [kept] if isinstance(kept, dict) else kept
    return tuple(message for message in listed if isinstance(message, dict)) if isinstance(listed, list) else ()
