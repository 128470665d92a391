"""Rollouts as tables of other packages: Arrow and pandas, a column per value, components beside the reward.

What has one plain type in every row keeps it; nested and mixed values become JSON text, as in Parquet files.
"""

import os
from collections.abc import Iterable
from typing import Any

from plaudit.errors import require
from plaudit.rollouts.parquet import arrow_table
from plaudit.rollouts.reading import read_rollouts
from plaudit.rollouts.rollout import Rollout

__all__ = ["to_arrow", "to_pandas"]


def to_arrow(rollouts: str | os.PathLike[str] | Iterable[Rollout]) -> Any:
    """A `pyarrow.Table` of a rollouts file or of rollouts: fields, columns, `reward`, `score`, `status`, `reason`,
    `latency_s` and `component/<name>`."""
    if isinstance(rollouts, str | os.PathLike):
        rollouts = read_rollouts(rollouts)
    return arrow_table([flat_row(rollout) for rollout in rollouts])


def to_pandas(rollouts: str | os.PathLike[str] | Iterable[Rollout]) -> Any:
    """The same as a `pandas.DataFrame`."""
    require("pandas", extra="pandas", purpose="a table of rollouts in pandas")
    return to_arrow(rollouts).to_pandas()


def flat_row(rollout: Rollout) -> dict[str, Any]:
    """A rollout as one row of values; a column of the data that is called like a value of the output keeps its name
    with `column.` before it."""
    output = rollout.output
    plain = rollout.trajectory.to_dict()
    if output is None:
        return plain
    scored: dict[str, Any] = {
        "reward": output.reward, "score": output.score, "status": output.status.value, "reason": output.reason,
        "latency_s": output.latency_s,
    }  # fmt: skip
    scored |= {f"component/{name}": part.reward for name, part in output.flat_components().items()}
    return {f"column.{name}" if name in scored else name: value for name, value in plain.items()} | {
        name: value for name, value in scored.items() if value is not None
    }
