"""Labels of people: the page on which they are given, and where they are read from.

The page is blind: it shows what the judge is shown (prompt, reference, response, criterion), and neither a verdict nor
a reward nor who wrote the response. A label belongs to the texts of its sample, not to a line number.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings
from plaudit.judges.llm_judge import LLMJudge, RubricJudge
from plaudit.judges.rubric import Rubric
from plaudit.judges.texts import Refused
from plaudit.report.by_column import read_label
from plaudit.report.page.decision_page import DecisionItem, DecisionPage, read_decision_file
from plaudit.report.selection import ABSENT, column_of, known_columns, no_such_column
from plaudit.trajectory import Trajectory

WHOLE = "reward"
"""The target of labels that are about a response as a whole."""


class Label(StrEnum):
    """A person's verdict on a response under one criterion."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


Labels: TypeAlias = Mapping[tuple[str, str], bool]
"""Labels by the key of the sample and the name of the target."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of verdicts and labels: a criterion, or a response as a whole."""

    name: str
    question: str = ""

    def value(self, output: RewardOutput) -> float | None:
        """The judge's value, from 0 to 1; None where it gave none."""
        part = output.components.get(self.name, output)
        return part.reward if part.ok and output.ok else None


def rubric_of(judge: RubricJudge) -> Rubric:
    """The rubric of a judge; an error if each sample has a rubric of its own."""
    if not isinstance(judge.rubric, Rubric):
        raise InvalidSettings("a judge whose samples have criteria of their own cannot be calibrated: name a rubric")
    return judge.rubric


def targets_of(judge: RubricJudge) -> tuple[Target, ...]:
    """The criteria of a judge that reports each of them; the whole where it compares responses."""
    criteria = rubric_of(judge).criteria
    if len(criteria) > 1 and isinstance(judge, LLMJudge) and judge.mode != "pointwise":
        return (Target(WHOLE, "Is this a good response?"),)
    return tuple(Target(each.name, each.description or f"{each.name}: is the response good?") for each in criteria)


def sample_key(trajectory: Trajectory) -> str:
    """A name of the texts of a sample."""
    texts = "\0".join((trajectory.prompt_text, trajectory.response))
    return hashlib.blake2b(texts.encode(errors="replace"), digest_size=10).hexdigest()


def write_labelling_page(path: Path, judge: RubricJudge, samples: Sequence[Trajectory], count: int, title: str) -> int:
    """Write the page for a random choice of samples, of as many prompts as there are; returns their number."""
    chosen = _choose(samples, count)
    items = [item for sample in chosen for item in _items(judge, sample)]
    summary = f"{len(chosen)} responses. Judge each by nothing but the question above it; unclear ones are left out."
    choices = [("1", Label.YES), ("2", Label.NO), ("0", Label.UNCLEAR)]
    DecisionPage(title, summary, "response", choices, items).write(path)
    return len(chosen)


def read_labels(path: Path, judge: RubricJudge, samples: Sequence[Trajectory]) -> dict[tuple[str, str], bool]:
    """The labels that were downloaded from the page; each must belong to a sample and to a criterion."""
    keys, names = {sample_key(sample) for sample in samples}, {target.name for target in targets_of(judge)}
    labels: dict[tuple[str, str], bool] = {}
    for item, (label, _) in read_decision_file(path, Label, "the page of `plaudit judge calibrate --page`").items():
        key, _, name = item.partition(" ")
        if key not in keys:
            raise InvalidSettings(f"{path}: the label {item!r} is of a sample that is not in the rollouts; use the "
                                  "file for which the page was written")  # fmt: skip
        if name not in names:
            raise InvalidSettings(f"{path}: the label {item!r} is for {name!r}, which is no criterion of the rubric "
                                  f"({', '.join(sorted(names))})")  # fmt: skip
        if label is not Label.UNCLEAR:
            labels[key, name] = label is Label.YES
    return labels


def labels_of_column(column: str, judge: RubricJudge, samples: Sequence[Trajectory]) -> dict[tuple[str, str], bool]:
    """Labels in a column: yes or no for the whole response, or a mapping with one for each criterion."""
    targets = targets_of(judge)
    whole = targets[0].name if len(targets) == 1 else WHOLE
    labels: dict[tuple[str, str], bool] = {}
    for sample in samples:
        value = column_of(sample, column)
        plain: Mapping[str, Any] = value if isinstance(value, Mapping) else {whole: value}
        for name, label in plain.items():
            if label is not ABSENT and label is not None:
                labels[sample_key(sample), name] = read_label(column, label)
    if not labels and samples:
        raise no_such_column(column, dict.fromkeys(known_columns(samples[0])), "label")
    return labels


def _choose(samples: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Distinct samples in an order that follows from their texts: first one of each prompt, then a second one, …"""
    distinct = {sample_key(sample): sample for sample in samples}
    by_prompt: dict[str, int] = defaultdict(int)
    ranked = []
    for key in sorted(distinct):
        prompt = distinct[key].prompt_text
        ranked.append((by_prompt[prompt], key))
        by_prompt[prompt] += 1
    return [distinct[key] for _, key in sorted(ranked)[:count]]


def _items(judge: RubricJudge, sample: Trajectory) -> list[DecisionItem]:
    try:
        texts = judge.read_texts(sample)
    except Refused:
        return []  # the judge is not asked about it either
    facts = [] if texts.reference is None else [("Reference", texts.reference)]
    return [
        DecisionItem(f"{sample_key(sample)} {target.name}", target.question, texts.prompt,
                     [("to be judged", texts.response)], facts=facts)
        for target in targets_of(judge)
    ]  # fmt: skip
