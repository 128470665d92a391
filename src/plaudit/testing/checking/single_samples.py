"""Rules that single samples can break: failures to score, values out of range, garbage taken for right.

One finding per cause, not per sample: it says how many samples it concerns and shows the first.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import Status
from plaudit.testing.checking.findings import Finding, Rule, Severity
from plaudit.testing.checking.observation import Observation, observe
from plaudit.testing.checking.probes import CONTENTLESS
from plaudit.trajectory import Trajectory

__all__ = [
    "check_any_scored", "check_every_sample_failing", "check_failures", "check_garbage", "check_range",
    "check_variation",
]  # fmt: skip

ENOUGH = 8
ROUNDING = 1e-9
SUBSTITUTE_TRUTH = "4"


def check_every_sample_failing(observations: Sequence[Observation]) -> Iterator[Finding]:
    """A failure that has nothing to do with the text: a bug, or a column that the samples lack."""
    first = observations[0]
    if all(observation.fault is Rule.TOTAL for observation in observations):
        yield Finding.of(
            Rule.SCORED,
            f"it failed on every one of {len(observations)} samples: {first.output.reason}",
            first.trajectory.response,
            remedy="mend that, or give check_reward trajectories with the columns that the reward needs",
        )


def check_any_scored(ordinary: Sequence[Observation]) -> Iterator[Finding]:
    """Little is proved about a reward that scored none of the ordinary samples."""
    if any(observation.output.ok or observation.fault for observation in ordinary):
        return
    first, count = ordinary[0], len(ordinary)
    if all(observation.returned_none for observation in ordinary):
        message = f"it returned None for every one of {count} samples"
        remedy = "the function may have forgotten to return its value, or swallow its own errors"
    else:
        message = f"it scored none of {count} samples: {first.output.status} ({first.output.reason})"
        remedy = "give check_reward trajectories that the reward can score"
    yield Finding.of(Rule.SCORED, message, first.trajectory.response, severity=Severity.WARNING, remedy=remedy)


def check_failures(reward: RewardFunction, observations: Sequence[Observation]) -> Iterator[Finding]:
    """Samples that could not be scored, by cause."""
    causes: dict[tuple[Rule, str], list[Observation]] = {}
    for observation in observations:
        if observation.fault is not None:
            rule = Rule.GROUND_TRUTH if _lacks_truth(reward, observation, observations) else observation.fault
            causes.setdefault((rule, _kind(observation.output.reason)), []).append(observation)
    for (rule, _), concerned in causes.items():
        first = min(concerned, key=lambda observation: len(observation.trajectory.response))
        message = f"{_HOW[rule]} {len(concerned)} of {len(observations)} samples: {first.output.reason}"
        yield Finding.of(rule, message, first.trajectory.response)


_HOW = {
    Rule.TOTAL: "it failed on",
    Rule.FINITE: "it gave something that is not a finite number for",
    Rule.ARITY: "it did not give one value per sample for",
    Rule.GROUND_TRUTH: "it failed for want of a ground truth on",
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


def check_garbage(ordinary: Sequence[Observation], nasty: Sequence[Observation]) -> Iterator[Finding]:
    """A response without content whose `score` beats every ordinary response.

    Only `score` is compared: a reward for brevity may well like an empty response best.
    """
    garbage = [(score, sample) for score, sample in _scores(nasty) if sample.response in CONTENTLESS]
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


def _lacks_truth(reward: RewardFunction, failed: Observation, observations: Sequence[Observation]) -> bool:
    """True when the sample has no ground truth and would be scored, or left unscored in good order, if it had one."""
    if failed.fault is not Rule.TOTAL or failed.trajectory.ground_truth is not None:
        return False
    truths = [o.trajectory.ground_truth for o in observations if o.trajectory.ground_truth is not None]
    helped = msgspec.structs.replace(failed.trajectory, ground_truth=[*truths, SUBSTITUTE_TRUTH][0])
    return observe(reward, [helped]).outputs[0].status is not Status.ERROR


def _kind(reason: str) -> str:
    """What failures of one cause have in common: the exception and its place, else the reason without its data."""
    raised = re.search(r"raised (\w+)", reason)
    place = re.search(r"\(at [^()]+:\d+\)$", reason)
    if raised and place:
        return f"{raised[1]} {place[0]}"
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "", reason)
