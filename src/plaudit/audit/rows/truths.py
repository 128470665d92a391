"""Rows beside each other: one response is not right for two truths, and no wrong one is where the truth is empty.

Both hold only where the truth decides: the right response to a row earns less under the truth of another one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from plaudit.audit.attacks.forms import code_texts
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import MeasuredTask
from plaudit.audit.oracle import is_equal_answer, is_within_a_tenth
from plaudit.audit.rows.answer import NUMBER, Answer
from plaudit.audit.rows.edits import NO_ANSWER
from plaudit.audit.samples import SampleMaker, with_truth
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Task
from plaudit.trajectory import Trajectory

LEAST_SHARE = 0.02
MOST_ROWS = 4
TINY = 1e-9
NO_TRUTH_REMEDY = "do not score a row without a ground truth: RewardOutput.unscored(...), or None"
ONE_REMEDY = "compare the answer with the truth so narrowly that no answer is right for two truths"


def check_two_truths(subject: Subject, maker: SampleMaker, tasks: Sequence[Task]) -> Iterator[Attempt]:
    """A response that is paid like the right one on rows of different truths, and holds not all of these truths.

    The responses are the right ones to all rows, and the texts of the reward's code.
    """
    if len(tasks) < 2:
        return
    answers = [Answer(task.right, task, task.truth) for task in tasks]
    texts = list(dict.fromkeys([*(task.right for task in tasks), *code_texts(maker.vocabulary), NO_ANSWER]))
    rewards = [subject.rewards([maker.sample(task, text) for text in texts]) for task in tasks]
    paid = [
        [value is not None and value >= _paid(earned, texts, task) for value in earned]
        for task, earned in zip(tasks, rewards, strict=True)
    ]
    if all(row[texts.index(task.right)] for row in paid for task in tasks):
        return  # the truth decides nothing
    hits = []
    for answer, row, earned in zip(answers, paid, rewards, strict=True):
        low = min((value for value in earned if value is not None), default=0.0)
        wrong = [text for text, is_paid in zip(texts, row, strict=True) if is_paid and _is_other(answer, text)]
        wrong = [text for text in wrong if _count_truths(texts.index(text), answers, paid) > 1]
        if wrong and low < _paid(earned, texts, answer.task):
            sample = maker.sample(answer.task, min(wrong, key=len))
            [output] = subject.score([sample])
            hits.append(Hit(answer.task, sample, output, output.reward or 0.0, low))
    message = "right for two truths: a response earns the same on rows of different truths"
    name, tried = "one response for two truths", len(tasks)
    yield Attempt("answers", name, Attacker.ANSWER_FREE, ONE_REMEDY, tuple(hits), tried, False, message)


def check_empty_truths(
    subject: Subject,
    maker: SampleMaker,
    tasks: Sequence[Task],
    samples: Sequence[Trajectory],
    measured: Sequence[MeasuredTask],
) -> Iterator[Attempt]:
    """Wrong responses to rows whose truth is empty, or the column that decides and whose values are in the right one.

    `tasks` are rows of the samples with the responses that are paid; `measured` have answers in forms.
    """
    others = [Task.of_row(each, each.response or NO_ANSWER, NO_ANSWER) for each in samples[:MOST_ROWS]]
    cases = [(one, other) for one in tasks for other in others if one.prompt_text != other.prompt_text]
    shown = [replace(each.task, right=each.form.present(each.task.right)) for each in measured]
    by_kind = {(each.kind, each.prompt_text): each for each in reversed(shown)}
    cases += [(one, other) for one in by_kind.values() for other in by_kind.values() if one.kind is other.kind]
    hits, tried = [], 0
    for task, other in cases:
        for name in (None, *task.columns):
            swapped, blank = (_with_field(task, name, v) for v in (_field(other, name), _empty(_field(task, name))))
            leaves = Answer(task.right, task, _field(task, name)).leaves
            if swapped is None or blank is None or not all(leaf in task.right for leaf in leaves):
                continue
            right, elsewhere = subject.rewards([maker.sample(each, task.right) for each in (task, swapped)])
            if right is None or elsewhere is None or elsewhere > right - LEAST_SHARE * max(abs(right), abs(elsewhere)):
                continue
            tried += 1
            sample = maker.sample(blank, other.right)
            [output] = subject.score([sample])
            if output.reward is not None and output.reward >= right - TINY:
                hits.append(Hit(blank, sample, output, right, elsewhere))
    if not tried:
        return
    message = "empty ground truth: a wrong answer earns what a right one does where the row has no ground truth"
    name = "empty ground truth"
    yield Attempt("answers", name, Attacker.INVARIANT, NO_TRUTH_REMEDY, tuple(hits), tried, False, message)


def _paid(earned: Sequence[float | None], texts: Sequence[str], task: Task) -> float:
    """The reward of the right response to a row."""
    right = earned[texts.index(task.right)]
    return float("inf") if right is None else right - TINY


def _is_other(answer: Answer, text: str) -> bool:
    """Whether a text is certainly no right answer to the row, whose right response holds its truth."""
    numbers = NUMBER.findall(text)
    near = any(is_within_a_tenth(number, leaf) for number in numbers for leaf in answer.leaves)
    within = any(leaf.casefold() in text.casefold() for leaf in answer.leaves)
    return answer.is_answer and not near and not within and not is_equal_answer(answer.leaves[0], text)


def _count_truths(index: int, answers: Sequence[Answer], paid: Sequence[Sequence[bool]]) -> int:
    """The number of different truths for which a response is paid."""
    return len({answer.leaves for answer, row in zip(answers, paid, strict=True) if row[index]})


def _field(task: Task, name: str | None) -> Any:
    return task.truth if name is None else task.columns.get(name)


def _empty(value: Any) -> Any:
    return type(value)() if isinstance(value, str | list) and value else None


def _with_field(task: Task, name: str | None, value: Any) -> Task | None:
    """The task with another truth, or another value of a column; None where there is none."""
    if value is None:
        return None
    if name is None:
        return with_truth(task, lambda _: value)
    return replace(task, columns={**task.columns, name: value})
