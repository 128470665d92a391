"""Try every operator on every measured task, within the budget."""

from collections.abc import Iterator
from dataclasses import replace

from plaudit.audit.attacks.answers import ANSWER_OPERATORS, EXTRACT
from plaudit.audit.attacks.judges import JUDGE_OPERATORS
from plaudit.audit.attacks.operator import FULL, AttackContext, Draft, Operator
from plaudit.audit.attacks.programs import PROGRAM_OPERATORS
from plaudit.audit.candidates import Candidate, find_hits
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt
from plaudit.audit.honest_rewards import HonestRewards, MeasuredTask
from plaudit.audit.qualities.judgements import has_free_words
from plaudit.audit.samples import SampleMaker, swap_answer
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind

OPERATORS: tuple[Operator, ...] = (*ANSWER_OPERATORS, *JUDGE_OPERATORS, *PROGRAM_OPERATORS)
ONE_FORM = ("judges", "words")
"""Families whose responses hardly depend on the form of an answer."""


def attack_answers(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Try every operator alone, on every task whose right and wrong answers get different rewards."""
    for operator in _operators(honest_rewards):
        if operator.needs_isolation and not subject.isolated:
            continue
        measured_tasks = _measured_tasks(honest_rewards, operator)
        candidates = [
            _candidate(measured, draft)
            for measured in measured_tasks
            if not has_free_words(subject, maker, measured.task, measured.form)
            for draft in operator.write(AttackContext(measured.task, measured.form, maker.vocabulary))
        ]
        if candidates:
            tried = len({id(measured.task) for measured in measured_tasks})
            hits = find_hits(subject, maker, candidates)
            yield Attempt(operator.family, operator.name, operator.attacker, operator.remedy, hits, tried)


def attack_near_truths(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Numbers near a small truth."""
    first = {measured.task.kind: measured for measured in reversed(honest_rewards.measured_tasks)}
    numbers = [each for each in first.values() if each.task.kind is Kind.NUMBER]
    candidates = [
        replace(_candidate(each, Draft(each.form.present(near), (near,), FULL)), task=task)
        for each, task in [(each, swap_answer(each.task, "2")) for each in numbers]
        for near in ("2.4", "3")
    ]
    hits = find_hits(subject, maker, candidates)
    yield Attempt("answers", "near value", Attacker.ORACLE, EXTRACT, hits, len(numbers))


def _operators(honest_rewards: HonestRewards) -> list[Operator]:
    return [operator for operator in OPERATORS if not (operator.about_signs and honest_rewards.reads_words)]


def _measured_tasks(honest_rewards: HonestRewards, operator: Operator) -> list[MeasuredTask]:
    """All tasks of the first kind that fits, and one of every other; some families need one form each."""
    fitting = [measured for measured in honest_rewards.measured_tasks if measured.task.kind in operator.kinds]
    if not fitting:
        return []
    first = fitting[0].task.kind
    tasks = {measured.task.kind: measured.task for measured in reversed(fitting)}
    chosen = [each for each in fitting if each.task.kind is first or each.task is tasks[each.task.kind]]
    if operator.family not in ONE_FORM:
        return chosen
    return list({id(each.task): each for each in chosen if each.task.kind is first}.values())


def _candidate(measured: MeasuredTask, draft: Draft) -> Candidate:
    return Candidate(measured.task, draft, measured.wrong, measured.gap, measured.wrong_output)
