"""Read prompts and demonstrations from data files, and build prompts from their columns.

Columns are found by their usual names, as in rollouts files. A response in the data is not a response of the policy:
it is left out, and so is a final assistant message at the end of chat messages. A template inserts values unchanged:
braces in a question are text, not column names.
"""

import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from plaudit.columns import FOREIGN_NAMES, ColumnMapping
from plaudit.errors import DataError, InvalidSettings, PlauditError, RolloutsError, did_you_mean, require
from plaudit.jsonline import InvalidJSON
from plaudit.rollouts.reading import describe_bad_row
from plaudit.rollouts.sources import source_of
from plaudit.training.data.prompts import Prompts
from plaudit.trajectory import OUTPUT_KEY, Message, Prompt, Trajectory


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """`PromptTemplate("Question: {question}\\nAnswer:")`; without a text, the prompt is taken as it is.

    With `chat`, or with a `system` message, a text becomes a user's chat message, for the model's own chat template.
    """

    text: str | None = None
    system: str | None = None
    chat: bool = False

    def __post_init__(self) -> None:
        if self.text is None:
            return
        try:
            names = [name for _, name, _, _ in string.Formatter().parse(self.text) if name is not None]
        except ValueError as error:
            raise DataError(f"the template {self.text!r:.80} cannot be read: {error}; write {{{{ for a brace") from None
        if not names:
            raise DataError(f"the template {self.text!r:.80} names no column; write one in braces, such as {{prompt}}")
        for name in names:
            if not name or not name.replace(".", "_").replace("-", "_").isidentifier():
                raise DataError(f"the template {self.text!r:.80} has {{{name}}}; name a column there")

    def fill(self, columns: Mapping[str, Any], prompt: Prompt | None) -> Prompt:
        """The prompt of one row: `columns` under their own names, and `prompt` unchanged."""
        if self.text is None:
            if prompt is None:
                raise DataError(f"no prompt among {sorted(columns)}; name the column that holds it, or give a template")
            return self._as_chat(prompt)
        known = dict(columns) if prompt is None else {"prompt": prompt, **columns}
        parts = [
            literal if name is None else literal + _value(known, name)
            for literal, name, _, _ in string.Formatter().parse(self.text)
        ]
        return self._as_chat("".join(parts))

    def _as_chat(self, prompt: Prompt) -> Prompt:
        if not self.chat and self.system is None:
            return prompt
        messages: list[Message] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        begins = [] if self.system is None else [{"role": "system", "content": self.system}]
        return [*begins, *messages]


def set_template_arguments(tokenizer: Any, arguments: Mapping[str, Any]) -> None:
    """Add arguments to the tokenizer's chat template, so that every use and every saved copy includes them."""
    if not arguments:
        return
    if not tokenizer.chat_template:
        raise InvalidSettings(
            f"data.chat_template_args={dict(arguments)}: the model's tokenizer has no chat template that takes them"
        )
    assignments = "".join(f"{{%- set {name} = {_literal(name, value)} -%}}" for name, value in arguments.items())
    template = tokenizer.chat_template
    named = isinstance(template, dict)
    tokenizer.chat_template = (
        {name: assignments + each for name, each in template.items()} if named else assignments + template
    )


def _literal(name: str, value: Any) -> str:
    """A plain value as Jinja writes it, which is as Python does."""
    if not name.isidentifier():
        raise InvalidSettings(f"data.chat_template_args: {name!r} cannot be the name of an argument")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidSettings(f"data.chat_template_args: {name}={value!r:.60} is not a plain value") from None
    return repr(value)


def _value(columns: Mapping[str, Any], name: str) -> str:
    value: Any = columns.get(name, _ABSENT)
    for part in name.split(".") if value is _ABSENT else ():
        within = columns if value is _ABSENT else value
        if not isinstance(within, Mapping) or part not in within:
            raise DataError(
                f"the template asks for {{{name}}}, but there is no such column{did_you_mean(name, columns)} "
                f"(found {', '.join(columns) or 'none'})"
            )
        value = within[part]
    return value if isinstance(value, str) else str(value)


_ABSENT = object()


RESPONSE_COLUMNS = ("response", "tokens", "steps", "training_step", OUTPUT_KEY)


def read_prompts(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    template: PromptTemplate | None = None,
    split: str = "train",
    limit: int | None = None,
) -> Prompts:
    """The prompts of a data file, with ground truths and columns.

    `columns` maps fields to columns (`{"ground_truth": "answers"}`), `template` builds prompts from columns, `split`
    selects a part of a dataset folder. `limit` stops after so many rows.
    """
    rows = _read_rows(path, split, partial(_row, ColumnMapping(columns or {}), template or PromptTemplate()), limit)
    if not rows:
        raise DataError(f"{path} holds no prompts")
    return Prompts(tuple(rows))


def read_demonstrations(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    template: PromptTemplate | None = None,
    split: str = "train",
) -> list[Trajectory]:
    """Prompts with the responses to learn; chat messages end with the response."""
    make = partial(_demonstration, ColumnMapping(columns or {}), template or PromptTemplate())
    rows = _read_rows(path, split, make, None)
    if not rows:
        raise DataError(f"{path} holds no demonstrations")
    return rows


def _read_rows(
    path: str | Path, split: str, make: Callable[[Mapping[str, Any]], Trajectory], limit: int | None
) -> list[Trajectory]:
    rows: list[Trajectory] = []
    for name, raw in islice(rows_of(Path(path), split), limit):
        try:
            rows.append(make(raw))
        except PlauditError as error:
            raise DataError(f"{name}: {error}") from None
    return rows


def _row(mapping: ColumnMapping, template: PromptTemplate, raw: Mapping[str, Any]) -> Trajectory:
    if not isinstance(raw, Mapping):
        raise DataError(f"expected an object with a prompt, got {type(raw).__name__} {raw!r:.60}")
    kept = {name: value for name, value in raw.items() if name not in RESPONSE_COLUMNS}
    return _fill(mapping, template, kept, {**_drop_answer(kept), "response": ""})


def _demonstration(mapping: ColumnMapping, template: PromptTemplate, raw: Mapping[str, Any]) -> Trajectory:
    row = _fill(mapping, template, raw, dict(raw))
    if not row.response.strip():
        raise DataError("the response is empty; a demonstration needs the right answer")
    return row


def _fill(mapping: ColumnMapping, template: PromptTemplate, raw: Mapping[str, Any], row: dict[str, Any]) -> Trajectory:
    """The trajectory of a row, with the template filled from the columns of `raw`."""
    if template.text is not None and not _has_prompt(raw, mapping):
        row["prompt"] = ""  # the template builds one from other columns
    renamed = mapping.rename(row)
    return Trajectory.from_dict({**renamed, "prompt": template.fill(raw, renamed["prompt"])})


def _has_prompt(row: Mapping[str, Any], mapping: ColumnMapping) -> bool:
    return "prompt" in mapping.chosen or any(name in row for name in ("prompt", "messages", *FOREIGN_NAMES["prompt"]))


def _drop_answer(row: dict[str, Any]) -> dict[str, Any]:
    """A row of chat messages without the answer at their end."""
    for name in ("prompt", "messages"):
        messages = row.get(name)
        if isinstance(messages, list) and len(messages) > 1 and _role(messages[-1]) == "assistant":
            return {**row, name: messages[:-1]}
    return row


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, Mapping) else None


Rows = Iterator[tuple[str, Mapping[str, Any]]]
"""Rows with how messages name them: file and line."""

FILES = (".jsonl", ".gz", ".parquet", ".csv")
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<subset>[\w.-]+))?")
"""`gsm8k`, `openai/gsm8k`, or `openai/gsm8k@main` with the subset that is meant."""


def rows_of(path: Path, split: str) -> Rows:
    """The rows of a data set, each with how messages name it; what is neither file nor folder is a name on the hub."""
    if path.is_dir():
        return _folder_rows(path, split)
    name = _HUB_NAME.fullmatch(path.as_posix())
    if (
        name
        and not path.exists()
        and path.suffix.lower() not in FILES
        and not did_you_mean(path.name, _neighbours(path))
    ):
        return _hub_rows(name["name"], name["subset"], split)
    return _source_rows(path)


def _source_rows(path: Path) -> Rows:
    try:
        source = source_of(path)
        for number, raw in source.raw_rows():
            try:
                row = source.decode(raw)
            except (InvalidJSON, RolloutsError) as error:
                raise DataError(f"{path}:{number}: {describe_bad_row(error, raw)}") from None
            yield f"{path}:{number}", row
    except RolloutsError as error:
        raise DataError(str(error)) from error


def _neighbours(path: Path) -> list[str]:
    return [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []


def _folder_rows(folder: Path, split: str) -> Rows:
    """The rows of a saved dataset, or of the data files in a folder whose names begin with the split's."""
    saved = any((folder / name).exists() for name in ("dataset_dict.json", "state.json"))
    if saved:
        yield from _saved_rows(folder, split)
        return
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() in FILES and file.is_file()]
    if not files:
        raise DataError(
            f"{folder} holds no data: neither a dataset that `datasets` saved nor files in {', '.join(FILES)}"
        )
    chosen = [file for file in files if file.name.startswith(split)]
    if not chosen:
        raise DataError(
            f"{folder}: no file of the split {split!r}; there are {', '.join(file.name for file in files[:8])}"
        )
    for file in chosen:
        yield from rows_of(file, split)


def _saved_rows(folder: Path, split: str) -> Rows:
    datasets = require("datasets", extra="train", purpose="reading a dataset folder")
    data_set = datasets.load_from_disk(str(folder))
    if isinstance(data_set, datasets.DatasetDict):
        if split not in data_set:
            raise DataError(
                f"{folder} has no split {split!r}{did_you_mean(split, data_set)} (it has {', '.join(data_set)})"
            )
        data_set = data_set[split]
    for number, row in enumerate(data_set):
        yield f"{folder}, row {number}", row


def _hub_rows(name: str, subset: str | None, split: str) -> Rows:
    """The rows of a data set of the Hugging Face hub, or of its copy in the cache of `datasets`."""
    purpose = f"there is no file {name}; reading it as a data set of the Hugging Face hub"
    datasets = require("datasets", extra="train", purpose=purpose)
    arguments = ", ".join(repr(each) for each in (name, subset) if each)
    try:
        data_set = datasets.load_dataset(name, subset, split=split)
    except ValueError as error:  # no such split, or one of several subsets has to be chosen
        raise DataError(
            f"the data set {name}: {' '.join(str(error).split()):.300} (data.split names the split, {name}@SUBSET the "
            "subset)"
        ) from error
    except OSError as error:
        raise DataError(
            f"there is no file {name}, and no data set of that name could be loaded from the Hugging Face hub "
            f"({' '.join(str(error).split()):.200}). Without a network, make a local copy where there is one, "
            f"datasets.load_dataset({arguments}).save_to_disk({name.rpartition('/')[2]!r}), and give the path of that "
            "folder; or give a .jsonl, .parquet or .csv file"
        ) from error
    for number, row in enumerate(data_set):
        yield f"{name}, row {number}", row
