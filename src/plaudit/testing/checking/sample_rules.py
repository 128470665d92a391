"""Rules that single samples can break: failures to score, values out of range, responses without content that score.

One finding per cause, not per sample: it says how many samples it concerns and shows one of them.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import Status
from plaudit.findings import Finding, Rule, Severity
from plaudit.report.coverage import failure_kind
from plaudit.testing.checking.probes import CONTENTLESS, containing_samples, with_odd_truths
from plaudit.testing.checking.subjects import Observation, Subject
from plaudit.trajectory import Trajectory

ENOUGH = 8
MANY = 0.2
"""The share of ordinary samples above which None is a finding."""
ROUNDING = 1e-9
SUBSTITUTE_TRUTH = "4"
ODD_TRUTHS = "read numbers with plaudit.verify, or return RewardOutput.unscored(...) for truths that you do not have"


def check_every_sample_failing(observations: Sequence[Observation]) -> Iterator[Finding]:
    """A failure that does not depend on the text: a bug, or a column that the samples lack."""
    first = observations[0]
    if all(observation.fault is Rule.TOTAL for observation in observations):
        yield Finding.of(
            Rule.SCORED,
            f"it failed on every one of {len(observations)} samples: {first.output.reason}",
            first.trajectory.response,
            remedy="correct that, or give check_reward trajectories with the columns that the reward needs",
        )


def check_any_scored(ordinary: Sequence[Observation]) -> Iterator[Finding]:
    """Many of the ordinary samples got no reward, so that the check covers little."""
    count, without = len(ordinary), [observation for observation in ordinary if observation.returned_none]
    if len(without) > MANY * count:
        message = f"it returned None for {len(without)} of {count} samples, which leaves them without a score"
        remedy = "a branch may have forgotten to return its value, or the function swallows its own errors"
        response = without[0].trajectory.response
        yield Finding.of(Rule.SCORED, message, response, severity=Severity.WARNING, remedy=remedy)
    elif not any(observation.output.ok or observation.fault for observation in ordinary):
        first = ordinary[0]
        message = f"it scored none of {count} samples: {first.output.status} ({first.output.reason})"
        remedy = "give check_reward trajectories that the reward can score"
        yield Finding.of(Rule.SCORED, message, first.trajectory.response, severity=Severity.WARNING, remedy=remedy)


def check_odd_truths(subject: Subject, sample: Trajectory) -> Iterator[Finding]:
    """It fails on ground truths as data sets have them: numbers, fractions, thousands, units."""
    if subject.observe_one(sample).fault is not None:
        return
    probes = with_odd_truths(sample)
    failed = [one for one in probes if subject.observe_one(one).fault is Rule.TOTAL]
    if failed:
        truths = ", ".join(repr(one.ground_truth) for one in failed)
        message = f"it failed on {len(failed)} of {len(probes)} kinds of ground truth: {truths}"
        yield Finding.of(Rule.GROUND_TRUTH, message, sample.response, remedy=ODD_TRUTHS)


def check_containment(subject: Subject, samples: Sequence[Trajectory]) -> Iterator[Finding]:
    """A wrong answer earns as much as the right one because it contains the ground truth."""
    probe = containing_samples(samples)
    if probe is None:
        return
    probed = (probe.right, probe.wrong, *probe.holding)
    values, again = ([subject.observe_one(one).output.reward for one in probed] for _ in range(2))
    if values != again:  # values that differ between equal calls cannot be compared
        return
    right, wrong, *holding = values
    if right is None or wrong is None or right <= wrong:
        return
    for sample, value in zip(probe.holding, holding, strict=True):
        if value is not None and abs(value - right) <= ROUNDING:
            message = (
                f"a wrong answer that contains the ground truth {str(sample.ground_truth)!r} earns {value:g}, "
                f"as much as the right one; other wrong answers earn {wrong:g}"
            )
            yield Finding.of(Rule.CONTAINMENT, message, sample.response)
            return


def check_failures(subject: Subject, observations: Sequence[Observation]) -> Iterator[Finding]:
    """Samples that could not be scored, by cause."""
    causes: dict[tuple[Rule, str], list[Observation]] = {}
    for observation in observations:
        if observation.fault is not None:
            rule = Rule.GROUND_TRUTH if _lacks_truth(subject, observation, observations) else observation.fault
            causes.setdefault((rule, failure_kind(observation.output.reason)), []).append(observation)
    for (rule, _), concerned in causes.items():
        first = min(concerned, key=lambda observation: len(observation.trajectory.response))
        message = f"{_HOW[rule]} {len(concerned)} of {len(observations)} samples: {first.output.reason}"
        yield Finding.of(rule, message, first.trajectory.response)


_HOW = {
    Rule.TOTAL: "it failed on",
    Rule.DEADLINE: "it took too long for",
    Rule.FINITE: "it gave something that is not a finite number for",
    Rule.ARITY: "it did not give one value per sample for",
    Rule.GROUND_TRUTH: "without a ground truth it failed on",
}


def check_range(reward: RewardFunction, observations: Sequence[Observation]) -> Iterator[Finding]:
    """Values outside the declared bounds, or outside [0, 1] where none are declared."""
    low, high = reward.bounds or (0.0, 1.0)
    slack = ROUNDING * max(1.0, abs(low), abs(high))
    excess = [(max(low - value, value - high), value, response) for value, response in _values(observations)]
    outside = [entry for entry in excess if entry[0] > slack]
    if not outside:
        return
    _, value, response = max(outside)
    if reward.bounds is not None:
        yield Finding.of(Rule.BOUNDS, f"{value:g} lies outside the declared bounds [{low:g}, {high:g}]", response)
    else:
        yield Finding.of(Rule.RANGE, f"it declares no bounds, and {value:g} lies outside [0, 1]", response)


def check_garbage(ordinary: Sequence[Observation], difficult: Sequence[Observation]) -> Iterator[Finding]:
    """A response without content whose `score` beats every ordinary response.

    Only `score` is compared: a reward for brevity may give an empty response the most.
    """
    garbage = [(score, sample) for score, sample in _scores(difficult) if sample.response in CONTENTLESS]
    best = max((score for score, sample in _scores(ordinary) if sample.response not in CONTENTLESS), default=None)
    if not garbage or best is None:
        return
    score, sample = max(garbage, key=lambda entry: entry[0])
    if score > best and re.search(r"\w", str(sample.ground_truth)):
        message = f"a response without content scores {score:g}, the best ordinary one {best:g}"
        yield Finding.of(Rule.GARBAGE, message, sample.response)


def check_variation(observations: Sequence[Observation]) -> Iterator[Finding]:
    """Every one of many samples earned the same."""
    values = _values(observations)
    if len(values) >= ENOUGH and len({value for value, _ in values}) == 1:
        yield Finding.of(Rule.VARIED, f"all {len(values)} samples earned {values[0][0]:g}", values[0][1])


def _values(observations: Sequence[Observation]) -> list[tuple[float, str]]:
    return [(o.output.reward, o.trajectory.response) for o in observations if o.output.reward is not None]


def _scores(observations: Sequence[Observation]) -> list[tuple[float, Trajectory]]:
    return [(o.output.score, o.trajectory) for o in observations if o.output.score is not None]


def _lacks_truth(subject: Subject, failed: Observation, observations: Sequence[Observation]) -> bool:
    """Whether the sample has no ground truth, and would not fail if it had one."""
    if failed.fault is not Rule.TOTAL or failed.trajectory.ground_truth is not None:
        return False
    truths = [o.trajectory.ground_truth for o in observations if o.trajectory.ground_truth is not None]
    helped = msgspec.structs.replace(failed.trajectory, ground_truth=[*truths, SUBSTITUTE_TRUTH][0])
    return subject.observe_one(helped).output.status is not Status.ERROR
