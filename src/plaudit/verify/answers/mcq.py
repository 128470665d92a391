"""Does the answer choose the right option, and only that one?"""

from dataclasses import dataclass
from typing import ClassVar

from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.commitment import find_commitment
from plaudit.verify.answers.options import Question, read_labels, read_question
from plaudit.verify.verifier import Answer, Verdict, Verifier

ABSTAINED = "abstained"


@dataclass(frozen=True, repr=False)
class Mcq(Verifier[Question]):
    """1.0 when the answer commits to the right option of a multiple-choice question and to no other, else 0.0.

    Options are named by letter, number or text. If several are right, the answer names all of them; `several="any"`
    asks for one of them. An answer that says that it does not know earns the reward `abstention`.
    """

    kind: ClassVar[str] = "mcq"

    several: str = "all"
    abstention: float = 0.0

    def __post_init__(self) -> None:
        if self.several not in ("all", "any"):
            raise InvalidSettings(f"several is 'all' or 'any', got {self.several!r}")
        _check_abstention(self.abstention)

    def read(self, sample: Trajectory) -> Question:
        return read_question(sample)

    def judge(self, task: Question, answer: Answer) -> Verdict:
        return _judge(task, answer, any_of=self.several == "any")


@dataclass(frozen=True, repr=False)
class Choice(Verifier[Question]):
    """1.0 when the answer commits to the right one of a few labels (yes and no, sentiments, classes), else 0.0.

    The labels are the column `labels`; without it yes and no, or true and false. An answer that says that it does not
    know earns the reward `abstention`.
    """

    kind: ClassVar[str] = "choice"

    abstention: float = 0.0

    def __post_init__(self) -> None:
        _check_abstention(self.abstention)

    def read(self, sample: Trajectory) -> Question:
        return read_labels(sample)

    def judge(self, task: Question, answer: Answer) -> Verdict:
        return _judge(task, answer, leads=True)


def _judge(question: Question, answer: Answer, *, any_of: bool = False, leads: bool = False) -> Verdict:
    commitment = find_commitment(question, answer.text, leads=leads)
    selection = commitment.selection
    right = len(selection) == 1 and selection <= question.right if any_of else selection == question.right
    details = {ABSTAINED: True} if commitment.abstained else {"answer": question.describe(selection)}
    reason = commitment.reason if right else f"{commitment.reason}; right is {question.describe(question.right)}"
    return Verdict(float(right), reason, details=details)


def _check_abstention(value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1.0 <= value < 1.0:
        raise InvalidSettings(f"need -1 <= abstention < 1, got {value!r}")
