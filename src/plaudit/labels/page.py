"""The page on which a person decides on findings."""

from pathlib import Path

from plaudit.labels.answers import GivenAnswer
from plaudit.labels.findings import LabelFinding, LabelReport
from plaudit.labels.outputs import Decision
from plaudit.report.page.decision_page import DecisionItem, DecisionPage

__all__ = ["write_page"]

CHOICES = [
    ("1", Decision.LABEL_RIGHT), ("2", Decision.LABEL_WRONG), ("3", Decision.REWARD_WRONG), ("0", Decision.UNCLEAR),
]  # fmt: skip


def write_page(path: Path, report: LabelReport, title: str) -> None:
    """Write the page; texts of rollouts are data in it and never markup."""
    low, high = report.interval
    summary = (
        f"{report.groups} groups, {report.responses} responses ({report.unread} without a readable answer, "
        f"{report.unscored} not scored). Estimated share of wrong labels: {report.error_rate:.1%} "
        f"({low:.1%} to {high:.1%})."
    )
    items = [_item(finding) for finding in report.findings]
    DecisionPage(title, summary, "finding", CHOICES, items, edited_by=Decision.LABEL_WRONG).write(path)


def _item(finding: LabelFinding) -> DecisionItem:
    chance = "" if finding.probability is None else f" (probability {finding.probability:.0%})"
    return DecisionItem(
        finding.key,
        finding.kind.value,
        finding.prompt or finding.group,
        [(_heading(answer), answer.trajectory.response) for answer in finding.answers],
        finding.evidence + chance,
        [("Label", finding.label or "of several groups"), ("Suggested", finding.suggestion or "none")],
        finding.suggestion or "",
    )


def _heading(answer: GivenAnswer) -> str:
    paid = "not scored" if answer.paid is None else "paid" if answer.paid else "not paid"
    return f"sample {answer.row}: answer {'not read' if answer.text is None else answer.text}, {paid}"
