"""Read prompts and demonstrations from the rows of data files.

Columns are found by their usual names, as in rollouts files. A response in the data is not a response of the policy:
it is left out, and so is an assistant's last word at the end of chat messages.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plaudit.columns import FOREIGN_NAMES, ColumnMapping
from plaudit.errors import DataError, PlauditError
from plaudit.rollouts.rollout import OUTPUT_KEY
from plaudit.training.data.prompts import Prompts
from plaudit.training.data.rows import rows_of
from plaudit.training.data.templates import PromptTemplate
from plaudit.training.model.encoding import count_tokens
from plaudit.trajectory import Trajectory

__all__ = ["keep_fitting", "read_demonstrations", "read_prompts"]

OF_A_RESPONSE = ("response", "tokens", "steps", "training_step", OUTPUT_KEY)


def read_prompts(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    template: PromptTemplate | None = None,
    split: str = "train",
    limit: int | None = None,
) -> Prompts:
    """The prompts of a data file, with ground truths and columns.

    `columns` says which column holds which field (`{"ground_truth": "answers"}`), `template` how a prompt is made of
    them, `split` which part of a dataset folder is meant. `limit` stops after so many rows.
    """
    mapping, template = ColumnMapping(columns or {}), template or PromptTemplate()
    rows: list[Trajectory] = []
    for name, raw in rows_of(Path(path), split):
        if limit is not None and len(rows) >= limit:
            break
        try:
            rows.append(_row(raw, mapping, template))
        except PlauditError as error:
            raise DataError(f"{name}: {error}") from None
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
    """Prompts with the responses that are to be learnt from them; chat messages end with the response."""
    mapping, template = ColumnMapping(columns or {}), template or PromptTemplate()
    rows: list[Trajectory] = []
    for name, raw in rows_of(Path(path), split):
        try:
            made = {"prompt": ""} if template.text is not None and not _has_prompt(raw, mapping) else {}
            found = mapping.rename({**raw, **made})
            row = Trajectory.from_dict({**found, "prompt": template.fill(raw, found["prompt"])})
        except PlauditError as error:
            raise DataError(f"{name}: {error}") from None
        if not row.response.strip():
            raise DataError(f"{name}: the response is empty; a demonstration says what is to be answered")
        rows.append(row)
    if not rows:
        raise DataError(f"{path} holds no demonstrations")
    return rows


def keep_fitting(prompts: Prompts, tokenizer: Any, longest: int, *, drop: bool = False) -> Prompts:
    """The prompts of at most `longest` tokens; a longer one raises DataError, unless such are to be dropped."""
    lengths = count_tokens(tokenizer, prompts.prompts)
    long = [place for place, length in enumerate(lengths) if length > longest]
    if not long:
        return prompts
    first = long[0]
    problem = (
        f"{len(long)} of {len(prompts)} prompts are longer than {longest} tokens; the first is "
        f"{prompts[first].label(first)} with {lengths[first]}: {prompts[first].prompt_text!r:.60}"
    )
    if not drop:
        raise DataError(f"{problem}; shorten them, raise the limit as far as the model's context goes, or drop them")
    if len(long) == len(prompts):
        raise DataError(f"{problem}; none would be left")
    return prompts.pick(place for place, length in enumerate(lengths) if length <= longest)


def _row(raw: Mapping[str, Any], mapping: ColumnMapping, template: PromptTemplate) -> Trajectory:
    if not isinstance(raw, Mapping):
        raise DataError(f"expected an object with a prompt, got {type(raw).__name__} {raw!r:.60}")
    kept = {name: value for name, value in raw.items() if name not in OF_A_RESPONSE}
    row = {**_drop_answer(kept), "response": ""}
    if template.text is not None and not _has_prompt(kept, mapping):
        row["prompt"] = ""  # the template makes one of other columns
    found = mapping.rename(row)
    return Trajectory.from_dict({**found, "prompt": template.fill(kept, found["prompt"])})


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
