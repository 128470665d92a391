"""Resume an interrupted scoring run: count the finished samples and skip them.

A run writes its outputs in the order of its inputs, so the number of whole lines is the index to continue at; the last
line is compared with its input, because continuing a file that was made from other data would mix the two.

`OUT.run.json` names the reward, a key of its code and parameters, and the options that decide what is scored, so that a
run is never continued with other settings. A file without one (moved alone, or written by hand) is continued on trust.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from plaudit.columns import ColumnMapping
from plaudit.errors import PlauditError, RolloutsError
from plaudit.jsonline import InvalidJSON
from plaudit.rollouts.reading import rollout_of
from plaudit.rollouts.rollout import Rollout
from plaudit.rollouts.sources import LineSource
from plaudit.rollouts.writing import write_atomically


@dataclass(frozen=True, slots=True)
class Completed:
    """The content of an output file: the number of whole lines, and the last of them."""

    path: Path
    count: int
    last: Rollout | None


def read_completed(path: str | os.PathLike[str]) -> Completed:
    """The progress of an output file; a missing file has no samples."""
    file = Path(path)
    if file.suffix.lower() != ".jsonl":
        raise RolloutsError(f"{file}: such a file is written only when it is complete; resume needs .jsonl")
    if not file.exists():
        return Completed(file, 0, None)
    source, count, last = LineSource.of_file(file), 0, (0, b"")
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
    for name in ("id", "prompt", "response"):
        written, expected = getattr(done.last.trajectory, name), getattr(rollout.trajectory, name)
        if written != expected:
            raise RolloutsError(
                f"{done.path} was made from other data: its rollout {done.count} has the {name} {written!r:.60}, "
                f"the input has {expected!r:.60}; resume with the same input, or write to another file"
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


SUFFIX = ".run.json"


def record_path(out: Path) -> Path:
    """The path of the record of an output file."""
    return out.with_name(f"{out.name}{SUFFIX}")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A reward as it prints, the key of its content, and the options that decide what is scored."""

    reward: str
    key: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Keep the record, whole or not at all."""
        text = json.dumps({"reward": self.reward, "key": self.key, "options": dict(self.options)}, indent=1)
        try:
            write_atomically(path, f"{text}\n".encode())
        except OSError as error:
            raise RolloutsError(f"cannot write {path}: {error.strerror}") from error

    @classmethod
    def read(cls, path: Path) -> "RunRecord | None":
        """The record at a path; None if there is none."""
        try:
            plain = json.loads(path.read_text())
            return cls(str(plain["reward"]), str(plain["key"]), dict(plain["options"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RolloutsError(
                f"{path} cannot be read as the record of a run: {error}; delete it to continue"
            ) from None

    def check(self, path: Path, what: str) -> None:
        """Raise RolloutsError when `what` was made with another reward or other options than these."""
        recorded = self.read(path)
        if recorded is None or recorded == self:
            return
        remedy = f"write to another place, or delete {path} to continue anyway"
        if recorded.reward != self.reward:
            raise RolloutsError(f"{what} was made with {recorded.reward}, and this is {self.reward}; {remedy}")
        for name in dict.fromkeys([*recorded.options, *self.options]):
            before, now = recorded.options.get(name), self.options.get(name)
            if before != now:
                raise RolloutsError(f"{what} was made with {name} {before!r}, and this is {name} {now!r}; {remedy}")
        raise RolloutsError(
            f"{what} was made with {recorded.reward} of the key {recorded.key}, and this one has the key {self.key}: "
            f"its code, or what it uses, has changed since; {remedy}"
        )
