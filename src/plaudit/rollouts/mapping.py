"""Read rows whose columns carry other systems' names.

A mapped column is renamed, not copied, and a field's own name wins over foreign ones. Chat messages become prompt and
response; where that would drop something (tool calls, turns after the answer) the messages stay as a column too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plaudit.columns import FOREIGN_NAMES
from plaudit.errors import RolloutsError, did_you_mean
from plaudit.trajectory import Message, Trajectory, message_text

__all__ = ["ColumnMapping"]

MAPPABLE = (*Trajectory.FIELDS, "messages")
KEPT_MESSAGES = "response_messages"

# A foreign name is only a guess: a column that cannot be the field ("info": "see above") stays a column.
_FITTING: dict[str, tuple[type, ...]] = {"group": (str, int), "task": (str,), "metadata": (dict,)}
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column holds which field: `chosen` by the user (field → column), all others by their usual names."""

    chosen: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.chosen:
            if name not in MAPPABLE:
                hint = did_you_mean(name, MAPPABLE)
                raise RolloutsError(
                    f"columns: no field named {name!r}{hint} (write FIELD=COLUMN; the fields are {', '.join(MAPPABLE)})"
                )

    def rename(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row under our names; raises RolloutsError when a needed column is missing."""
        ours = self._with_chosen(row) if self.chosen else dict(row)
        for name, foreign in FOREIGN_NAMES.items():
            if name not in ours:
                _take_foreign(ours, name, foreign)
        if "messages" in ours and not ("prompt" in ours and "response" in ours):
            _split_messages(ours)
        if isinstance(ours.get("response"), list | dict):
            _join_response(ours)
        for name in ("prompt", "response"):
            if name not in ours:
                raise _describe_missing(name, row, ours)
        return ours

    def _with_chosen(self, row: Mapping[str, Any]) -> dict[str, Any]:
        taken = set(self.chosen.values())
        values = {name: _chosen_value(row, name, column, taken) for name, column in self.chosen.items()}
        return {**{column: value for column, value in row.items() if column not in taken}, **values}


def _chosen_value(row: Mapping[str, Any], name: str, column: str, taken: set[str]) -> Any:
    value = _lookup(row, column)
    own = row.get(name, _ABSENT) if name not in taken or name == column else _ABSENT
    if value is _ABSENT:
        hint = did_you_mean(column, row)
        if own is not _ABSENT and not hint:
            hint = f"; there is {name!r} itself: leave out {name}={column} to read that"
        raise RolloutsError(f"no column {column!r} to read {name!r} from{hint} (found {_list_columns(row)})")
    if own is not _ABSENT and own != value:
        raise RolloutsError(
            f"both {name!r} and {column!r} are there and differ; leave out {name}={column} to read {name!r}, "
            "or rename one of the two columns"
        )
    return value


def _lookup(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column; `a.b` is the key `b` of the object in column `a`."""
    if column in row:
        return row[column]
    if "." not in column:
        return _ABSENT
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def _take_foreign(row: dict[str, Any], name: str, foreign: tuple[str, ...]) -> None:
    for column in foreign:
        value = _lookup(row, column)
        if value is not _ABSENT and isinstance(value, _FITTING.get(name, object)):
            row[name] = value
            row.pop(column, None)  # a nested value stays where it is as well
            return


def _split_messages(row: dict[str, Any]) -> None:
    messages = row["messages"]
    if not _is_conversation(messages):
        return
    answers = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if "response" not in row:
        if not answers:
            raise RolloutsError("'messages' holds no assistant message, so there is no response to score")
        row["response"] = message_text(messages[answers[-1]])
        row.setdefault("prompt", messages[: answers[-1]])
    else:
        ends_so = messages[-1]["role"] == "assistant" and message_text(messages[-1]) == row["response"]
        row["prompt"] = messages[:-1] if ends_so else messages
    asked = row["prompt"]
    asked = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    if messages in (asked, [*asked, _answer(row["response"])]):
        del row["messages"]


def _join_response(row: dict[str, Any]) -> None:
    """A response given as chat messages becomes the text of the last assistant message."""
    given = row["response"]
    messages = [given] if isinstance(given, dict) else given
    if not _is_conversation(messages):
        return  # the trajectory says what is wrong with it
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        raise RolloutsError("'response' is a list of chat messages without an assistant message")
    row["response"] = message_text(answers[-1])
    if messages != [_answer(row["response"])]:
        row.setdefault(KEPT_MESSAGES, given)


def _is_conversation(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in value)
    )


def _answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _describe_missing(name: str, row: Mapping[str, Any], ours: Mapping[str, Any]) -> RolloutsError:
    free = [column for column in ours if column not in MAPPABLE and isinstance(ours[column], str | list)]
    guess = free[0] if len(free) == 1 else "COLUMN"
    return RolloutsError(
        f"no {name!r} column{did_you_mean(name, row)} (found {_list_columns(row)}); "
        f"say which column holds it: --columns {name}={guess}"
    )


def _list_columns(row: Mapping[str, Any]) -> str:
    return ", ".join(row) or "no columns at all"
