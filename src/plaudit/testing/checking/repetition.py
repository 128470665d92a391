"""Rules that show only when the same samples are scored more than once: purity, repetition, order, independence.

One cause often breaks several of them, so they are tried in that order and only the first broken one is reported.
Rewards that declare `deterministic = False` are only asked to leave their inputs alone.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from plaudit.contract.boundary import Style
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory, ScoringFailed
from plaudit.testing.checking.findings import Finding, Rule, Severity
from plaudit.testing.checking.fresh_process import PATIENCE_S, score_in_fresh_process
from plaudit.testing.checking.observation import Observation, Scoring, announce_call, observe
from plaudit.testing.checking.probes import with_response
from plaudit.testing.checking.reward_state import capture_state, find_changes
from plaudit.trajectory import Trajectory

__all__ = ["check_repetition", "check_independence", "check_fresh_process", "check_purity", "check_order"]

TOLERANCE = 1e-5
"""Batched models add up in another order, in 24 bits; differences this small are arithmetic, not behaviour."""
FEW = 8


def check_purity(scorings: Sequence[Scoring]) -> Iterator[Finding]:
    """The reward wrote into a trajectory, or into the list it was given."""
    changed = [sample for scoring in scorings for sample in scoring.changed]
    if changed:
        yield Finding.of(Rule.PURE, f"it changed {len(changed)} of the samples it was given", changed[0].response)


def check_repetition(reward: RewardFunction, first: Scoring) -> Iterator[Finding]:
    """The same samples, after other samples have been scored in between."""
    samples = [observation.trajectory for observation in first.observations]
    second = observe(reward, samples)
    if difference := _difference(first.observations, second.outputs):
        rule, why = _cause(reward, samples)
        message = f"the same sample gave {difference.before}, later {difference.after}; {why}"
        yield Finding.of(rule, message, difference.response)


def check_fresh_process(spec: str, first: Scoring) -> Iterator[Finding]:
    """The same samples in a new process, where the reward is loaded anew."""
    samples = [observation.trajectory for observation in first.observations]
    announce_call(samples, extra_s=PATIENCE_S)
    try:
        outputs = score_in_fresh_process(spec, samples)
    except InvalidTrajectory:  # samples that are not plain data cannot be sent there
        return
    except ScoringFailed as error:
        yield Finding.of(Rule.DETERMINISTIC, str(error), samples[0].response, severity=Severity.WARNING)
        return
    if difference := _difference(first.observations, outputs):
        message = f"it gave {difference.before} here and {difference.after} in a fresh process"
        remedy = "look for hash(), the order of a set, random numbers, the clock, or files that changed"
        yield Finding.of(Rule.DETERMINISTIC, message, difference.response, remedy=remedy)


def check_order(reward: RewardFunction, first: Scoring, seed: int) -> Iterator[Finding]:
    """The same samples in another order."""
    shuffled = random.Random(seed).sample(first.observations, len(first.observations))
    outputs = observe(reward, [observation.trajectory for observation in shuffled]).outputs
    if difference := _difference(shuffled, outputs):
        message = f"a sample gave {difference.before}, and {difference.after} with the batch in another order"
        rule = Rule.STATELESS if reward.style is Style.SAMPLE else Rule.ORDER
        yield Finding.of(rule, message, difference.response)


def check_independence(reward: RewardFunction, first: Scoring) -> Iterator[Finding]:
    """Each sample, or each group for a group reward, without the others."""
    if reward.scope == "batch" or reward.style is Style.SAMPLE:
        return
    for unit in _units(reward, first.observations):
        outputs = observe(reward, [observation.trajectory for observation in unit]).outputs
        if difference := _difference(unit, outputs):
            company = "other groups" if reward.scope == "group" else "other samples"
            message = f"a sample gave {difference.before} beside {company} and {difference.after} without them"
            yield Finding.of(Rule.INDEPENDENT, message, difference.response)
            return


def outputs_agree(a: RewardOutput, b: RewardOutput) -> bool:
    """True when two outputs say the same, but for rounding; reasons and metadata may differ."""
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


def _difference(observations: Sequence[Observation], outputs: Sequence[RewardOutput]) -> _Difference | None:
    """The first sample that came out differently; failures are left out, being findings of their own."""
    for observation, output in zip(observations, outputs, strict=True):
        if observation.fault is None and not outputs_agree(observation.output, output):
            return _Difference(_describe(observation.output), _describe(output), observation.trajectory.response)
    return None


def _units(reward: RewardFunction, observations: Sequence[Observation]) -> Iterable[list[Observation]]:
    """What a reward may look at together: single samples, or whole groups."""
    if reward.scope == "sample":
        return ([observation] for observation in observations)
    groups: dict[str | int, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(observation.trajectory.group_key, []).append(observation)
    return groups.values()


def _cause(reward: RewardFunction, samples: Sequence[Trajectory]) -> tuple[Rule, str]:
    """Why repetition differs: memory of earlier samples, where it shows, else chance."""
    before = capture_state(reward)
    observe(reward, [with_response(sample, f"{sample.response} And more.") for sample in samples])
    if changed := find_changes(before, capture_state(reward)):
        return Rule.STATELESS, f"it remembers earlier samples in {', '.join(changed)}"
    batches = [samples] if reward.scope == "batch" else [[sample] for sample in samples[:FEW]]
    if all(_repeats_itself(reward, batch) for batch in batches):
        return Rule.STATELESS, "it repeats itself until another sample comes between"
    return Rule.DETERMINISTIC, "even twice in a row it does not repeat itself"


def _repeats_itself(reward: RewardFunction, batch: Sequence[Trajectory]) -> bool:
    _, second, third = (observe(reward, batch).outputs for _ in range(3))
    return all(outputs_agree(a, b) for a, b in zip(second, third, strict=True))


def _describe(output: RewardOutput) -> str:
    return f"{output.reward:.6g}" if output.reward is not None else f"no reward ({output.status})"
