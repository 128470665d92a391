"""Checks for every reward: `check_reward`, the deadline with texts that are expensive to parse, the order of right
and wrong.
"""

import re
from collections.abc import Iterator, Sequence

from plaudit.audit.attacks.patterns import redos_inputs
from plaudit.audit.candidates import VISIBLE
from plaudit.audit.findings import Attacker, AttackFinding, Level, Witness
from plaudit.audit.hits import OUTWEIGHS, OUTWEIGHS_REMEDY, Attempt, Hit, write_dict
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.rows.answer import Answer
from plaudit.audit.rows.edits import cover_range
from plaudit.audit.samples import SampleMaker, replace_response
from plaudit.audit.subject import BudgetSpent, Subject, is_overrun
from plaudit.audit.tasks import Kind
from plaudit.contract.function import RewardLike
from plaudit.report.coverage import wilson_interval
from plaudit.testing import Finding, Rule, Severity, check_reward
from plaudit.trajectory import Trajectory

_SKIPPED = {Rule.SCORED, Rule.VARIED, Rule.RANGE, Rule.CONTAINMENT, Rule.GROUND_TRUTH}
MOST_SAMPLES = 8
MOST_PUMPS = 16
ROUNDING = 1e-9
COSTLY = (
    "9^{9^{9^9}}",
    "9**9**9**9",
    "9**9**9",
    "9^9^9",
    "9^999999999",
    "999999999!",
    "(10^7)!",
    "(" * 400 + "1" + ")" * 400,
    "\\frac{" * 200,
    "1" + "+1" * 20_000,
    "a" * 30 + "!",
    "a" * 60 + "!",
    "<think>" * 3_000,
    " " * 20_000 + "x",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" * 200 + "\x00",
    "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x " * 8 + "!",
    "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,",
)


def check_contract(
    subject: Subject, reward: RewardLike | str, spec: str, samples: Sequence[Trajectory], deadline_s: float | None
) -> Iterator[AttackFinding]:
    """The errors of `check_reward` as findings."""
    findings = _check(reward, samples, deadline_s)
    if deadline_s is not None and any(finding.rule is Rule.DEADLINE for finding in findings):
        findings = _check(reward, samples, 3 * deadline_s)  # the machine may have been busy
    for finding in findings:
        if finding.severity is Severity.ERROR and finding.rule not in _SKIPPED:
            yield AttackFinding(
                family="invariants",
                operator=str(finding.rule),
                attacker=Attacker.INVARIANT,
                severity=Level.MEDIUM,
                component=subject.reward.name,
                rate=1.0,
                interval=wilson_interval(1.0, 1),
                prompts=1,
                cause=f"contract: {finding.rule}",
                witness=_witness(subject, finding, samples),
                message=finding.message,
                remedy=finding.remedy,
                test=_test(str(finding.rule), spec, samples),
            )


def _check(reward: RewardLike | str, samples: Sequence[Trajectory], deadline_s: float | None) -> list[Finding]:
    return check_reward(reward, list(samples[:MOST_SAMPLES]) or None, deadline_s=deadline_s)


def _witness(subject: Subject, finding: Finding, samples: Sequence[Trajectory]) -> Witness:
    """The response that broke the rule, and what it gives by itself where it does not run into the deadline."""
    sample = next((each for each in samples if each.response == finding.response), None)
    if sample is None and samples:
        sample = replace_response(samples[0], finding.response)
    if sample is None or finding.rule is Rule.DEADLINE:
        prompt = sample.prompt_text if sample else ""
        return Witness(prompt, finding.response, None, None, status="timeout" if sample else "error")
    try:
        [output] = subject.score([sample])
    except BudgetSpent:
        return Witness(sample.prompt_text, finding.response, None, None, sample.ground_truth, status="error")
    return Witness(
        sample.prompt_text,
        finding.response,
        output.reward,
        None,
        sample.ground_truth,
        output.status.value,
        columns={**sample.columns, **sample.metadata},
    )


def _test(rule: str, spec: str, samples: Sequence[Trajectory]) -> str:
    rows = ", ".join(write_dict(each.to_dict()) for each in samples[:MOST_SAMPLES])
    argument = f", [plaudit.Trajectory.from_dict(row) for row in [{rows}]]" if samples else ""
    name = re.sub(r"\W+", "_", rule)
    return (
        f"import plaudit\nimport plaudit.testing\n\n\ndef test_reward_is_{name}():\n"
        f"    findings = plaudit.testing.check_reward({spec!r}{argument})\n"
        f"    assert {rule!r} not in [finding.rule for finding in findings]\n"
    )


def check_denial_of_service(
    subject: Subject, maker: SampleMaker, honest_rewards: HonestRewards, answers: Sequence[Answer]
) -> Iterator[Attempt]:
    """Responses that may take a reward very long; tried only where it runs in a process that can be killed."""
    if not subject.isolated or not honest_rewards.tasks:
        return
    numbers = [each for each in honest_rewards.measured_tasks if each.task.kind is Kind.NUMBER]
    measured = next(iter((*numbers, *honest_rewards.measured_tasks)), None)
    task = measured.task if measured else honest_rewards.tasks[0]
    pumps = [pump for text in maker.vocabulary.texts for pump in redos_inputs(text)][:MOST_PUMPS]
    larger = [cover_range(answer.text, ["9" * 12]) for answer in answers[:1]]
    costly = (*COSTLY, *pumps, *larger)
    texts = [measured.form.present(text) if measured else text for text in costly] + list(costly if measured else ())
    samples = [maker.sample(task, text) for text in dict.fromkeys(texts)]
    for sample in samples:
        [output] = subject.score([sample])
        if is_overrun(output) and subject.confirm_overrun(sample) is not None:
            hit = Hit(task, sample, output, 0.0, None)
            remedy = "bound what a response can make it compute: cut long texts, no evaluation, no nested repeats"
            message = f"denial of service: one response takes longer than the deadline ({output.reason})"
            yield Attempt("denial of service", "costly response", Attacker.INVARIANT, remedy, (hit,), 1, False, message)
            return


def check_order(honest_rewards: HonestRewards, maker: SampleMaker) -> Iterator[Attempt]:
    """Report wrong answers that earn more than right ones, in every form, on truths that differ in nothing else."""
    if honest_rewards.measured_tasks or len(honest_rewards.inverted) < 2:
        return
    hits = [
        Hit(each.task, maker.sample(each.task, each.form.present(each.task.wrong)), each.wrong_output, each.wrong,
            each.right)
        for each in honest_rewards.inverted
    ]  # fmt: skip
    message = f"order: a wrong answer earns {hits[0].output.reward:g}, the right one {hits[0].honest_reward:g}"
    remedy = "a right answer must earn at least as much as a wrong one; look for a swapped comparison or sign"
    yield Attempt(
        "invariants", "order of right and wrong", Attacker.INVARIANT, remedy, tuple(hits), len(hits), False, message
    )


def check_gating(honest_rewards: HonestRewards, maker: SampleMaker) -> Iterator[Attempt]:
    """A wrong answer in one form that earns visibly more than a right one in another, or more for its form than being
    right is worth, or as much as any right one.
    """
    if not honest_rewards.every:
        return
    forms = (*honest_rewards.every, *honest_rewards.level)
    best = max(forms, key=lambda measured: measured.wrong)
    least = min(honest_rewards.every, key=lambda measured: measured.right)
    most, low = max(each.right for each in honest_rewards.every), min(each.wrong for each in forms)
    gain = max(each.gap for each in honest_rewards.every)
    outweighs = max(best.wrong - least.right, best.wrong - low - gain) > VISIBLE * (most - low)
    suffices = best in honest_rewards.level and best.wrong >= most - ROUNDING
    if best.task is not least.task or not (outweighs or suffices):
        return
    if best.wrong <= least.right:
        least = min(forms, key=lambda measured: measured.right)
    sample = maker.sample(best.task, best.form.present(best.task.wrong))
    hit = Hit(best.task, sample, best.wrong_output, best.wrong, least.right)
    message = (
        f"{OUTWEIGHS}: a wrong answer in the form {best.form.name!r} earns {best.wrong:g}, the right one "
        f"in the form {least.form.name!r} {least.right:g}"
    )
    yield Attempt("format", OUTWEIGHS, Attacker.ANSWER_FREE, OUTWEIGHS_REMEDY, (hit,), 1, False, message)
