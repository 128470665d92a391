"""Stream rollouts from a file, line by line, with errors that name file and line; or all of them as a table.

Nothing but the ids is kept while reading (to find duplicates), so a file may be larger than the memory. Tables of Arrow
and pandas have a column per value, components beside the reward; what has one plain type in every row keeps it, and
nested and mixed values become JSON text, as in Parquet files.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from plaudit.columns import ColumnMapping
from plaudit.errors import InvalidOutput, InvalidTrajectory, RolloutsError, require
from plaudit.jsonline import InvalidJSON
from plaudit.rollouts.csv_format import TEXTS, CsvSource
from plaudit.rollouts.parquet import arrow_table
from plaudit.rollouts.rollout import Rollout, ScoredRollout
from plaudit.rollouts.sources import Source, source_of

MAX_BAD_KEPT = 100


def read_rollouts(
    path: str | os.PathLike[str] | BinaryIO,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    needs_response: bool = True,
) -> "RolloutsReader":
    """The rollouts of a `.jsonl`, `.jsonl.gz`, `.parquet` or `.csv` file, or of an open binary stream of JSON lines.

    `columns` says which column holds which field (`{"response": "text"}`, `{"ground_truth": "reward_model.truth"}`);
    usual foreign names are found without it. With `skip_bad` a bad line is noted in `.bad` instead of raised. Without
    `needs_response`, prompts alone will do.
    """
    source, mapping = source_of(path), ColumnMapping(columns or {}, needs_response=needs_response)
    if isinstance(source, CsvSource):
        source.keep_empty(mapping.chosen[name] for name in TEXTS if name in mapping.chosen)
    return RolloutsReader(source, mapping, skip_bad=skip_bad)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was left out, and why."""

    line: int
    reason: str


class RolloutsReader:
    """Iterate over it to get the rollouts; each iteration starts again, and the attributes describe the lines that it
    has read.

    `bad` holds the first hundred lines that were left out, `bad_count` counts them all, and `torn` is true if the file
    ends in half a line, as an interrupted write leaves it.
    """

    def __init__(self, source: Source, mapping: ColumnMapping, *, skip_bad: bool = False) -> None:
        self.name = source.name
        self.bad: list[BadLine] = []
        self.bad_count = 0
        self.torn = False
        self._source = source
        self._mapping = mapping
        self._skip_bad = skip_bad

    def __iter__(self) -> Iterator[Rollout]:
        self.bad, self.bad_count, self.torn = [], 0, False
        seen: dict[Any, int] = {}
        good = 0
        for number, raw in self._source.raw_rows():
            try:
                rollout = rollout_of(self._source.decode(raw), self._mapping)
                _refuse_duplicate(rollout, number, seen)
            except (InvalidJSON, InvalidTrajectory, InvalidOutput, RolloutsError) as error:
                self._reject(number, describe_bad_row(error, raw))
                continue
            good += 1
            yield rollout
        self.torn = self._source.torn
        if not good:
            raise RolloutsError(self._nothing())

    @property
    def note(self) -> str:
        """A note for the user about the end of the file; empty if there is none."""
        if not self.torn:
            return ""
        return f"{self.name} ends in half a line, as an interrupted write leaves it; that line was not read"

    def _reject(self, number: int, reason: str) -> None:
        if not self._skip_bad:
            raise RolloutsError(f"{self.name}:{number}: {reason}") from None
        self.bad_count += 1
        if len(self.bad) < MAX_BAD_KEPT:
            self.bad.append(BadLine(number, reason))

    def _nothing(self) -> str:
        if self.bad:
            first = self.bad[0]
            return f"{self.name} holds no rollouts: {self.bad_count} bad lines, the first {first.line}: {first.reason}"
        return f"{self.name} holds no rollouts" + (", only the beginning of one" if self.torn else "")


def require_scored(rollouts: Iterable[Rollout], name: str) -> Iterator[ScoredRollout]:
    """The rollouts of a file with their outputs; raises RolloutsError at the first that has none."""
    for index, rollout in enumerate(rollouts):
        if rollout.output is None:
            raise RolloutsError(
                f"{name} is not scored: it has samples without reward_output, the first is "
                f"{rollout.trajectory.label(index)}; score it first: plaudit score REWARD {name} -o SCORED"
            )
        yield Rollout(rollout.trajectory, rollout.output)


def rollout_of(row: Any, mapping: ColumnMapping) -> Rollout:
    """The rollout that one decoded row holds."""
    if not isinstance(row, dict):
        raise RolloutsError(f"expected a JSON object with prompt and response, got {_kind_of(row)} {row!r:.60}")
    return Rollout.from_dict(row, mapping)


def _refuse_duplicate(rollout: Rollout, number: int, seen: dict[Any, int]) -> None:
    trajectory = rollout.trajectory
    if trajectory.id is None:
        return
    # A training log meets the same sample again at a later step: that is no duplicate.
    key = trajectory.id if trajectory.training_step is None else (trajectory.id, trajectory.training_step)
    first = seen.setdefault(key, number)
    if first != number:
        raise RolloutsError(
            f"the id {trajectory.id!r} occurs on line {first} already; every rollout needs its own, "
            "so if it names the prompt, read it as the group: --columns group=id"
        )


def describe_bad_row(error: Exception, raw: Any) -> str:
    """Why a raw row of a source cannot be read."""
    if not isinstance(error, InvalidJSON):
        return str(error)
    if isinstance(raw, bytes) and raw.strip() in (b"[", b"{"):
        return f"broken JSON: {error}; this looks like one indented document, write one object per line"
    return f"broken JSON: {error}"


def _kind_of(value: Any) -> str:
    kinds = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false"}
    return kinds.get(type(value), "null")


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
