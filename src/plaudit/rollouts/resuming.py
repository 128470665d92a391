"""Resume an interrupted scoring run: count the finished samples and skip them.

A run writes its outputs in the order of its inputs, so the number of whole lines is the index to continue at; the last
line is compared with its input, because continuing a file that was made from other data would mix the two.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from plaudit.columns import ColumnMapping
from plaudit.errors import PlauditError, RolloutsError
from plaudit.jsonline import InvalidJSON
from plaudit.rollouts.reading import rollout_of
from plaudit.rollouts.rollout import Rollout
from plaudit.rollouts.sources import LineSource, by_suffix

__all__ = ["Completed", "check_resumable", "read_completed", "rest_of"]

_SOURCES = {".jsonl": LineSource.of_file, ".gz": LineSource.of_gzip}


@dataclass(frozen=True, slots=True)
class Completed:
    """The content of an output file: the number of whole lines, and the last of them."""

    path: Path
    count: int
    last: Rollout | None


def read_completed(path: str | os.PathLike[str]) -> Completed:
    """The progress of an output file; a missing file has no samples."""
    file = Path(path)
    if file.suffix.lower() in (".parquet", ".csv"):
        raise RolloutsError(
            f"{file}: a Parquet or CSV file appears only when it is complete; resume needs .jsonl or .jsonl.gz"
        )
    opening = by_suffix(file, _SOURCES)
    if not file.exists():
        return Completed(file, 0, None)
    source, count, last = opening(file), 0, (0, b"")
    for row in source.raw_rows():
        count, last = count + 1, row
    if not count:
        return Completed(file, 0, None)
    number, line = last
    try:
        return Completed(file, count, rollout_of(source.decode(line), ColumnMapping()))
    except (InvalidJSON, PlauditError) as error:
        raise RolloutsError(
            f"{file}:{number}: the last line cannot be read, so nothing can follow it: {error}"
        ) from None


def check_resumable(done: Completed, rollout: Rollout) -> None:
    """Raise RolloutsError unless the last completed line was made from `rollout`."""
    if done.last is None:
        return
    if done.last.output is None:
        raise RolloutsError(
            f"{done.path} was not written by scoring (its last line has no reward_output); name another output file"
        )
    for field in ("id", "prompt", "response"):
        there, here = getattr(done.last.trajectory, field), getattr(rollout.trajectory, field)
        if there != here:
            raise RolloutsError(
                f"{done.path} was made from other data: its rollout {done.count} has the {field} {there!r:.60}, "
                f"the input has {here!r:.60}; resume with the same input, or write to another file"
            )


def rest_of(rollouts: Iterable[Rollout], done: Completed) -> Iterator[Rollout]:
    """The rollouts that are not completed yet; raises RolloutsError when `done` was made from others."""
    remaining = iter(rollouts)
    count = 0
    last: Rollout | None = None
    for rollout in islice(remaining, done.count):
        count, last = count + 1, rollout
    if count < done.count:
        raise RolloutsError(
            f"{done.path} holds {done.count} rollouts but the input only {count}, so it was made from other data; "
            "resume with the same input, or write to another file"
        )
    if last is not None:
        check_resumable(done, last)
    return remaining
