"""Attacks on rewards of groups: a group of copies of one response, which is what a policy that collapsed samples.

Copies must earn the same, must be scored, and a wrong answer must not earn by being repeated, nor by being different.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.operator import MOST, SOME
from plaudit.audit.candidates import differs
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.rows.edits import NO_ANSWER
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Task

COPIES = 4
TINY = 1e-6
DIFFERENT = "different wrong answers pay more than equal ones"
EQUAL = "give equal responses equal rewards: share ranks among ties, and return 0 where a group has no spread"
AGREEMENT = "pay for what is right, not for agreement: a group of equal wrong answers must earn nothing"


@dataclass(frozen=True, slots=True)
class Group:
    """A prompt with a right response and wrong ones; without a right one where none is known."""

    task: Task
    right: str | None
    wrong: tuple[str, ...]


def find_groups(honest_rewards: HonestRewards, paid: Sequence[Task]) -> list[Group]:
    """A group of a row that is paid and one of a measured task; else one without a known answer."""
    groups = []
    for task in paid[:1]:
        others = (other.right for other in paid[1:COPIES] if other.right != task.right)
        groups.append(Group(task, task.right, (*others, task.wrong)))
    for each in honest_rewards.measured_tasks[:1]:
        right, *wrong = (each.form.present(text) for text in (each.task.right, each.task.wrong, *each.task.others))
        groups.append(Group(each.task, right, tuple(wrong)))
    unknown = [Group(task, None, (NO_ANSWER, task.wrong, *task.others)) for task in honest_rewards.tasks[:1]]
    return groups or unknown


def attack_groups(
    subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, paid: Sequence[Task]
) -> Iterator[Attempt]:
    """Groups of copies of a wrong answer, beside a group with a right one and a group of different wrong ones."""
    for group in find_groups(honest_rewards, paid):
        attempt = _attack_group(subject, maker, group, honest_rewards)
        if attempt is not None:
            yield attempt
            return


def _attack_group(subject: Subject, maker: SampleMaker, group: Group, honest_rewards: HonestRewards) -> Attempt | None:
    samples = [maker.sample(group.task, text) for text in dict.fromkeys(group.wrong)]
    copies = subject.score_group(samples[:1] * COPIES)
    values = [output.reward for output in copies if output.reward is not None]

    def report(name: str, remedy: str, message: str, limit: float, other: float | None) -> Attempt:
        output = next((each for each in copies if each.reward is None), copies[0])
        hit = Hit(group.task, samples[0], output, limit, other, copies=COPIES)
        return Attempt("groups", name, Attacker.ANSWER_FREE, remedy, (hit,), 1, False, message)

    if len(values) < COPIES:
        reason = next(output.reason for output in copies if output.reward is None)
        message = f"a group of {COPIES} equal responses is not scored: {reason}"
        return report("copies are not scored", EQUAL, message, 0.0, None)
    if differs(max(values), min(values), honest_rewards.spread):
        message = f"{COPIES} equal responses of one group earn {', '.join(f'{value:g}' for value in values)}"
        return report("copies earn different rewards", EQUAL, message, min(values), None)
    beside, gap = _beside_right(subject, maker, group, samples[0].response, honest_rewards)
    different = subject.score_group(samples)
    apart = [output.reward for output in different if output.reward is not None]
    limits = [(beside + MOST * gap, beside, "beside others")] if beside is not None else []
    if len(apart) == len(samples) > 1 and group.right is not None:
        limits.append((apart[0] + SOME * gap, apart[0], "among other wrong ones"))
    for limit, other, where in limits:
        if values[0] >= limit and differs(values[0], other, honest_rewards.spread):
            what = "equal wrong answers" if group.right else f"times {NO_ANSWER!r}"
            message = f"a group of {COPIES} {what} earns {values[0]:g} each; one such answer {where} {other:g}"
            return report("copies of one answer pay", AGREEMENT, message, limit, other)
    if len(apart) == len(samples) > 1 and min(apart) > values[0] + max(SOME * gap, TINY):
        hit = Hit(group.task, samples[0], different[0], min(apart), values[0])
        message = f"{len(apart)} different wrong answers earn {min(apart):g} or more each, equal ones {values[0]:g}"
        return Attempt("groups", DIFFERENT, Attacker.ANSWER_FREE, AGREEMENT, (hit,), 1, False, message)
    return None


def _beside_right(
    subject: Subject, maker: SampleMaker, group: Group, wrong: str, honest_rewards: HonestRewards
) -> tuple[float | None, float]:
    """What a wrong response earns in a group with a right one, and how much more that earns."""
    texts = dict.fromkeys((group.right or wrong, *group.wrong))
    if group.right is None:
        [alone] = subject.rewards([maker.sample(group.task, wrong)])
        return alone, max(0.0, honest_rewards.high - alone) / MOST if alone is not None else 0.0
    right, other, *_ = (each.reward for each in subject.score_group([maker.sample(group.task, t) for t in texts]))
    if right is None or other is None or right <= other:
        return None, honest_rewards.spread
    return other, right - other
