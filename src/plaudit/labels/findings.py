"""Labels that are probably wrong and responses that a reward probably misjudged, from rollouts alone.

Every finding has the same unit, so that there is one ranking: the expected number of responses whose reward is wrong.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from plaudit.errors import InvalidTrajectory
from plaudit.labels.answers import AnswerGroup, Cluster, GivenAnswer, group_answers
from plaudit.labels.model import LabelModel, Suspicion, Votes
from plaudit.rollouts import Rollout
from plaudit.verify.numbers import parse_number

SUSPECT, PRECISION = 0.5, 0.8
"""The least probability of a label that is reported as wrong, and the least mean probability of all that are."""
NEAR = Fraction(1, 100)
FEW = 3
"""From how many responses on an unread form or a form that is never paid is reported."""
SHOWN = 5
_DIGITS, _WORD = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")


class FindingKind(StrEnum):
    """The probable fault of a label or reward."""

    WRONG_LABEL = "wrong label"
    REJECTED = "right answer not paid"
    PAID = "wrong answer paid"
    UNEQUAL = "equal answers, unequal rewards"
    NEAR = "nearly equal answers, unequal rewards"
    FORMAT = "form that is never paid"
    UNREAD = "answers that cannot be read"


@dataclass(frozen=True, slots=True)
class LabelFinding:
    """One finding with its evidence. `probability` and `suggestion` are those of a wrong label."""

    kind: FindingKind
    group: str
    prompt: str
    label: str
    evidence: str
    affected: float
    """The expected number of responses whose reward is wrong."""
    answers: tuple[GivenAnswer, ...]
    """Some of the responses that show it."""
    probability: float | None = None
    suggestion: str | None = None

    @property
    def key(self) -> str:
        """A name of the finding that stays the same when the file is examined again."""
        return "\n".join((self.kind.value, self.group, self.label))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain: dict[str, Any] = {
            "kind": self.kind.value, "group": self.group, "prompt": self.prompt, "label": self.label,
            "evidence": self.evidence, "affected": round(self.affected, 3), "key": self.key,
            "answers": [
                {"row": each.row, "answer": each.text, "paid": each.paid, "response": each.trajectory.response}
                for each in self.answers
            ],
        }  # fmt: skip
        if self.probability is not None:
            plain |= {"probability": round(self.probability, 4), "suggestion": self.suggestion}
        return plain


@dataclass(frozen=True, slots=True)
class LabelReport:
    """All findings, those that affect most responses first, and the estimated share of wrong labels."""

    findings: tuple[LabelFinding, ...]
    groups: int
    responses: int
    unread: int
    unlabelled: int
    """Samples that were left out because they have no ground truth that can be compared with answers."""
    unscored: int
    """Responses without a reward: what a reward paid for them was not examined."""
    error_rate: float
    interval: tuple[float, float]
    suspicions: dict[tuple[str, str], Suspicion]
    """By group and label, of every group in which an answer could be read."""
    unnamed: float
    """How many more labels are expected to be wrong, which cannot be told from mistakes that many responses make."""

    @property
    def label_errors(self) -> str:
        """The estimated share of wrong labels, and how many of them the findings do not name."""
        low, high = self.interval
        share = f"wrong labels: about {self.error_rate:.1%} (95 % interval {low:.1%} to {high:.1%})"
        if self.unnamed < 1:
            return share
        return (
            f"{share}; about {self.unnamed:.0f} that are not named cannot be told from mistakes that many responses "
            "make: take more responses to each prompt (8 to 16), or those of a stronger policy"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "groups": self.groups, "responses": self.responses, "unread": self.unread, "unscored": self.unscored,
            "unlabelled": self.unlabelled,
            "label_errors": {
                "rate": round(self.error_rate, 4),
                "interval": [round(each, 4) for each in self.interval],
                "unnamed": round(self.unnamed, 1),
            },
            "findings": [each.to_dict() for each in self.findings],
        }  # fmt: skip


def examine(rollouts: Sequence[Rollout], threshold: float = 0.5) -> LabelReport:
    """Examine rollouts, which are right from the `threshold` of their score or reward on.

    The error rate is estimated from the groups in which answers could be read; raises InvalidTrajectory where no sample
    has a label.
    """
    groups = group_answers(rollouts, threshold)
    if rollouts and not groups:
        raise InvalidTrajectory(
            "no sample has a ground truth that is a text, a number or a list of these; name its column with --columns"
        )
    votes = {(each.name, each.label): _votes(each) for each in groups if each.answers}
    model = LabelModel(list(votes.values()))
    by_votes = {each: model.suspect(each) for each in set(votes.values())}
    suspicions = {key: by_votes[each] for key, each in votes.items()}
    named = _named(suspicions)
    findings = _forms(groups) + _unread(groups)
    for group in groups:
        if (group.name, group.label) in named:
            findings.append(_wrong_label(group, suspicions[group.name, group.label]))
        findings += _misjudged(group)
    answers = [answer for group in groups for answer in (*group.answers, *group.unread)]
    return LabelReport(
        tuple(sorted(findings, key=lambda each: (-each.affected, each.key))),
        len(groups),
        len(answers),
        sum(len(group.unread) for group in groups),
        len(rollouts) - len(answers),
        sum(answer.paid is None for answer in answers),
        model.error_rate,
        model.interval,
        suspicions,
        sum(each.wrong for key, each in suspicions.items() if key not in named),
    )


def _named(suspicions: dict[tuple[str, str], Suspicion]) -> set[tuple[str, str]]:
    """The most suspect labels, as many as can be reported with the expected precision."""
    ordered = sorted(suspicions, key=lambda key: -suspicions[key].wrong)
    named, total = 0, 0.0
    for count, key in enumerate(ordered, 1):
        total += suspicions[key].wrong
        if suspicions[key].wrong >= SUSPECT and total >= PRECISION * count:
            named = count
    return set(ordered[:named])


def _votes(group: AnswerGroup) -> Votes:
    return Votes(len(group.agreeing.answers), tuple(len(each.answers) for each in group.others))


def _wrong_label(group: AnswerGroup, suspicion: Suspicion) -> LabelFinding:
    count, agree = len(group.answers), len(group.agreeing.answers)
    best = max(range(len(group.others)), key=lambda index: suspicion.truths[index])
    cluster = group.others[best]
    label = "nobody gives the label" if not agree else f"{agree} give the label"
    return LabelFinding(
        FindingKind.WRONG_LABEL,
        group.name,
        group.prompt,
        group.label,
        f"{len(cluster.answers)} of {count} responses answer {cluster.text}, {label} {group.label}",
        suspicion.wrong * (len(cluster.answers) + agree),
        tuple(cluster.answers[:SHOWN]),
        suspicion.wrong,
        cluster.text,
    )


def _misjudged(group: AnswerGroup) -> list[LabelFinding]:
    """The findings about rewards that contradict the answers of their group."""
    rejected = [each for each in group.agreeing.answers if each.paid is False and each.committed]
    paid = [each for cluster in group.others for each in cluster.answers if each.paid]
    unequal = [
        each
        for cluster in group.others
        if any(answer.paid for answer in cluster.answers)
        for each in cluster.answers
        if each.paid is False and each.committed
    ]
    near = [each for cluster in group.others for each in cluster.answers if each.paid is False and each.committed]
    near = [each for each in near if each not in unequal and _is_near(each, group)]
    label = f"the label {group.label}"
    checks = [
        (FindingKind.REJECTED, rejected, f"equal to {label} and not paid"),
        (FindingKind.PAID, paid, f"paid and not equal to {label}"),
        (FindingKind.UNEQUAL, unequal, "not paid, while an equal answer of the group is"),
        (FindingKind.NEAR, near, f"not paid and within 1 % of {label}, or equal to it in percent or without words"),
    ]
    return [
        LabelFinding(
            kind,
            group.name,
            group.prompt,
            group.label,
            f"{len(answers)} answers {what}: {_listed(answers)}",
            float(len(answers)) * (0.5 if kind is FindingKind.NEAR else 1.0),
            tuple(answers[:SHOWN]),
        )
        for kind, answers, what in checks
        if answers
    ]


def _is_near(answer: GivenAnswer, group: AnswerGroup) -> bool:
    """Whether an answer has nearly the value of the label, or the value in percent."""
    value, label = parse_number(_number_in(answer.text or "")), parse_number(_number_in(group.label))
    if value is None or label is None:
        return False
    return abs(value - label) <= NEAR * abs(label) or value == 100 * label or 100 * value == label


def _number_in(text: str) -> str:
    """A text without words and signs of currency around its only number."""
    numbers = re.findall(r"-?\d[\d.,/]*", text)
    return numbers[0].rstrip(".,") if len(numbers) == 1 else text


def _forms(groups: Sequence[AnswerGroup]) -> list[LabelFinding]:
    """Ways to mark an answer that are never paid, although answers marked like that equal the label."""
    by_source: dict[str, list[tuple[AnswerGroup, Cluster, GivenAnswer]]] = defaultdict(list)
    for group in groups:
        for cluster in (group.agreeing, *group.others):
            for answer in cluster.answers:
                if answer.paid is not None:
                    by_source[answer.source].append((group, cluster, answer))
    findings = []
    for source, entries in by_source.items():
        right = [answer for group, cluster, answer in entries if cluster is group.agreeing]
        if len(right) >= FEW and not any(answer.paid for _, _, answer in entries):
            what = f"{len(right)} responses give the label as {source!r}, and none of {len(entries)} such ones is paid"
            findings.append(
                LabelFinding(FindingKind.FORMAT, source, "", "", what, float(len(right)), tuple(right[:SHOWN]))
            )
    return findings


def _unread(groups: Sequence[AnswerGroup]) -> list[LabelFinding]:
    """Responses without an answer that end alike."""
    by_shape: dict[str, list[GivenAnswer]] = defaultdict(list)
    for group in groups:
        for answer in group.unread:
            by_shape[_shape(answer.trajectory.response)].append(answer)
    return [
        LabelFinding(
            FindingKind.UNREAD,
            shape,
            "",
            "",
            f"{len(answers)} responses without an answer end like {shape!r}",
            float(sum(not answer.paid for answer in answers)) / 2,
            tuple(answers[:SHOWN]),
        )
        for shape, answers in by_shape.items()
        if len(answers) >= FEW
    ]


def _shape(response: str) -> str:
    """The last line with words and numbers replaced, so that responses that end alike have one shape."""
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines:
        return "(nothing)"
    shape = _WORD.sub("a", _DIGITS.sub("0", lines[-1]))
    return re.sub(r"a(?:\s+a)+", "a …", shape)[-60:]


def _listed(answers: Sequence[GivenAnswer]) -> str:
    texts = list(dict.fromkeys(str(answer.text) for answer in answers))
    return ", ".join(texts[:3]) + (", …" if len(texts) > 3 else "")
