"""Record how a scored file was made, so that a run is never continued with other settings.

`OUT.run.json` names the reward, a key of its code and parameters, and the options that decide what is scored. A file
without one (moved alone, or written by hand) is continued on trust.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaudit.errors import RolloutsError
from plaudit.rollouts.atomic_file import write_atomically

__all__ = ["RunRecord", "record_path"]

SUFFIX = ".run.json"


def record_path(out: Path) -> Path:
    """Where the record of an output file lies."""
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
            raise RolloutsError(f"{path} cannot be read as the record of a run: {error}; delete it to go on") from None

    def check(self, path: Path, what: str) -> None:
        """Raise RolloutsError when `what` was made with another reward or other options than these."""
        there = self.read(path)
        if there is None or there == self:
            return
        remedy = f"write to another place, or delete {path} to go on all the same"
        if there.reward != self.reward:
            raise RolloutsError(f"{what} was made with {there.reward}, and this is {self.reward}; {remedy}")
        for name in dict.fromkeys([*there.options, *self.options]):
            before, now = there.options.get(name), self.options.get(name)
            if before != now:
                raise RolloutsError(f"{what} was made with {name} {before!r}, and this is {name} {now!r}; {remedy}")
        raise RolloutsError(
            f"{what} was made with {there.reward} of the key {there.key}, and this one has the key {self.key}: "
            f"its code, or what it uses, has changed since; {remedy}"
        )
