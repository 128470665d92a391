"""How many small changes of a reward a case table notices, and which it does not.

A table that passes on a changed reward has no case for the change. The reward must be in a file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from plaudit.audit.mutation.changes import Change, changed_codes
from plaudit.errors import InvalidSettings, PlauditError
from plaudit.testing import CaseTable, run_cases
from plaudit.testing.cases.running import find_spec

__all__ = ["CaseStrength", "Survivor", "measure_cases"]

MOST_CHANGES = 40
_FILE_SPEC = re.compile(r"(?P<path>.+\.py)(?::(?P<name>\w+)(?P<rest>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Survivor:
    """A change that no case noticed."""

    change: str
    line: int


@dataclass(frozen=True, slots=True)
class CaseStrength:
    """How many changes were noticed, and those that were not."""

    noticed: int
    survivors: tuple[Survivor, ...]


def measure_cases(spec: str, table: CaseTable, *, deadline_s: float | None = None) -> CaseStrength:
    """Run the table on changed copies of the reward that `spec` names.

    Raises InvalidSettings if the reward has no file, or if the table does not pass on the unchanged reward.
    """
    match = _FILE_SPEC.fullmatch(find_spec(table, spec))
    if match is None or not Path(match["path"]).is_file():
        raise InvalidSettings(f"changes are made to a reward in a file, such as rewards.py:name; got {spec!r}")
    path, name = Path(match["path"]), match["name"]
    suffix = f":{name}{match['rest']}" if name else ""
    failed = [each.case.name for each in run_cases(f"{path}{suffix}", table, deadline_s=deadline_s) if not each.passed]
    if failed:
        raise InvalidSettings(f"{table.path}: {failed[0]!r} does not pass on the reward as it is; mend that first")
    noticed, survivors = 0, []
    for change in islice(changed_codes(path.read_text(encoding="utf-8"), name), MOST_CHANGES):
        if any(_notices(path, suffix, change, table, deadline_s)):
            noticed += 1
        else:
            survivors.append(Survivor(change.change, change.line))
    return CaseStrength(noticed, tuple(survivors))


def _notices(path: Path, suffix: str, change: Change, table: CaseTable, deadline_s: float | None) -> Iterator[bool]:
    with TemporaryDirectory(prefix="plaudit-") as folder:
        for beside in path.parent.glob("*.py"):  # what it imports from its own folder
            if beside != path:
                Path(folder, beside.name).write_bytes(beside.read_bytes())
        changed = Path(folder, path.name)
        changed.write_text(change.code, encoding="utf-8")
        try:
            yield from (not result.passed for result in run_cases(f"{changed}{suffix}", table, deadline_s=deadline_s))
        except PlauditError:  # it does not even load
            yield True
