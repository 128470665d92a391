"""How many planted bugs of environments the audit finds, by a family that names the bug, and its false alarms.

`python benchmarks/audit_environments.py` audits the zoo of `tests/audit/environment_zoo` and the ready-made worlds,
each in processes of its own, as `plaudit audit` does; with the name of a later
set only that set of the zoo. `fourth` and `lab-verifiers` need verifiers 0.1.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, from anywhere

from plaudit.audit import AuditReport, audit_environment
from plaudit.worlds import WORLDS
from tests.audit.environment_zoo.roster import (
    FLAWED,
    FOURTH_FLAWED,
    FOURTH_SOUND,
    LAB_FLAWED,
    LAB_SOUND,
    LAB_VERIFIERS_FLAWED,
    LAB_VERIFIERS_SOUND,
    SECOND_FLAWED,
    SECOND_SOUND,
    SOUND,
    THIRD_FLAWED,
    THIRD_SOUND,
    YARD_FLAWED,
    YARD_SOUND,
    Entry,
)

SETS = {
    "first": (FLAWED, {**SOUND, **{name: Entry(name) for name in WORLDS}}),
    "second": (SECOND_FLAWED, SECOND_SOUND),
    "third": (THIRD_FLAWED, THIRD_SOUND),
    "fourth": (FOURTH_FLAWED, FOURTH_SOUND),
    "lab": (LAB_FLAWED, LAB_SOUND),
    "yard": (YARD_FLAWED, YARD_SOUND),
    "lab-verifiers": (LAB_VERIFIERS_FLAWED, LAB_VERIFIERS_SOUND),
}


def audit(name: str, entry: Entry) -> AuditReport:
    """Audit one environment and print what was found."""
    report = audit_environment(entry.spec, entry.examples, deadline_s=3.0)
    families = sorted({finding.family for finding in report.findings})
    print(f"{name}: {', '.join(families) or 'nothing'} ({report.calls} episodes, {report.seconds:.1f} s)", flush=True)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", choices=[*SETS], default="first")
    flawed, sound = SETS[parser.parse_args().set]
    hits = sum(
        bool({finding.family for finding in audit(name, entry).findings} & entry.families)
        for name, entry in flawed.items()
    )
    alarms = sum(bool(audit(name, entry).findings) for name, entry in sound.items())
    print(f"planted bugs: {hits} of {len(flawed)} found; sound environments: {alarms} of {len(sound)} with a finding")


if __name__ == "__main__":
    main()
