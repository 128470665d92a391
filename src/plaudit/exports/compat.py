"""What was run against the real packages, and when: the table that `plaudit compat` prints.

The rows are written by `make compat`; a system without one was checked against its documented contract only.
"""

import json
from dataclasses import dataclass
from importlib.resources import files

from plaudit.dialects import SYSTEMS, StandIns
from plaudit.exports.convention import Export
from plaudit.exports.registry import EXPORTS

__all__ = ["CompatRow", "compat_page", "compat_rows"]

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
    ran = [
        CompatRow(
            row["system"], row["version"], row["date"], row["ran"], row["import"], row["export"], row["groups"],
            row["unscored"],
        )
        for row in written
    ]  # fmt: skip
    rows = [*ran, *(_row_by_contract(name) for name in SYSTEMS if name not in {row.system for row in ran})]
    return sorted(rows, key=lambda row: (not row.version, row.system))


def _row_by_contract(name: str) -> CompatRow:
    system = SYSTEMS[name]
    return CompatRow(
        name, imported="contract" if system.dialects else "", exported="contract" if _exports(name) else ""
    )


def _exports(system: str) -> list[Export]:
    return [each for each in EXPORTS.values() if each.system == system]


def compat_page() -> str:
    """The tables of systems and of what ran, as a page of the documentation."""
    lines = [
        "# Systems",
        "",
        "Made by `make compat` from the files of `plaudit.dialects` and `plaudit.exports`. How to use them:",
        "[One reward, every trainer](guides/trainers.md).",
        "",
        "| name | system | how it writes rewards | ours there | not scored | groups | what plaudit answers for |",
        "|---|---|---|---|---|---|---|",
    ]
    for system in SYSTEMS.values():
        exports = _exports(system.name)
        forms = [f"`{each.name}`" for each in exports]
        policies = dict.fromkeys(each.policies[0].value for each in exports)
        groups = dict.fromkeys(each.grouping.value for each in exports)
        answered = [f"`{module}`" for root in system.stand_ins for module in StandIns(system.stand_ins).answers(root)]
        cells = [", ".join(each) or "–" for each in (forms, policies, groups, answered)]
        lines.append(f"| `{system.name}` | {system.title} | {system.shape} | {' | '.join(cells)} |")
    lines += [
        "",
        "## What was run",
        "",
        "One conformance suite, inside an environment with the real package, through the package's own call path:",
        "",
        "- **export**: the numbers of an exported reward are those of plaudit alone",
        "- **unscored**: a reward that hangs, raises or gives None stops nothing, and the policy is followed",
        "- **groups**: a reward of groups sees whole groups, or is refused before the first sample",
        "- **import**: a reward that the package ships gives the numbers of its home",
        "",
        "*contract*: not run here, but called as its documentation says.",
        "",
        "| system | version | date | what was run | import | export | groups | unscored |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in compat_rows():
        cells = [row.version, row.date, row.ran, row.imported, row.exported, row.groups, row.unscored]
        lines.append(f"| {row.system} | {' | '.join(each or '–' for each in cells)} |")
    return "\n".join([*lines, ""])
