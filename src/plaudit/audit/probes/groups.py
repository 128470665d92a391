"""Attacks on rewards of groups: a group of copies of one response, which is what a policy that collapsed samples.

Copies must earn the same, must be scored, and a wrong answer must not earn by being repeated, nor by being different.
"""

from collections.abc import Iterator, Sequence

from plaudit.audit.attacks.operator import MOST, SOME
from plaudit.audit.candidates import differs
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards, MeasuredTask
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Task
from plaudit.trajectory import Trajectory

COPIES = 4
NO_ANSWER = "I do not know."
DIFFERENT = "different wrong answers pay more than right ones"
EQUAL = "give equal responses equal rewards: share ranks among ties, and return 0 where a group has no spread"
AGREEMENT = "pay for what is right, not for agreement: a group of equal wrong answers must earn nothing"


def attack_groups(subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards) -> Iterator[Attempt]:
    """Groups of copies: of an honest wrong answer where right and wrong differ, else of a response without content."""
    if not honest_rewards.tasks:
        return
    measured = next(iter(honest_rewards.measured_tasks), None)
    task = measured.task if measured else honest_rewards.tasks[0]
    sample = maker.sample(task, measured.form.present(task.wrong) if measured else NO_ANSWER)
    outputs = subject.score_group([sample] * COPIES)
    values = [output.reward for output in outputs if output.reward is not None]
    failed = next((output for output in outputs if output.reward is None), None)
    if failed is not None:
        name, remedy, threshold, other = "copies are not scored", EQUAL, 0.0, None
        message = f"a group of {COPIES} equal responses is not scored: {failed.reason}"
    elif differs(max(values), min(values), honest_rewards.spread):
        name, remedy, threshold, other = "copies earn different rewards", EQUAL, min(values), None
        message = f"{COPIES} equal responses of one group earn {', '.join(f'{value:g}' for value in values)}"
    else:
        limits = _limits(subject, maker, honest_rewards, measured, sample)
        passed = [
            limit for limit in limits if values[0] >= limit[0] and differs(values[0], limit[1], honest_rewards.spread)
        ]
        if not passed:
            return
        name, remedy, (threshold, other, beside) = "copies of one answer pay", AGREEMENT, passed[0]
        what = "equal wrong answers" if measured else f"times {NO_ANSWER!r}"
        message = f"a group of {COPIES} {what} earns {values[0]:g} each; one such answer {beside} {other:g}"
    hit = Hit(task, sample, failed or outputs[0], threshold, other, copies=COPIES)
    yield Attempt("groups", name, Attacker.ANSWER_FREE, remedy, (hit,), 1, False, message)


def compare_groups(subject: Subject, maker: SampleMaker, tasks: Sequence[Task]) -> Iterator[Attempt]:
    """A group of different wrong answers beside a group that repeats the right one."""
    for task in tasks[:1]:
        different = [maker.sample(task, wrong) for wrong in dict.fromkeys((task.wrong, *task.others))]
        outputs = subject.score_group(different)
        rewards = [each.reward for each in outputs if each.reward is not None]
        right = subject.score_group([maker.sample(task, task.right)] * len(different))[0].reward
        if right is not None and len(rewards) == len(different) > 1 and differs(min(rewards), right, 0.0):
            message = (
                f"{len(different)} different wrong answers earn {min(rewards):g} each, as many right ones {right:g}"
            )
            hit = Hit(task, different[0], outputs[0], min(rewards), right)
            yield Attempt("groups", DIFFERENT, Attacker.ANSWER_FREE, AGREEMENT, (hit,), 1, False, message)


def _limits(
    subject: Subject,
    maker: SampleMaker,
    honest_rewards: HonestRewards,
    measured: MeasuredTask | None,
    sample: Trajectory,
) -> Iterator[tuple[float, float, str]]:
    """The rewards from which copies are paid, what the response earns without copies, and beside which responses."""
    [alone] = subject.rewards([sample])
    if alone is not None:
        limit = honest_rewards.high if measured is None else measured.wrong + MOST * measured.gap
        yield limit, alone, "among others"
    if measured is not None and measured.task.others:
        others = [maker.sample(measured.task, measured.form.present(wrong)) for wrong in measured.task.others]
        apart = subject.score_group([sample, *others])[0].reward
        if apart is not None:
            yield apart + SOME * measured.gap, apart, "among other wrong ones"
