"""A baseline: findings that were looked at and accepted, so that only new ones count.

A finding is known by family, operator and component; the witness is kept for readers and may change.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from plaudit.audit.findings import AuditReport
from plaudit.errors import InvalidSettings

__all__ = ["read_baseline", "without_accepted", "write_baseline"]

VERSION = 1


def write_baseline(path: Path, report: AuditReport) -> None:
    """Accept everything that a report holds."""
    accepted = [
        {"key": finding.key, "severity": finding.severity.value, "response": finding.witness.response}
        for finding in (*report.findings, *report.accepted)
    ]
    plain = {"version": VERSION, "reward": report.reward, "accepted": accepted}
    path.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


def read_baseline(path: Path) -> frozenset[str]:
    """The keys of accepted findings; raises InvalidSettings for a file that is no baseline."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return frozenset(entry["key"] for entry in plain["accepted"])
    except FileNotFoundError:
        raise InvalidSettings(f"no baseline {path}; write one with --baseline {path} --accept") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidSettings(f"{path} is not a baseline of an audit ({error}); write one with --accept") from None


def without_accepted(report: AuditReport, accepted: Iterable[str]) -> AuditReport:
    """The report with accepted findings apart from the others."""
    known = frozenset(accepted)
    return replace(
        report,
        findings=tuple(each for each in report.findings if each.key not in known),
        accepted=tuple(each for each in report.findings if each.key in known),
    )
