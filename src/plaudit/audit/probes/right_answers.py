"""Find right answers that are refused: a reward must pay a right answer in every form and for every value.

A writing is tried only where the plain writing of the same answer is paid, so that a reward for integers is not asked
for fractions. Numbers are compared as values by a reward that takes numbers and no words, reads them from a box or
after `####`, or speaks of numbers in its code; letters by what they stand for in a reward that ignores their case.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.audit.attacks.operator import MOST
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards, MeasuredTask
from plaudit.audit.rows.objects import rewrite_object
from plaudit.audit.rows.paid_rows import PaidRow
from plaudit.audit.samples import SampleMaker, swap_answer
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind
from plaudit.contract.output import RewardOutput, Status

REFUSED = 0.25
"""The share of the difference between a right and a wrong answer's reward, up to which an answer counts as refused."""


_NUMBERS = "compare values, not texts: read both sides as numbers, without separators, as `math` does"
_SIGNS = "replace the minus sign U+2212 by a hyphen before a number is read, as `math` does"
_LETTERS = "bring both sides into one Unicode form before comparing: unicodedata.normalize('NFC', text)"
WRITINGS = (
    ("18.0 for 18", Kind.NUMBER, "18", "18.0", _NUMBERS),
    ("1,000 for 1000", Kind.NUMBER, "1000", "1,000", _NUMBERS),
    ("the minus sign U+2212", Kind.NUMBER, "-6", "\u22126", _SIGNS),
    ("a combining accent", Kind.WORD, "Zürich", unicodedata.normalize("NFD", "Zürich"), _LETTERS),
)
"""The name of a writing, the kind of the answer, the plain writing, the other one, and the remedy."""
OBJECT_REMEDY = "compare objects as parsed values: the order of keys and blanks between them mean nothing in JSON"
BLANKS = ("{}\n", "{} ", "\n{}")
BLANKS_REMEDY = "strip blanks around the response before reading it"
RANGE = ("5", "60")
"""Numbers that a reward for any number pays, and one for a rating does not: it is not asked about 0."""
ZERO_REMEDY = "test for a missing value with `is None`: the number 0 is false in Python"


def check_right_answers(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Right answers with a blank around them, in another writing, and of the value 0."""
    yield from _blanks(subject, maker, honest_rewards)
    questions = _Questions(subject, maker)
    for name, kind, plain, written, remedy in WRITINGS:
        if questions.compares_meaning(honest_rewards, kind):
            paid = questions.where_paid(_of_kind(honest_rewards, kind), plain, plain)
            hits = questions.where_refused(paid, plain, written)
            yield _attempt(name, remedy, hits, len(paid))
    for number in (str, int):
        paid = _of_kind(honest_rewards, Kind.NUMBER)[:1]
        for plain in RANGE:
            paid = questions.where_paid(paid, number(plain), plain)
        hits = questions.where_refused(paid, number("0"), "0")
        yield _attempt("the answer 0", ZERO_REMEDY, hits, len(paid))
        if hits:
            return


def check_objects(subject: Subject, maker: SampleMaker, rows: Sequence[PaidRow]) -> Iterator[Attempt]:
    """Right objects with their keys in another order and with other blanks, where the words alone are not paid."""
    objects = [row for row in rows if row.answer.data is not None and row.answer.is_structure]
    hits = []
    for row in objects:
        texts = (row.answer.bare_words, *rewrite_object(row.answer.data).values())
        samples = [maker.sample(row.task, row.form.present(text)) for text in texts]
        refused = [_is_refused(row.wrong, row.right - row.wrong, output) for output in subject.score(samples)]
        if refused[0] and any(refused[1:]):
            sample = samples[refused.index(True, 1)]
            hits.append(Hit(row.task, sample, subject.score([sample])[0], row.right, row.right))
    if objects:
        yield _attempt("an object with other blanks or order of keys", OBJECT_REMEDY, hits, len(objects))


def _of_kind(honest_rewards: HonestRewards, kind: Kind) -> list[MeasuredTask]:
    """The first task of a kind, in the forms in which it is paid."""
    fitting = [each for each in honest_rewards.measured_tasks if each.task.kind is kind]
    return [each for each in fitting if each.task is fitting[0].task]


def _attempt(what: str, remedy: str, hits: list[Hit], tried: int) -> Attempt:
    message = ""
    if hits:
        output, honest = hits[0].output, hits[0].honest_reward
        earned = f"earns {output.reward:g}" if output.reward is not None else f"is not scored ({output.reason})"
        message = f"{what}: a right answer {earned}; other right answers earn {honest:g}"
    name = f"{what} is refused"
    return Attempt("right answers", name, Attacker.INVARIANT, remedy, tuple(hits), tried, False, message, is_loss=True)


def _blanks(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """A blank around the response, where every task refuses it."""
    for edit in BLANKS:
        hits = {}
        for measured in honest_rewards.measured_tasks:
            edited = maker.sample(measured.task, edit.format(measured.form.present(measured.task.right)))
            [output] = subject.score([edited])
            if output.reward is None or output.reward > measured.wrong + REFUSED * measured.gap:
                break
            hits[id(measured.task)] = Hit(measured.task, edited, output, measured.right, measured.right)
        else:
            if hits:
                yield _attempt("a blank around it", BLANKS_REMEDY, [*hits.values()], len(hits))
                return


@dataclass(frozen=True, slots=True)
class _Questions:
    """Asks the reward about right answers to measured tasks that are given another ground truth."""

    subject: Subject
    maker: SampleMaker

    def compares_meaning(self, honest_rewards: HonestRewards, kind: Kind) -> bool:
        """Whether the reward compares the meaning of answers of a kind, and not their letters."""
        fitting = _of_kind(honest_rewards, kind)
        if kind is Kind.NUMBER:
            if all(len(each.right) == 1 for each in honest_rewards.tasks if each.kind is kind):
                return False  # digits may be labels
            marked = any(mark in each.form.before for each in fitting for mark in ("boxed", "####"))
            named = marked or self.maker.vocabulary.names_numbers
            return bool(fitting) and (named or Kind.WORD not in honest_rewards.kinds())
        if any(not each.task.right.isascii() for each in honest_rewards.measured_tasks if each.task.kind is kind):
            return True
        return bool(self.where_paid(fitting[:1], "Bern", "bERN"))

    def where_paid(self, measured_tasks: list[MeasuredTask], truth: Any, answer: str) -> list[MeasuredTask]:
        """The tasks that are paid for an answer, where that is the ground truth."""
        hits = [(each, self._ask(each, truth, answer).output.reward) for each in measured_tasks]
        return [each for each, reward in hits if reward is not None and reward >= each.wrong + MOST * each.gap]

    def where_refused(self, measured_tasks: list[MeasuredTask], truth: Any, answer: str) -> list[Hit]:
        """The answers that earn about as little as a wrong one, or fail."""
        hits = [(each, self._ask(each, truth, answer)) for each in measured_tasks]
        return [hit for each, hit in hits if _is_refused(each.wrong, each.gap, hit.output)]

    def _ask(self, measured: MeasuredTask, truth: Any, answer: str) -> Hit:
        task = swap_answer(measured.task, truth)
        sample = self.maker.sample(task, measured.form.present(answer))
        [output] = self.subject.score([sample])
        return Hit(task, sample, output, measured.right, measured.right)


def _is_refused(wrong: float, gap: float, output: RewardOutput) -> bool:
    if output.reward is None:
        return output.status is Status.ERROR
    return output.reward <= wrong + REFUSED * gap
