"""Findings as SARIF 2.1.0, which code scanning services read."""

import json
import re

from plaudit.audit.findings import AttackFinding, AuditReport, Level
from plaudit.version import __version__

__all__ = ["sarif_report"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Level.HIGH: "error", Level.MEDIUM: "warning", Level.LOW: "note"}


def sarif_report(report: AuditReport) -> bytes:
    """One SARIF log with one run; accepted findings are there and marked as suppressed."""
    every = (*report.findings, *report.accepted)
    rules = {_rule_id(finding): finding for finding in every}
    run = {
        "tool": {
            "driver": {
                "name": "plaudit audit",
                "version": __version__,
                "rules": [_rule(identifier, finding) for identifier, finding in rules.items()],
            }
        },
        "results": [_result(finding, report.reward, accepted=finding in report.accepted) for finding in every],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2).encode() + b"\n"


def _rule_id(finding: AttackFinding) -> str:
    return re.sub(r"[^a-z0-9/]+", "-", f"{finding.family}/{finding.operator}".lower())


def _rule(identifier: str, finding: AttackFinding) -> dict[str, object]:
    return {
        "id": identifier,
        "shortDescription": {"text": f"{finding.family}: {finding.operator}"},
        "help": {"text": finding.remedy},
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
    }


def _result(finding: AttackFinding, spec: str, *, accepted: bool) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": _rule_id(finding),
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. Response: {finding.witness.response[:1000]!r}"},
        "partialFingerprints": {"plauditKey/v1": finding.key},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _file(spec)}, "region": {"startLine": 1}}}],
        "properties": {"rate": finding.rate, "attacker": finding.attacker.value, "call": finding.call},
    }
    if accepted:
        result["suppressions"] = [{"kind": "external", "justification": "accepted by the baseline"}]
    return result


def _file(spec: str) -> str:
    """The file of a spec such as `rewards.py:quality`; the spec itself if it names none."""
    match = re.search(r"[\w./-]+\.(?:py|ya?ml)", spec)
    return match[0] if match else re.sub(r"\W+", "-", spec)
