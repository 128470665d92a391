"""Rules that show only when the same samples are scored more than once: purity, repetition, order, independence.

One cause often breaks several of them, so they are tried in that order and only the first broken one is reported.
Rewards that declare `deterministic = False` are checked for purity only.
"""

import math
import random
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from plaudit.contract.contents import rewards_within
from plaudit.contract.output import RewardOutput
from plaudit.contract.scoring import Style, calls_one_sample, scope_of, widest
from plaudit.errors import InvalidTrajectory, PlauditError
from plaudit.findings import Finding, Rule, Severity
from plaudit.normalize import Scope
from plaudit.testing.checking.probes import with_response
from plaudit.testing.checking.subjects import NOT_TRIED, Observation, Subject, find_changes
from plaudit.trajectory import Trajectory

TOLERANCE = 1e-5
"""Batched models add up in another order, in 24 bits; differences this small are arithmetic, not behaviour."""
FEW = 8
BATCHED = (Style.BATCH, Style.PAIRED)


def check_purity(observations: Sequence[Observation]) -> Iterator[Finding]:
    """The reward wrote into a trajectory, or into the list it was given."""
    changed = [observation.trajectory for observation in observations if observation.changed]
    if changed:
        yield Finding.of(Rule.PURE, f"it changed {len(changed)} of the samples it was given", changed[0].response)


def check_repetition(subject: Subject, first: Sequence[Observation]) -> Iterator[Finding]:
    """The same samples, after other samples have been scored in between."""
    samples = [observation.trajectory for observation in first]
    if difference := _difference(first, subject.observe(samples)):
        rule, why = _cause(subject, samples)
        message = f"the same sample gave {difference.before}, later {difference.after}; {why}"
        yield Finding.of(rule, message, difference.response)


def check_fresh_process(fresh: Subject, first: Sequence[Observation]) -> Iterator[Finding]:
    """The same samples in a new process, where the reward is loaded anew and the hash seed is another."""
    try:
        difference = _difference(first, fresh.observe([observation.trajectory for observation in first]))
    except InvalidTrajectory:  # samples that are not plain data cannot be sent there
        return
    except PlauditError as error:
        yield Finding.of(Rule.DETERMINISTIC, f"in a fresh process: {error}", "", severity=Severity.WARNING)
        return
    if difference:
        message = f"it gave {difference.before} here and {difference.after} in a fresh process"
        remedy = "look for hash(), the order of a set, random numbers, the clock, or files that changed"
        yield Finding.of(Rule.DETERMINISTIC, message, difference.response, remedy=remedy)


def check_order(subject: Subject, first: Sequence[Observation], seed: int) -> Iterator[Finding]:
    """The same samples in another order."""
    shuffled = random.Random(seed).sample(first, len(first))
    again = subject.observe([observation.trajectory for observation in shuffled])
    if difference := _difference(shuffled, again):
        message = f"a sample gave {difference.before}, and {difference.after} with the batch in another order"
        rule = Rule.STATELESS if calls_one_sample(subject.reward) else Rule.ORDER
        yield Finding.of(rule, message, difference.response)


def check_independence(subject: Subject, first: Sequence[Observation]) -> Iterator[Finding]:
    """Each sample alone, for functions written for batches that do not say that they compare samples.

    A batch is cut only for functions that declare `max_batch`. Those break the contract if their rewards depend on
    other samples; for others that is worth knowing.
    """
    reward = subject.reward
    if calls_one_sample(reward) or _declared_scope(reward) != "sample":
        return
    for observation in first:
        difference = _difference([observation], subject.observe([observation.trajectory]))
        if difference:
            names = ", ".join(dict.fromkeys(each.name for each in rewards_within(reward) if each.call_style in BATCHED))
            message = f"{names}: a sample gave {difference.before} beside others and {difference.after} alone"
            if scope_of(reward) == "sample":
                yield Finding.of(Rule.INDEPENDENT, f"{message}, and max_batch cuts batches", difference.response)
            else:
                remedy = (
                    "score whole batches, as training does; declare scope = 'batch' or 'group' to say that it compares"
                )
                yield Finding.of(Rule.INDEPENDENT, message, difference.response, severity=Severity.INFO, remedy=remedy)
            return


def _declared_scope(reward: Any) -> Scope:
    """The widest declared scope of a reward and its parts."""
    if reward.call_style is Style.COMPOUND:
        return widest([reward.merge_scope, *map(_declared_scope, reward.parts)])
    scope: Scope = "sample" if reward.call_style is Style.SAMPLE else reward.scope
    return scope


def outputs_agree(a: RewardOutput, b: RewardOutput) -> bool:
    """True when two outputs are equal, except for rounding; reasons and metadata may differ."""
    if a.status is not b.status or (a.token_rewards is None) != (b.token_rewards is None):
        return False
    pairs = [(a.reward, b.reward), (a.score, b.score), *zip_longest(a.token_rewards or (), b.token_rewards or ())]
    return all(
        x is y if x is None or y is None else math.isclose(x, y, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for x, y in pairs
    )


class _Difference(NamedTuple):
    before: str
    after: str
    response: str


def _difference(before: Sequence[Observation], after: Sequence[Observation]) -> _Difference | None:
    """The first sample with another output; samples that failed before are findings of their own."""
    for one, other in zip(before, after, strict=True):
        if one.fault is not None or NOT_TRIED in (one.output, other.output):
            continue
        if not outputs_agree(one.output, other.output):
            return _Difference(_describe(one), _describe(other), one.trajectory.response)
    return None


def _cause(subject: Subject, samples: Sequence[Trajectory]) -> tuple[Rule, str]:
    """The cause of a difference between repetitions: memory of earlier samples if it can be seen, else chance."""
    before = subject.capture_state()
    subject.observe([with_response(sample, f"{sample.response} And more.") for sample in samples])
    if changed := find_changes(before, subject.capture_state()):
        return Rule.STATELESS, f"it remembers earlier samples in {', '.join(changed)}"
    batches = [[sample] for sample in samples[:FEW]] if scope_of(subject.reward) == "sample" else [samples]
    if all(_repeats_itself(subject, batch) for batch in batches):
        return Rule.STATELESS, "it repeats itself until another sample comes between"
    return Rule.DETERMINISTIC, "even twice in a row it does not repeat itself"


def _repeats_itself(subject: Subject, batch: Sequence[Trajectory]) -> bool:
    _, second, third = (subject.observe(batch) for _ in range(3))
    return all(outputs_agree(a.output, b.output) for a, b in zip(second, third, strict=True))


def _describe(observation: Observation) -> str:
    output = observation.output
    if output.reward is not None:
        return f"{output.reward:.6g}"
    return f"no reward ({output.reason[:200] if observation.fault else output.status})"
