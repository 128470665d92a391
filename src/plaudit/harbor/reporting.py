"""What a check or an audit says about tasks: findings with witnesses, as plain data and as JUnit XML."""

import enum
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any
from xml.etree import ElementTree

from plaudit.findings import Severity
from plaudit.harbor.task import Task

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class State(enum.StrEnum):
    """Whether a task could be run."""

    RAN = "ran"
    CANNOT_RUN = "cannot run"


@dataclass(frozen=True, slots=True)
class TaskFinding:
    """One thing that is wrong with a task: its kind, what was seen, what shows it, and what to do."""

    kind: str
    message: str
    remedy: str
    severity: Severity = Severity.ERROR
    witness: str = ""


@dataclass(slots=True)
class TaskReport:
    """All that was learned about one task."""

    task: str
    state: State
    mode: str
    tried: list[str] = field(default_factory=list)
    findings: list[TaskFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trials: int = 0
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.state is State.RAN and not self.failures

    @property
    def failures(self) -> list[TaskFinding]:
        return [each for each in self.findings if each.severity is Severity.ERROR]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def each_task(work: Callable[[Task], TaskReport], tasks: Sequence[Task], workers: int) -> list[TaskReport]:
    """The reports of all tasks, several at a time, in order."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, tasks))


def junit_report(name: str, reports: Sequence[TaskReport]) -> bytes:
    """A suite per task, a test per kind of check: failed where there is a finding, skipped where it cannot run."""
    root = ElementTree.Element("testsuites", name=name)
    for report in reports:
        kinds = list(dict.fromkeys([*report.tried, *(each.kind for each in report.failures)]))
        suite = ElementTree.SubElement(
            root, "testsuite", name=report.task, tests=str(len(kinds)), time=f"{report.seconds:.3f}"
        )
        for kind in kinds:
            case = ElementTree.SubElement(suite, "testcase", classname=f"{name}.{report.task}", name=kind)
            for finding in report.failures:
                if finding.kind == kind:
                    failure = ElementTree.SubElement(case, "failure", message=_clean(finding.message))
                    failure.text = _clean(f"{finding.witness}\nremedy: {finding.remedy}")
        if report.state is State.CANNOT_RUN:
            case = ElementTree.SubElement(suite, "testcase", classname=f"{name}.{report.task}", name="run")
            ElementTree.SubElement(case, "skipped", message=_clean("; ".join(report.notes)))
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
