"""Findings as JUnit XML: a test per operator that was tried, failed where it was paid."""

import re
from xml.etree import ElementTree

from plaudit.audit.findings import AttackFinding, AuditReport

__all__ = ["junit_report"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(report: AuditReport) -> bytes:
    """One test suite for the reward."""
    by_operator: dict[str, list[AttackFinding]] = {name: [] for name in report.tried}
    for finding in report.findings:
        by_operator.setdefault(f"{finding.family}: {finding.operator}", []).append(finding)
    failures = sum(bool(findings) for findings in by_operator.values())
    suite = ElementTree.Element(
        "testsuite", name=f"plaudit audit {report.reward}", tests=str(len(by_operator)), failures=str(failures),
        time=f"{report.seconds:.3f}",
    )  # fmt: skip
    for name, findings in by_operator.items():
        case = ElementTree.SubElement(suite, "testcase", classname="plaudit.audit", name=name)
        for finding in findings:
            failure = ElementTree.SubElement(case, "failure", message=_clean(finding.message))
            failure.text = _clean(f"response: {finding.witness.response!r}\nremedy: {finding.remedy}\n{finding.test}")
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
