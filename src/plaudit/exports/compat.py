"""What was run against the real packages, and when: the table that `plaudit compat` prints.

The rows are written by `make compat`; a system without one was checked against its documented contract only.
"""

import json
from dataclasses import dataclass
from importlib.resources import files

from plaudit.dialects import known_systems
from plaudit.exports.exporting import EXPORTS

CONTRACT = "its documented contract (tests/dialects, tests/exports)"


@dataclass(frozen=True, slots=True)
class CompatRow:
    """One environment that the conformance suite ran in; counts are of checks that passed."""

    system: str
    version: str = ""
    date: str = ""
    ran: str = CONTRACT
    imported: str = ""
    exported: str = ""
    groups: str = ""
    unscored: str = ""


def compat_rows() -> list[CompatRow]:
    """Every system, in the order of the table: what ran, and what was only read."""
    written = json.loads(files("plaudit.exports").joinpath("compat.json").read_text(encoding="utf-8"))
    columns = ("system", "version", "date", "ran", "import", "export", "groups", "unscored")
    rows = [CompatRow(*(row[name] for name in columns)) for row in written]
    exported = {export.system for export in EXPORTS.values()}
    systems = known_systems()
    for name in systems.keys() - {row.system for row in rows}:
        imports, exports = bool(systems[name].dialects), name in exported
        rows.append(CompatRow(name, imported="contract" * imports, exported="contract" * exports))
    return sorted(rows, key=lambda row: (not row.version, row.system))
