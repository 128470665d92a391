"""Attacks on rewards of groups: a group of copies of one response, which is what a policy that collapsed samples.

Copies must earn the same, must be scored, and a wrong answer must not earn by being repeated, nor by being different.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from plaudit.audit.attacks.operator import MOST, SOME
from plaudit.audit.candidates import differs
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.rows.edits import NO_ANSWER
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Task
from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

COPIES = 4
DIFFERENT = "different wrong answers pay more than right ones"
EQUAL = "give equal responses equal rewards: share ranks among ties, and return 0 where a group has no spread"
AGREEMENT = "pay for what is right, not for agreement: a group of equal wrong answers must earn nothing"
Copies: TypeAlias = tuple[str, str, float, float | None, str]
"""A name, a remedy, the reward from which copies are paid, what one of them earns otherwise, and the message."""


@dataclass(frozen=True, slots=True)
class Group:
    """A prompt with a right response and wrong ones; without a right one where none is known."""

    task: Task
    right: str | None
    wrong: tuple[str, ...]


def find_groups(honest_rewards: HonestRewards, paid: Sequence[Task]) -> list[Group]:
    """A group of a row that is paid and of one of each measured task; else one without a known answer."""
    groups = []
    for task in paid[:1]:
        others = dict.fromkeys(other.right for other in paid[1:COPIES] if other.right != task.right)
        groups.append(Group(task, task.right, (*others, task.wrong)))
    for each in honest_rewards.measured_tasks[:1]:
        shown = [each.form.present(text) for text in (each.task.right, each.task.wrong, *each.task.others)]
        groups.append(Group(each.task, shown[0], tuple(shown[1:])))
    return groups or [Group(task, None, (NO_ANSWER,)) for task in honest_rewards.tasks[:1]]


def attack_groups(
    subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, paid: Sequence[Task]
) -> Iterator[Attempt]:
    """Groups of copies of a wrong answer, beside mixed groups; groups of different wrong answers, beside right ones."""
    for group in find_groups(honest_rewards, paid):
        samples = [maker.sample(group.task, text) for text in group.wrong]
        outputs = subject.score_group(samples[:1] * COPIES)
        found = _judge_copies(subject, maker, group, samples, outputs, honest_rewards)
        if found is not None:
            name, remedy, threshold, other, message = found
            output = next((each for each in outputs if each.reward is None), outputs[0])
            hit = Hit(group.task, samples[0], output, threshold, other, copies=COPIES)
            yield Attempt("groups", name, Attacker.ANSWER_FREE, remedy, (hit,), 1, False, message)
            return
    for task in honest_rewards.tasks[:1]:
        yield from _compare_groups(subject, maker, task)


def _judge_copies(
    subject: Subject,
    maker: SampleMaker,
    group: Group,
    samples: Sequence[Trajectory],
    outputs: Sequence[RewardOutput],
    honest_rewards: HonestRewards,
) -> Copies | None:
    values = [output.reward for output in outputs if output.reward is not None]
    if len(values) < COPIES:
        reason = next(output.reason for output in outputs if output.reward is None)
        message = f"a group of {COPIES} equal responses is not scored: {reason}"
        return "copies are not scored", EQUAL, 0.0, None, message
    if differs(max(values), min(values), honest_rewards.spread):
        earned = ", ".join(f"{value:g}" for value in values)
        message = f"{COPIES} equal responses of one group earn {earned}"
        return "copies earn different rewards", EQUAL, min(values), None, message
    for limit, other, beside in _limits(subject, maker, group, samples, honest_rewards.high):
        if values[0] >= limit and differs(values[0], other, honest_rewards.spread):
            what = "equal wrong answers" if group.right else f"times {NO_ANSWER!r}"
            message = f"a group of {COPIES} {what} earns {values[0]:g} each; one such answer {beside} {other:g}"
            return "copies of one answer pay", AGREEMENT, limit, other, message
    return None


def _limits(
    subject: Subject, maker: SampleMaker, group: Group, samples: Sequence[Trajectory], high: float
) -> Iterator[tuple[float, float, str]]:
    """The rewards from which copies are paid, what the response earns without copies, and beside which responses."""
    if group.right is None:
        [alone] = subject.rewards([samples[0]])
        if alone is not None:
            yield high, alone, "among others"
        return
    right, wrong, *_ = (each.reward for each in subject.score_group([maker.sample(group.task, group.right), *samples]))
    if right is None or wrong is None or right <= wrong:
        return
    yield wrong + MOST * (right - wrong), wrong, "beside the right one"
    apart = subject.score_group(samples)[0].reward if len(samples) > 1 else None
    if apart is not None:
        yield apart + SOME * (right - wrong), apart, "among other wrong ones"


def _compare_groups(subject: Subject, maker: SampleMaker, task: Task) -> Iterator[Attempt]:
    """A group of different wrong answers beside a group that repeats the right one."""
    different = [maker.sample(task, wrong) for wrong in dict.fromkeys((task.wrong, *task.others))]
    outputs = subject.score_group(different)
    rewards = [each.reward for each in outputs if each.reward is not None]
    right = subject.score_group([maker.sample(task, task.right)] * len(different))[0].reward
    if right is not None and len(rewards) == len(different) > 1 and differs(min(rewards), right, 0.0):
        message = f"{len(different)} different wrong answers earn {min(rewards):g} each, as many right ones {right:g}"
        hit = Hit(task, different[0], outputs[0], min(rewards), right)
        yield Attempt("groups", DIFFERENT, Attacker.ANSWER_FREE, AGREEMENT, (hit,), 1, False, message)
