"""A preference pair: two responses to one prompt, of which one was chosen; and the rows that other systems write.

A row has `chosen` and `rejected` as texts, as chat messages, or as transcripts of `Human:` and `Assistant:` turns, with
or without a `prompt`. All become conversations, so that training reads a response as a reward model does later.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.columns import FOREIGN_NAMES
from plaudit.errors import DataError, InvalidTrajectory, did_you_mean
from plaudit.trajectory import OUTPUT_KEY, Message, Prompt, Trajectory, message_text

USUAL_NAMES = {
    "prompt": ("prompt", *FOREIGN_NAMES["prompt"]),
    "chosen": ("chosen", "chosen_response", "response_chosen", "preferred"),
    "rejected": ("rejected", "rejected_response", "response_rejected", "dispreferred"),
}
"""The columns of a pair; a user may choose others."""
TURN = re.compile(r"(?:^|\n\n)(Human|Assistant):[ ]?")
ROLES = {"Human": "user", "Assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """Two conversations with different assistant messages, the better one first."""

    chosen: Trajectory
    rejected: Trajectory
    location: str = ""
    """File and line, for messages."""
    rewards: tuple[float, float] | None = None
    """The rewards of both, if the pair was built from scored rollouts."""

    @property
    def margin(self) -> float | None:
        """By how much the chosen response is better, if the rewards are known."""
        return None if self.rewards is None else self.rewards[0] - self.rewards[1]

    @property
    def prompt_key(self) -> str:
        """The key of the prompt: the text before both responses with normalised white space."""
        return " ".join(_shared_text(self.chosen, self.rejected).split())

    @property
    def response_keys(self) -> tuple[str, str]:
        """The keys of both responses, chosen and rejected."""
        return tuple(" ".join(side.response.split()) for side in (self.chosen, self.rejected))  # type: ignore[return-value]  # of two

    def to_row(self) -> dict[str, Any]:
        """The pair as TRL and this package read it."""
        prompt, answers = self.chosen.prompt, [self.chosen.response, self.rejected.response]
        if prompt != self.rejected.prompt:
            return {"chosen": self.chosen.messages, "rejected": self.rejected.messages}
        sides = answers if isinstance(prompt, str) else [[{"role": "assistant", "content": text}] for text in answers]
        row = {"prompt": prompt, "chosen": sides[0], "rejected": sides[1]}
        if self.rewards is None:
            return row
        known = {"group": self.chosen.group, "chosen_id": self.chosen.id, "rejected_id": self.rejected.id}
        earned = dict(zip(("chosen_reward", "rejected_reward"), self.rewards, strict=True))
        return {**row, **earned, **{name: value for name, value in known.items() if value is not None}}


def read_pair(row: Any, columns: Mapping[str, str] | None = None, location: str = "") -> PreferencePair:
    """The pair that a row holds, in its usual columns or in those that `columns` names; DataError if there is none."""
    if not isinstance(row, Mapping):
        raise DataError(f"expected an object with chosen and rejected, got {type(row).__name__} {row!r:.60}")
    names = USUAL_NAMES | {field: (column,) for field, column in (columns or {}).items()}
    prompt = _prompt_of(row, names["prompt"])
    sides = {field: _find(row, names[field]) for field in ("chosen", "rejected")}
    if prompt is None and all(isinstance(value, str) and _turns(value) for value in sides.values()):
        sides = {name: _turns(value) for name, value in sides.items()}  # else a response only quotes a transcript
    first, second = (_conversation(name, value, prompt) for name, value in sides.items())
    if first.messages == second.messages or (
        first.prompt == second.prompt and first.response.strip() == second.response.strip()
    ):
        raise DataError(f"chosen and rejected are the same text: {first.response!r:.60}; a pair needs two responses")
    return PreferencePair(first, second, location)


def _find(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    present = next((each for each in names if each in row), None)
    if present is not None and row[present] is not None:
        return row[present]
    if present is not None:
        raise DataError(f"{present} is null; a pair needs a response there, as text or chat messages")
    if OUTPUT_KEY in row:
        raise DataError(
            f"no column {names[0]!r}: this is a scored rollouts file; make pairs of it first: "
            "plaudit pairs SCORED -o pairs.jsonl"
        )
    hint = did_you_mean(names[0], row)
    raise DataError(f"no column {names[0]!r}{hint} (found {', '.join(map(str, row)) or 'none'})")


def _prompt_of(row: Mapping[str, Any], names: Sequence[str]) -> Prompt | None:
    if len(names) == 1 and names[0] not in row:  # it was chosen by the user
        hint = did_you_mean(names[0], row)
        raise DataError(f"no column {names[0]!r} for the prompt{hint} (found {', '.join(map(str, row))})")
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if value is None:
        return None
    if not isinstance(value, str | list):
        raise DataError(f"the prompt must be text or chat messages, got {type(value).__name__} {value!r:.60}")
    if isinstance(value, str):
        turns = _turns(value)
        return value if turns is None else turns if turns[-1]["content"] else turns[:-1]
    return _messages("prompt", value)


def _conversation(name: str, value: Any, prompt: Prompt | None) -> Trajectory:
    """One response of the pair with the conversation before it."""
    if isinstance(value, str):
        return _trajectory(name, "" if prompt is None else prompt, value)
    if not isinstance(value, list):
        raise DataError(f"{name} must be text or chat messages, got {type(value).__name__} {value!r:.60}")
    messages = _messages(name, value)
    if not messages or messages[-1]["role"] != "assistant":
        raise DataError(f"{name} must end with the assistant message that is compared")
    before: Prompt = messages[:-1]
    if prompt is not None and not _is_whole(messages):
        prompt_messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        before = prompt if len(messages) == 1 else [*prompt_messages, *before]
    elif prompt is not None and _last_text(prompt).strip() not in (message_text(each).strip() for each in messages):
        raise DataError(
            f"{name} is a conversation of its own in which the prompt does not occur; leave one of them out"
        )
    return _trajectory(name, before or "", message_text(messages[-1]))


def _trajectory(name: str, prompt: Prompt, response: str) -> Trajectory:
    if not response.strip():
        raise DataError(f"{name} is empty; a pair needs two responses with text")
    return Trajectory(prompt=prompt, response=response)


def _messages(name: str, value: list[Any]) -> list[Message]:
    try:
        Trajectory(prompt=value, response="")
    except InvalidTrajectory as error:
        raise DataError(str(error).replace("prompt", name, 1)) from None
    return [dict(message) for message in value]


def _is_whole(messages: list[Message]) -> bool:
    """Whether messages begin with the user's question, and so need no prompt before them."""
    return next((each["role"] for each in messages if each["role"] != "system"), None) == "user"


def _last_text(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else message_text(prompt[-1]) if prompt else ""


def _turns(text: str) -> list[Message] | None:
    """The turns of a transcript such as "\\n\\nHuman: Hi.\\n\\nAssistant: Hello."; None if the text is none."""
    bare = text.lstrip()
    if not bare.startswith("Human:") or "\n\nAssistant:" not in bare:
        return None
    _, *parts = TURN.split(bare)
    return [
        {"role": ROLES[who], "content": content.strip()} for who, content in zip(parts[::2], parts[1::2], strict=True)
    ]


def _shared_text(first: Trajectory, second: Trajectory) -> str:
    if first.prompt == second.prompt:
        return first.prompt_text
    shared = []
    for one, other in zip(first.messages[:-1], second.messages[:-1], strict=False):
        if one != other:
            break
        shared.append(message_text(one))
    return "\n\n".join(shared)
