"""The answers of rollouts, grouped by prompt and clustered by equality.

Answers are read without the label, and two answers are equal if the math verifier says so or if they have the same
words. What a reward paid is kept beside each answer and decides nothing here.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from plaudit.rollouts import Rollout
from plaudit.trajectory import Trajectory
from plaudit.verify import MathPolicy, Source, decide
from plaudit.verify.answers.final_answer import find_final_answer, normal_words
from plaudit.verify.math.verdict import find_committed_answer
from plaudit.verify.tags import without_thinking

POLICY = MathPolicy()
LONGEST_ANSWER = 100
"""Characters of an answer in words; a longer text is not one."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer of one response: the response's position in the file, and its reward."""

    row: int
    trajectory: Trajectory
    text: str | None
    source: str
    """The mark of the answer in the response; empty if no answer was read."""
    committed: bool = True
    """Whether the response commits to its answer (no hedge, no second answer)."""
    paid: bool | None = None
    """Whether the reward counts the response as right; None if it was not scored."""


@dataclass(slots=True)
class Cluster:
    """Equal answers."""

    text: str
    answers: list[GivenAnswer] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """The responses to one prompt. `agreeing` are the answers that equal the label, `others` the other clusters."""

    name: str
    prompt: str
    label: str
    agreeing: Cluster
    others: tuple[Cluster, ...]
    unread: tuple[GivenAnswer, ...]

    @property
    def answers(self) -> list[GivenAnswer]:
        """All answers that could be read."""
        return [answer for cluster in (self.agreeing, *self.others) for answer in cluster.answers]


def group_answers(rollouts: Iterable[Rollout], threshold: float = 0.5) -> list[AnswerGroup]:
    """The rollouts by prompt and label, without those that have no label (`group_key`)."""
    groups: dict[tuple[str, str], list[GivenAnswer]] = defaultdict(list)
    for row, (trajectory, output) in enumerate(rollouts, start=1):
        key = group_key(trajectory)
        if key is not None:
            value = None if output is None else (output.reward if output.score is None else output.score)
            groups[key].append(_read(row, trajectory, None if value is None else value >= threshold))
    return [_cluster(name, label, answers) for (name, label), answers in groups.items()]


def is_same_answer(one: str, other: str) -> bool:
    """Whether two answers are equal as mathematics or have the same words."""
    if one == other:
        return True
    words = normal_words(one)
    return (bool(words) and words == normal_words(other)) or bool(decide(one, other, POLICY).equal)


def group_key(trajectory: Trajectory) -> tuple[str, str] | None:
    """The group of a sample and its label: samples of one prompt with different labels are different groups.

    None if the ground truth is neither a text, nor a number, nor a list of such answers that are all accepted.
    """
    accepted = _accepted(trajectory)
    if not accepted:
        return None
    return trajectory.prompt_text if trajectory.group is None else str(trajectory.group), " or ".join(accepted)


def _accepted(trajectory: Trajectory) -> list[str]:
    """The answers that the ground truth accepts; none if it cannot be read."""
    truth = trajectory.ground_truth
    answers = truth if isinstance(truth, list | tuple) else [truth]
    readable = all(isinstance(each, str | int | float) and str(each).strip() for each in answers)
    return [str(each).strip() for each in answers] if readable else []


def _read(row: int, trajectory: Trajectory, paid: bool | None) -> GivenAnswer:
    extraction = find_committed_answer(trajectory.response, POLICY)
    if extraction.answer is not None and extraction.source is not Source.WHOLE:
        source = "" if extraction.source is None else extraction.source.value
        return GivenAnswer(row, trajectory, extraction.answer, source, not extraction.rejected, paid)
    final = find_final_answer(without_thinking(trajectory.response).strip())
    text = final.readings[-1].strip() if final.readings else ""
    if not text or len(text) > LONGEST_ANSWER or "\n" in text:
        return GivenAnswer(row, trajectory, None, "", False, paid)
    return GivenAnswer(row, trajectory, text, final.source, True, paid)


def _cluster(name: str, label: str, answers: list[GivenAnswer]) -> AnswerGroup:
    agreeing, others = Cluster(label), list[Cluster]()
    accepted = _accepted(answers[0].trajectory)
    by_text: dict[str, Cluster] = {}
    for answer in answers:
        if answer.text is None:
            continue
        cluster = by_text.get(answer.text)
        if cluster is None:
            candidates = [*((text, agreeing) for text in accepted), *((each.text, each) for each in others)]
            cluster = next((each for text, each in candidates if is_same_answer(text, answer.text)), None)
            if cluster is None:
                cluster = Cluster(answer.text)
                others.append(cluster)
            by_text[answer.text] = cluster
        cluster.answers.append(answer)
    ordered = sorted(others, key=lambda each: -len(each.answers))
    unread = tuple(answer for answer in answers if answer.text is None)
    return AnswerGroup(name, answers[0].trajectory.prompt_text, label, agreeing, tuple(ordered), unread)
