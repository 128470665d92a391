"""Fill `{{ sample.output_text }}` and `{{ item.reference_answer }}` in the texts of a grader.

`item` is the row of the data, `sample` what the model said. A variable that a sample does not have is an error of that
sample, never an empty text.
"""

import contextlib
import json
import re
from typing import Any

from plaudit.columns import our_name
from plaudit.contract.binding import own_values
from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory

_VARIABLE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_PART = re.compile(r"[^.\[\]]+")
_TRUTHS = {"reference_answer", "correct_answer", "reference", "ground_truth"}


def fill(template: str, trajectory: Trajectory) -> str:
    """The text with every variable replaced by what the sample has."""
    namespaces = {"item": item_of(trajectory), "sample": sample_of(trajectory)}
    return _VARIABLE.sub(lambda match: _as_text(_look_up(match[1], namespaces, trajectory)), template)


def item_of(trajectory: Trajectory) -> dict[str, Any]:
    """The row: its columns, its metadata, the prompt, and the ground truth."""
    row = {"prompt": trajectory.prompt, "ground_truth": trajectory.ground_truth}
    return {**row, **own_values(trajectory)}


def sample_of(trajectory: Trajectory) -> dict[str, Any]:
    """The model's response as text and, if it is JSON, decoded."""
    message = {"role": "assistant", "content": trajectory.response}
    sample: dict[str, Any] = {
        "output_text": trajectory.response,
        "output_tools": [],
        "choices": [{"message": message, "finish_reason": "stop"}],
    }
    with contextlib.suppress(ValueError):
        sample["output_json"] = json.loads(trajectory.response)
    return sample


def _look_up(path: str, namespaces: dict[str, Any], trajectory: Trajectory) -> Any:
    value: Any = namespaces
    parts = _PART.findall(path)
    for depth, part in enumerate(parts):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        elif parts[:depth] == ["item"] and (part in _TRUTHS or our_name(part) == "ground_truth"):
            value = trajectory.ground_truth
        else:
            known = [str(each) for each in value] if isinstance(value, dict) else []
            has = f" ({'.'.join(parts[:depth]) or 'there'} has {', '.join(known)})" if known else ""
            hint = did_you_mean(part, known)
            raise InvalidTrajectory(f"the grader asks for {path!r}, which the sample does not have{hint}{has}")
    if value is None:
        raise InvalidTrajectory(f"the grader asks for {path!r}, which is empty in this sample")
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
