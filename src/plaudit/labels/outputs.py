"""The page on which a person decides on findings, and what follows from the decisions: a patch of labels, a mask for
training, and cases for a test table.

Decisions are made on the page and downloaded from it. Without decisions, a patch and a mask hold what is suspected.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from plaudit.labels.answers import GivenAnswer, group_key
from plaudit.labels.findings import FindingKind, LabelFinding, LabelReport
from plaudit.report.page.decision_page import DecisionItem, DecisionPage, read_decision_file
from plaudit.rollouts import Rollout

MASK_COLUMN = "label_suspect"
"""The column that `masked_rollouts` adds: the probability that the label is wrong, 0 or 1 once that was decided."""


class Decision(StrEnum):
    """The decision of a person on a finding."""

    LABEL_RIGHT = "label right"
    LABEL_WRONG = "label wrong"
    REWARD_WRONG = "reward wrong"
    UNCLEAR = "unclear"


def read_decisions(path: Path) -> dict[str, tuple[Decision, str]]:
    """Decisions and corrected labels by the key of a finding; raises InvalidSettings for another file."""
    return read_decision_file(path, Decision, "the page of `plaudit labels`")


def build_patch(
    report: LabelReport, decisions: Mapping[str, tuple[Decision, str]] | None = None
) -> Iterator[dict[str, Any]]:
    """The labels to replace: those that were decided to be wrong, or all suspected ones where nothing was decided."""
    for finding in report.findings:
        if finding.kind is not FindingKind.WRONG_LABEL:
            continue
        decision, label = (decisions or {}).get(finding.key, (Decision.UNCLEAR, ""))
        if decisions is None or decision is Decision.LABEL_WRONG:
            yield {
                "group": finding.group, "prompt": finding.prompt, "ground_truth": finding.label,
                "corrected": label or finding.suggestion, "probability": round(finding.probability or 0.0, 4),
                "decided": decisions is not None,
            }  # fmt: skip


def masked_rollouts(
    rollouts: Iterable[Rollout], report: LabelReport, decisions: Mapping[str, tuple[Decision, str]] | None = None
) -> Iterator[Rollout]:
    """The rollouts with the column `label_suspect`; trainers leave out those above a limit of their choice."""
    decided = {
        (finding.group, finding.label): float(decision is Decision.LABEL_WRONG)
        for finding in report.findings
        if finding.kind is FindingKind.WRONG_LABEL
        and (decision := (decisions or {}).get(finding.key, (Decision.UNCLEAR, ""))[0]) is not Decision.UNCLEAR
    }
    suspected = {key: round(each.wrong, 4) for key, each in report.suspicions.items()} | decided
    for rollout in rollouts:
        key = group_key(rollout.trajectory)
        yield Rollout.from_dict({**rollout.to_dict(), MASK_COLUMN: 0.0 if key is None else suspected.get(key, 0.0)})


def build_cases(report: LabelReport, reward: str) -> str:
    """A case table (YAML) of misjudged responses: the right ones that were not paid, the wrong ones that were."""
    expected = {FindingKind.REJECTED: "> 0.5", FindingKind.PAID: "< 0.5", FindingKind.FORMAT: "> 0.5"}
    cases = [
        {
            "name": f"{finding.kind.value}: sample {answer.row}",
            "prompt": answer.trajectory.prompt_text,
            "response": answer.trajectory.response,
            "ground_truth": answer.trajectory.ground_truth,
            "expected": expected[finding.kind],
        }
        for finding in report.findings
        if finding.kind in expected
        for answer in finding.answers[:1]
    ]
    text: str = yaml.safe_dump({"reward": reward, "cases": cases}, sort_keys=False, allow_unicode=True, width=120)
    return text


CHOICES = [
    ("1", Decision.LABEL_RIGHT), ("2", Decision.LABEL_WRONG), ("3", Decision.REWARD_WRONG), ("0", Decision.UNCLEAR),
]  # fmt: skip


def write_page(path: Path, report: LabelReport, title: str) -> None:
    """Write the page; texts of rollouts are data in it and never markup."""
    summary = (
        f"{report.groups} groups, {report.responses} responses ({report.unread} without a readable answer, "
        f"{report.unscored} not scored); {report.label_errors}."
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
