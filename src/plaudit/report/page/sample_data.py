"""What the page knows of a sample: values to filter and sort by, and the whole of it to show."""

import math
from typing import Any

from plaudit.columns import KEPT_MESSAGES
from plaudit.report.conversation import response_messages
from plaudit.rollouts import ScoredRollout

__all__ = ["FIRST_COLUMNS", "Value", "full_sample", "sample_values"]

Value = str | float | int | None
FIRST_COLUMNS = (
    "status",
    "reward",
    "score",
    "length",
    "training_step",
    "task",
    "group",
    "group_number",
    "id",
    "latency_s",
)
MAX_TEXT = 100
DIGITS, EXACT_DIGITS = 6, 10


def sample_values(rollout: ScoredRollout, group_number: int) -> dict[str, Value]:
    """The values of a sample by column: what is short enough to filter by; components, columns and metadata too."""
    trajectory, output = rollout.trajectory, rollout.output
    values: dict[str, Value] = {
        "status": output.status.value,
        "reward": _round(output.reward, EXACT_DIGITS),
        "score": _round(output.score, EXACT_DIGITS),
        "length": len(trajectory.response),
        "training_step": trajectory.training_step,
        "task": trajectory.task,
        "group": None if trajectory.group is None else str(trajectory.group),
        "group_number": group_number,
        "id": trajectory.id,
        "latency_s": _round(output.latency_s, 3),
    }
    for name, part in output.flat_components().items():
        values[f"component/{name}"] = _round(part.reward, DIGITS)
    for prefix, further in (("", trajectory.columns), ("metadata.", trajectory.metadata), ("note.", output.metadata)):
        for name, value in further.items():
            known = _short(value)
            if known is not None:
                column = f"{prefix}{name}"
                taken = column in values or column == "sample"  # the name of a sample's place
                values[f"column.{name}" if taken else column] = known
    return values


def full_sample(rollout: ScoredRollout) -> dict[str, Any]:
    """Everything of a sample that the page shows; of tokens, where they lie in the response."""
    trajectory, output = rollout.trajectory, rollout.output
    plain: dict[str, Any] = {"prompt": trajectory.prompt, "response": trajectory.response}
    if trajectory.ground_truth is not None:
        plain["ground_truth"] = trajectory.ground_truth
    plain["reward_output"] = output.to_dict()
    if trajectory.steps:
        plain["steps"] = rollout.to_dict()["steps"]
    if output.token_rewards is not None and trajectory.tokens is not None and trajectory.tokens.offsets is not None:
        plain["offsets"] = trajectory.tokens.offsets
    further = {**trajectory.columns, **trajectory.metadata}
    if (messages := response_messages(trajectory)) is not None:
        plain["response_messages"] = messages
        del further[KEPT_MESSAGES]
    if long := {name: value for name, value in further.items() if value is not None and _short(value) is None}:
        plain["further"] = long
    return plain


def _short(value: Any) -> Value:
    """A value to filter by; None where it is nothing, long, or made of others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)
    if isinstance(value, float):
        return _round(value, DIGITS) if math.isfinite(value) else None
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _round(value: float | None, digits: int) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")
