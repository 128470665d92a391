"""The fields of a sample, what other systems call them, and how a row under any of these names is read.

Reading a data file, a dict and the parameters of a function all use this table.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plaudit.errors import InvalidSettings, InvalidTrajectory, did_you_mean

Message: TypeAlias = dict[str, Any]
"""A chat message: `role`, `content` and whatever else the chat template reads."""

FIELDS = (
    "prompt", "response", "ground_truth", "metadata", "id", "group", "task", "tokens", "steps", "training_step",
)  # fmt: skip
FOREIGN_NAMES: dict[str, tuple[str, ...]] = {
    "prompt": (
        "question", "problem", "query", "instruction", "input", "question_stem", "responses_create_params.input",
    ),
    "response": ("completion", "generation", "solution_str", "generated_text", "output", "action_text"),
    "ground_truth": (
        "answer", "solution", "label", "target", "reference", "gold", "expected_answer", "reward_model.ground_truth",
        "answers", "final_answer", "correct_answer", "gold_answer", "reference_answer",
    ),
    "group": ("group_id", "prompt_id"),
    "task": ("data_source",),
    "metadata": ("extra_info", "info"),
}  # fmt: skip

MAPPABLE = (*FIELDS, "messages")
KEPT_MESSAGES = "response_messages"
PAIRS = "user_data"
_OURS = {foreign: ours for ours, names in FOREIGN_NAMES.items() for foreign in names}

# A foreign name is only a guess: a column that cannot be the field ("info": "see above") stays a column.
_FITTING: dict[str, tuple[type, ...]] = {"group": (str, int), "task": (str,), "metadata": (dict,)}
_ABSENT = object()
_PLAIN = {str, int, float, bool, type(None)}


def our_name(foreign: str) -> str | None:
    """The field that `foreign` names, or None: `our_name("completion") == "response"`."""
    return _OURS.get(foreign)


def usual_names_of(field: str) -> tuple[str, ...]:
    """The field's own name and its foreign names that can be a column or a parameter."""
    return (field, *(name for name in FOREIGN_NAMES.get(field, ()) if name.isidentifier()))


def foreign_names_of(field: str, present: Iterable[str]) -> list[str]:
    """The foreign names of `field` that are `present`, most usual first."""
    names = set(present)
    return [name for name in FOREIGN_NAMES.get(field, ()) if name in names]


def find_foreign(row: Mapping[str, Any], name: str) -> str | None:
    """The column that holds a field under a foreign name, most usual first; None if no column does.

    A column that is null (or NaN, as pandas has it) holds nothing: tables of several data sets have such columns.
    """
    fitting = _FITTING.get(name, object)
    for column in FOREIGN_NAMES.get(name, ()):
        value = look_up(row, column)
        if value is not _ABSENT and value is not None and isinstance(value, fitting) and not _is_nan(value):
            return column
    return None


def without_arrays(value: Any) -> Any:
    """The same data with lists and plain numbers in place of numpy's, in which pandas has the columns of a table."""
    if isinstance(value, dict):
        return {name: without_arrays(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_arrays(each) for each in value]
    return without_arrays(value.tolist()) if hasattr(value, "tolist") else value


def is_sample(row: Mapping[str, Any]) -> bool:
    """Whether a dict is a sample: it has a response or messages, or a prompt and a response under foreign names."""
    if "response" in row or "messages" in row:
        return True
    return find_foreign(row, "response") is not None and ("prompt" in row or find_foreign(row, "prompt") is not None)


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which column holds which field: `chosen` by the user (field → column), all others by their usual names.

    A mapped column is renamed, not copied, and a field's own name has priority over foreign ones. Chat messages become
    prompt and response; if that drops something (tool calls, turns after the answer), the messages stay as a column.
    Pairs under `user_data`, as Twinkle has them beside messages, become columns.
    """

    chosen: Mapping[str, str] = field(default_factory=dict)
    usual_names: bool = True
    """Whether fields are also looked up under foreign names that the user did not choose."""
    needs_response: bool = True
    """False: a row may be a prompt alone; its response is then empty."""

    def __post_init__(self) -> None:
        for name in self.chosen:
            if name not in MAPPABLE:
                hint = did_you_mean(name, MAPPABLE)
                raise InvalidSettings(
                    f"columns: no field named {name!r}{hint} (write FIELD=COLUMN; the fields are {', '.join(MAPPABLE)})"
                )

    def rename(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row under our names; raises InvalidTrajectory if a needed column is missing."""
        ours = self._with_chosen(row) if self.chosen else dict(row)
        if _holds_arrays(ours):
            ours = without_arrays(ours)
        for name in ("prompt", "messages"):
            if ours.get(name, _ABSENT) is None:
                del ours[name]
        pairs = _take_pairs(ours)
        for name in FOREIGN_NAMES if self.usual_names else ():
            if name not in ours and (column := find_foreign(ours, name)) is not None:
                ours[name] = look_up(ours, column)
                ours.pop(column, None)  # a nested value stays where it is as well
        for name, value in pairs.items():
            ours.setdefault(name, value)
        if isinstance(turns := ours.get("prompt"), list) and turns and all(isinstance(turn, list) for turn in turns):
            ours["prompt"] = [message for turn in turns for message in turn]  # BFCL has a list of turns
        if "messages" in ours and not ("prompt" in ours and "response" in ours):
            if not self.needs_response and not _has_answer(ours["messages"]):
                ours.setdefault("prompt", ours.pop("messages"))
            else:
                _split_messages(ours)
        if not self.needs_response:
            ours.setdefault("response", "")
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


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _holds_arrays(value: Any) -> bool:
    """Whether data has arrays in it; of a list, whose items are alike, only the first item is looked at."""
    if isinstance(value, str | int | float | None):
        return type(value) not in _PLAIN and hasattr(value, "tolist")
    if isinstance(value, dict):
        return any(map(_holds_arrays, value.values()))
    return _holds_arrays(value[0]) if isinstance(value, list) and value else hasattr(value, "tolist")


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a chat message whose content is text or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _chosen_value(row: Mapping[str, Any], name: str, column: str, taken: set[str]) -> Any:
    value = look_up(row, column)
    standard = row.get(name, _ABSENT) if name not in taken or name == column else _ABSENT
    if value is _ABSENT:
        hint = did_you_mean(column, row)
        if standard is not _ABSENT and not hint:
            hint = f"; column {name!r} exists: leave out {name}={column} to read it"
        raise InvalidTrajectory(f"no column {column!r} to read {name!r} from{hint} (found {_list_columns(row)})")
    if standard is not _ABSENT and standard is not None and standard != value:
        raise InvalidTrajectory(
            f"columns {name!r} and {column!r} both exist and differ; leave out {name}={column} to read {name!r}, "
            "or rename one of the two columns"
        )
    return value


def look_up(row: Mapping[str, Any], column: str) -> Any:
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


def _take_pairs(row: dict[str, Any]) -> dict[str, Any]:
    """Remove the pairs that accompany messages from the row and return them; they may hold a ground truth."""
    listed = row.get(PAIRS)
    if "messages" not in row or ("prompt" in row and "response" in row) or not isinstance(listed, list):
        return {}
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in listed):
        return {}
    del row[PAIRS]
    pairs = {str(name): value for name, value in listed}
    if "ground_truth" not in row and (column := find_foreign(pairs, "ground_truth")) is not None:
        pairs.setdefault("ground_truth", look_up(pairs, column))
    return pairs


def _split_messages(row: dict[str, Any]) -> None:
    messages = _conversation(row["messages"])
    if messages is None:
        value = row["messages"]
        raise InvalidTrajectory(f"messages must be a list of chat messages, got {type(value).__name__} {value!r:.60}")
    answers = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    if "response" not in row:
        if not answers:
            raise InvalidTrajectory("'messages' holds no assistant message, so there is no response to score")
        row["response"] = message_text(messages[answers[-1]])
        row.setdefault("prompt", messages[: answers[-1]])
    else:
        ends_so = messages[-1]["role"] == "assistant" and message_text(messages[-1]) == row["response"]
        row["prompt"] = messages[:-1] if ends_so else messages
    prompt = row["prompt"]
    prompt = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if messages in (prompt, [*prompt, _answer(row["response"])]):
        del row["messages"]


def _join_response(row: dict[str, Any]) -> None:
    """Replace a response in chat messages by the text of its last assistant message."""
    response = row["response"]
    messages = _conversation([response] if isinstance(response, dict) else response)
    if messages is None:
        return  # building the trajectory raises the error
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        raise InvalidTrajectory("'response' is a list of chat messages without an assistant message")
    row["response"] = message_text(answers[-1])
    if messages != [_answer(row["response"])]:
        row.setdefault(KEPT_MESSAGES, response)


def _conversation(value: Any) -> list[Message] | None:
    """The value as a list of chat messages; None if it is something else."""
    if not isinstance(value, list | tuple) or not value:
        return None
    if not all(isinstance(message, Mapping) and isinstance(message.get("role"), str) for message in value):
        return None
    return [dict(message) for message in value]


def _has_answer(messages: Any) -> bool:
    conversation = _conversation(messages)
    return conversation is None or any(message["role"] == "assistant" for message in conversation)


def _answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _describe_missing(name: str, row: Mapping[str, Any], ours: Mapping[str, Any]) -> InvalidTrajectory:
    free = [column for column in ours if column not in MAPPABLE and isinstance(ours[column], str | list)]
    guess = free[0] if len(free) == 1 else "COLUMN"
    return InvalidTrajectory(
        f"no {name!r} column{did_you_mean(name, row)} (found {_list_columns(row)}); "
        f"say which column holds it: --columns {name}={guess}"
    )


def _list_columns(row: Mapping[str, Any]) -> str:
    return ", ".join(map(str, row)) or "no columns at all"
