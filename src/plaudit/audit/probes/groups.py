"""Attacks on rewards of groups: a group of copies of one response, which is what a policy that collapsed samples.

Copies must earn the same, must be scored, and a wrong answer must not earn by being repeated.
"""

from collections.abc import Iterator

from plaudit.audit.attacks.operator import MOST
from plaudit.audit.candidates import differs
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject

__all__ = ["attack_groups"]

COPIES = 4
NO_ANSWER = "I do not know."
EQUAL = "give equal responses equal rewards: share ranks among ties, and return 0 where a group has no spread"
AGREEMENT = "pay for what is right, not for agreement: a group of equal wrong answers must earn nothing"


def attack_groups(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Groups of copies: of an honest wrong answer where right and wrong differ, else of a response without content."""
    if not honest_rewards.tasks:
        return
    measured = next(iter(honest_rewards.measured_tasks), None)
    if measured:
        task, text = measured.task, measured.form.present(measured.task.wrong)
        threshold = measured.wrong + MOST * measured.gap
    else:
        task, text, threshold = honest_rewards.tasks[0], NO_ANSWER, honest_rewards.high
    sample = maker.sample(task, text)
    [alone] = subject.rewards([sample])
    outputs = subject.score_copies(sample, COPIES)
    values = [output.reward for output in outputs if output.reward is not None]
    failed = next((output for output in outputs if output.reward is None), None)
    hit = Hit(task, sample, failed or outputs[0], threshold, alone, copies=COPIES)
    if failed is not None:
        name, remedy = "copies are not scored", EQUAL
        message = f"a group of {COPIES} equal responses is not scored: {failed.reason}"
    elif differs(max(values), min(values), honest_rewards.spread):
        name, remedy = "copies earn different rewards", EQUAL
        message = f"{COPIES} equal responses of one group earn {', '.join(f'{value:g}' for value in values)}"
    elif alone is not None and values[0] >= threshold and differs(values[0], alone, honest_rewards.spread):
        name, remedy = "copies of one answer pay", AGREEMENT
        what = "equal wrong answers" if measured else f"times {NO_ANSWER!r}"
        message = f"a group of {COPIES} {what} earns {values[0]:g} each; one such answer among others {alone:g}"
    else:
        return
    yield Attempt("groups", name, Attacker.ANSWER_FREE, remedy, (hit,), 1, False, message)
