"""Try every operator on every measured task, then compositions of operators that came close, within the budget.

An attack succeeds if it earns a share, set by its draft, of the difference between the right and a wrong answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.answers import ANSWER_OPERATORS
from plaudit.audit.attacks.forms import LONG_WORKING
from plaudit.audit.attacks.judges import JUDGE_OPERATORS
from plaudit.audit.attacks.operator import Draft, Operator, Scene
from plaudit.audit.attacks.programs import PROGRAM_OPERATORS
from plaudit.audit.attacks.texts import TEXT_OPERATORS
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards, MeasuredTask
from plaudit.audit.oracle import is_wrong
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject

__all__ = ["OPERATORS", "attack_answers", "attack_with_compositions"]

OPERATORS: tuple[Operator, ...] = (*ANSWER_OPERATORS, *JUDGE_OPERATORS, *PROGRAM_OPERATORS, *TEXT_OPERATORS)
MOST_COMPOSED = 3
WORDS_REMEDY = "pay for what was asked for: a wrong answer beside certain words is still wrong"
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Candidate:
    measured: MeasuredTask
    draft: Draft

    @property
    def threshold(self) -> float:
        return self.measured.wrong + self.draft.share * self.measured.gap


def attack_answers(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Every operator on its own, on every task whose right and wrong answers the reward tells apart."""
    for operator in _operators(honest_rewards):
        if operator.needs_isolation and not subject.isolated:
            continue
        measured_tasks = _measured_tasks(honest_rewards, operator)
        candidates = [
            _Candidate(measured, draft)
            for measured in measured_tasks
            for draft in operator.write(Scene(measured.task, measured.form, maker.vocabulary))
        ]
        if candidates:
            tried = len({id(measured.task) for measured in measured_tasks})
            hits = _hits(subject, maker, candidates)
            yield Attempt(operator.family, operator.name, operator.attacker, operator.remedy, hits, tried)


def _operators(honest_rewards: HonestRewards) -> list[Operator]:
    return [operator for operator in OPERATORS if not (operator.about_signs and honest_rewards.reads_words)]


def _measured_tasks(honest_rewards: HonestRewards, operator: Operator) -> list[MeasuredTask]:
    """All tasks of the first kind that fits, and one of every other; judges need one form each."""
    fitting = [measured for measured in honest_rewards.measured_tasks if measured.task.kind in operator.kinds]
    if not fitting:
        return []
    first = fitting[0].task.kind
    tasks = {measured.task.kind: measured.task for measured in reversed(fitting)}
    chosen = [each for each in fitting if each.task.kind is first or each.task is tasks[each.task.kind]]
    if operator.family != "judges":
        return chosen
    return list({id(each.task): each for each in chosen if each.task.kind is first}.values())


def attack_with_compositions(
    subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, attempts: Sequence[Attempt]
) -> Iterator[Attempt]:
    """Operators that earned nothing alone, with a prefix that this reward favours: long working, its words.

    If the prefix alone raises the reward of an honest wrong answer, that is the finding, and the prefix is dropped.
    """
    paid = {attempt.operator for attempt in attempts if attempt.hits}
    best = {measured.task.kind: measured for measured in reversed(honest_rewards.measured_tasks)}
    dresses = {kind: _dresses(maker) for kind in best}
    for kind, measured in best.items():
        honest = [
            _Candidate(measured, Draft(f"{dress}\n{measured.form.present(measured.task.wrong)}", (dress[:8],)))
            for dress in dresses[kind]
        ]
        hits = _hits(subject, maker, honest)
        if hits:
            dresses[kind] = [dress for dress in dresses[kind] if not hits[0].sample.response.startswith(dress)]
            yield Attempt("words", "words of the reward's code", Attacker.ANSWER_FREE, WORDS_REMEDY, hits, 1)
    for operator in _operators(honest_rewards):
        fitting = next((kind for kind in operator.kinds if kind in best), None)
        if fitting is None or operator.name in paid or operator.family not in ("answers", "judges"):
            continue
        scene = Scene(best[fitting].task, best[fitting].form, maker.vocabulary)
        drafts = [draft for draft in operator.write(scene) if draft.also is None][:MOST_COMPOSED]
        candidates = [
            _Candidate(best[fitting], Draft(f"{dress}\n{draft.response}", draft.core, draft.share))
            for draft in drafts
            for dress in dresses[fitting]
        ]
        hits = _hits(subject, maker, candidates)
        if hits:
            name = f"{operator.name}, dressed up"
            yield Attempt(operator.family, name, operator.attacker, operator.remedy, hits, 1)


def _dresses(maker: SampleMaker) -> list[str]:
    words = ", ".join(maker.vocabulary.words[:12])
    return [LONG_WORKING, f"<think>{LONG_WORKING}</think>", *([words] if words else [])]


def _hits(subject: Subject, maker: SampleMaker, candidates: Sequence[_Candidate]) -> tuple[Hit, ...]:
    """The best paid candidate of every task, where one was paid enough."""
    samples = [maker.sample(each.measured.task, each.draft.response) for each in candidates]
    outputs = subject.score(samples)
    best: dict[int, Hit] = {}
    for candidate, sample, output in zip(candidates, samples, outputs, strict=True):
        if output.reward is None or output.reward < candidate.threshold - ROUNDING * abs(candidate.measured.gap):
            continue
        if not is_wrong(candidate.measured.task, sample.response) or not _is_also_paid(subject, maker, candidate):
            continue
        measured, core = candidate.measured, candidate.draft.core
        task = measured.task
        hit = Hit(task, sample, output, candidate.threshold, measured.wrong, measured.wrong_output, core)
        known = best.get(id(task))
        if known is None or len(sample.response) < len(known.sample.response):
            best[id(task)] = hit
    return tuple(best.values())


def _is_also_paid(subject: Subject, maker: SampleMaker, candidate: _Candidate) -> bool:
    if candidate.draft.also is None:
        return True
    [value] = subject.rewards([maker.sample(candidate.measured.task, candidate.draft.also)])
    return value is not None and value >= candidate.threshold
