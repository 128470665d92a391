"""One sample to score: prompt, response and ground truth.

A trajectory holds only plain data, so writing it as a JSON line and reading it back gives an equal trajectory. Unknown
columns are kept in `columns` and written back under their original names.
"""

import pickle
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec

from plaudit import jsonline
from plaudit.columns import FIELDS, FOREIGN_NAMES, ColumnMapping, Message, find_foreign, message_text
from plaudit.errors import InvalidTrajectory

__all__ = ["OUTPUT_KEY", "GroupKey", "Message", "Prompt", "Step", "Tokens", "Trajectory", "message_text"]

OUTPUT_KEY = "reward_output"
"""The key beside those of a sample that has its output in a rollouts file."""
Prompt: TypeAlias = str | list[Message]
_USUAL_NAMES = ColumnMapping()
_DIRECT = frozenset(FIELDS) - {"tokens", "steps"}


class GroupKey(NamedTuple):
    """The key of a sample's group; an explicit group never equals a prompt."""

    kind: Literal["group", "prompt"]
    value: str | int

    def __repr__(self) -> str:
        return repr(self.value)


class Tokens(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The response as the model produced it, token by token.

    `offsets` are the character spans of the tokens in the response; `mask` is 0 on tokens the model did not choose.
    """

    ids: list[int]
    offsets: list[tuple[int, int]] | None = None
    logprobs: list[float] | None = None
    mask: list[int] | None = None

    def __post_init__(self) -> None:
        for name, values in (("offsets", self.offsets), ("logprobs", self.logprobs), ("mask", self.mask)):
            if values is not None and len(values) != len(self.ids):
                raise InvalidTrajectory(f"tokens: {len(self.ids)} ids but {len(values)} {name}; give one per token")

    def __len__(self) -> int:
        return len(self.ids)

    def __deepcopy__(self, memo: object) -> "Tokens":
        copied: Tokens = pickle.loads(pickle.dumps(self))  # many times quicker than number by number
        return copied

    @property
    def chosen(self) -> int:
        """The number of tokens that the model chose; the others are an environment's feedback."""
        return len(self.ids) if self.mask is None else sum(map(bool, self.mask))


class Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One turn of a multi-turn episode: the model's input, its output, and the reward."""

    observation: str
    response: str
    reward: float | None = None
    metadata: dict[str, Any] = {}


class Trajectory(msgspec.Struct, frozen=True):
    """A prompt, the response to it, and what is needed to judge the response."""

    prompt: Prompt
    response: str
    ground_truth: Any = None
    metadata: dict[str, Any] = {}
    id: str | int | None = None
    group: str | int | None = None
    task: str | None = None
    tokens: Tokens | None = None
    steps: list[Step] = []
    training_step: int | None = None
    columns: dict[str, Any] = {}

    FIELDS: ClassVar[tuple[str, ...]] = FIELDS

    def __post_init__(self) -> None:
        if type(self.response) is not str:
            raise _wrong_type("response", "text", self.response)
        if type(self.prompt) is not str:
            _check_messages(self.prompt)
        if type(self.metadata) is not dict:
            raise _wrong_type("metadata", "a dict", self.metadata)
        if self.id is not None and not isinstance(self.id, (str, int)):
            raise _wrong_type("id", "text or a whole number", self.id)
        if self.group is not None and not isinstance(self.group, (str, int)):
            raise _wrong_type("group", "text or a whole number", self.group)
        if self.task is not None and not isinstance(self.task, str):
            raise _wrong_type("task", "text", self.task)
        if self.training_step is not None and not isinstance(self.training_step, int):
            raise _wrong_type("training_step", "a whole number", self.training_step)
        if self.columns and (clash := sorted(set(self.columns).intersection((*self.FIELDS, OUTPUT_KEY)))):
            raise InvalidTrajectory(f"columns may not be called {clash}: these are keys of a rollout")

    @property
    def messages(self) -> list[Message]:
        """The whole conversation as chat messages, the response as the last one."""
        prompt = [{"role": "user", "content": self.prompt}] if isinstance(self.prompt, str) else self.prompt
        return [*prompt, {"role": "assistant", "content": self.response}]

    @property
    def prompt_text(self) -> str:
        """The prompt as text; chat messages are joined by blank lines."""
        if isinstance(self.prompt, str):
            return self.prompt
        return "\n\n".join(message_text(message) for message in self.prompt)

    @property
    def group_key(self) -> GroupKey:
        """The key of the group the sample belongs to: its `group`, or its prompt if no group is given."""
        return GroupKey("prompt", self.prompt_text) if self.group is None else GroupKey("group", self.group)

    def label(self, index: int) -> str:
        """The name of this sample in messages: its index, and its id if it has one."""
        return f"sample {index}" if self.id is None else f"sample {index} (id {self.id!r})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; empty fields are left out, columns are on the level of the fields."""
        plain: dict[str, Any] = {"prompt": self.prompt, "response": self.response}
        if self.ground_truth is not None:
            plain["ground_truth"] = self.ground_truth
        if self.metadata:
            plain["metadata"] = self.metadata
        if self.id is not None:
            plain["id"] = self.id
        if self.group is not None:
            plain["group"] = self.group
        if self.task is not None:
            plain["task"] = self.task
        if self.tokens is not None:
            plain["tokens"] = msgspec.to_builtins(self.tokens)
        if self.steps:
            plain["steps"] = msgspec.to_builtins(self.steps)
        if self.training_step is not None:
            plain["training_step"] = self.training_step
        if self.columns:  # a field that is written is not read from a column with a foreign name
            unset = [name for name in FOREIGN_NAMES if name not in plain and find_foreign(self.columns, name)]
            plain.update(dict.fromkeys(unset))
            plain.update(self.columns)
        return plain

    def to_json(self) -> str:
        """One line of JSON that `from_json` turns into an equal trajectory."""
        try:
            return jsonline.encode(self.to_dict()).decode()
        except jsonline.NotPlain as error:
            raise InvalidTrajectory(f"the trajectory cannot be written as JSON: {error}") from None

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], columns: ColumnMapping = _USUAL_NAMES) -> "Trajectory":
        """The trajectory that `to_dict` wrote, or that a row of another system holds; unknown keys become `columns`.

        Fields are also found under their usual foreign names (`question`, `completion`, `answer`), or where `columns`
        says. Of a conversation under `messages`, what the assistant said last is the response. The output of an earlier
        scoring, under `reward_output`, is no part of the sample.
        """
        if not columns.chosen and _is_direct(plain):
            return cls(**plain)
        plain = columns.rename(plain)
        known = {name: plain[name] for name in cls.FIELDS if name in plain}
        further = {name: value for name, value in plain.items() if name not in known and name != OUTPUT_KEY}
        if known.get("metadata", {}) is None:
            del known["metadata"]
        try:
            if known.get("tokens") is not None:
                known["tokens"] = msgspec.convert(known["tokens"], Tokens)
            if "steps" in known:
                known["steps"] = msgspec.convert(known["steps"] or [], list[Step])
        except msgspec.ValidationError as error:
            raise InvalidTrajectory(f"tokens or steps: {error}") from None
        return cls(**known, columns=further)

    @classmethod
    def from_json(cls, line: str | bytes) -> "Trajectory":
        """The trajectory that `to_json` wrote."""
        try:
            plain = jsonline.decode(line.encode(errors="surrogatepass") if isinstance(line, str) else line)
        except jsonline.InvalidJSON as error:
            raise InvalidTrajectory(f"not a JSON line: {error}") from None
        if not isinstance(plain, dict):
            raise InvalidTrajectory(f"a trajectory is a JSON object, got {type(plain).__name__}")
        return cls.from_dict(plain)


def _is_direct(plain: Mapping[str, Any]) -> bool:
    """Whether a row holds fields alone, under our names and as a trajectory has them, so that nothing is converted."""
    return (
        type(plain.get("response")) is str
        and "prompt" in plain
        and plain.get("metadata", plain) is not None
        and _DIRECT.issuperset(plain)
    )


def _check_messages(prompt: Any) -> None:
    if not isinstance(prompt, list):
        raise _wrong_type("prompt", "text or a list of chat messages", prompt)
    for index, message in enumerate(prompt):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InvalidTrajectory(
                f"prompt[{index}] is not a chat message: expected {{'role': …, 'content': …}}, got {message!r:.80}"
            )


def _wrong_type(name: str, expected: str, value: Any) -> InvalidTrajectory:
    return InvalidTrajectory(f"{name} must be {expected}, got {type(value).__name__} {value!r:.60}")
